package verify

import (
	"fmt"
	"slices"
)

// left checks that nothing of a text is left in the tree or in a part of it.
func (a *audit) left(c Claim) finding {
	i := slices.IndexFunc(a.facts.Words, func(w WordFact) bool { return w.Word == c.Name })
	if i < 0 {
		return finding{} // nobody looked
	}
	lines := func(list []WordLine) (files []string, n int) {
		for _, l := range list {
			if c.Path != "" && !within(l.File, c.Path) || c.Part && l.Defines {
				continue
			}
			if n++; !slices.Contains(files, l.File) {
				files = append(files, l.File)
			}
		}
		return files, n
	}
	files, now := lines(a.facts.Words[i].Now)
	_, before := lines(a.facts.Words[i].Before)
	found := firstThree(files) + " still has it"
	switch {
	case now == 0, now < before && !c.Sure:
		return holds
	case now < before && c.Path == "":
		return unchecked("%s", found)
	}
	return contradicted(shouldFix, namePresent, c.Name, found, "remove it there, or correct the report")
}

// still checks that a file or a name in code was kept.
func (a *audit) still(c Claim) finding {
	const fix = "put it back, or correct the report"
	f := a.fileFact(c.Path)
	n, ok := a.nameFact(c.Name)
	switch {
	case f != nil && f.State == Missing && f.Known:
		return contradicted(shouldFix, fileMissing, f.Clean, "there is no such file", fix)
	case ok && a.facts.Compared == Met && n.Was && (n.Uses == 0 || n.DefinedBefore > 0 && n.Defined == 0):
		return contradicted(shouldFix, nameMissing, c.Name, "it is gone", fix)
	case ok && a.facts.Compared == Met && n.Uses == 0:
		return unchecked("nothing has that name")
	}
	return finding{}
}

// fewerFiles checks that at least so many files were changed.
func (a *audit) fewerFiles(c Claim) finding {
	if n := len(a.paths); n < value(c.Total) {
		return contradicted(shouldFix, moreChanged, "", fmt.Sprintf("%d files differ from the baseline", n),
			"correct the number")
	}
	return holds
}

// stub is the finding about a claim of work that does nothing yet.
func (a *audit) stub(c Claim) finding {
	return contradicted(shouldFix, nameMissing, c.Name, "its body is a stub", "implement it, or say that it is a stub")
}

// inFile checks that a file has so many tests. Tests with rows may be counted in another way.
func (a *audit) inFile(c Claim) finding {
	f := a.fileFact(c.Path)
	switch {
	case f == nil || f.Tests == nil || *f.Tests >= value(c.Total):
		return finding{}
	case f.Rows:
		return unchecked("the file declares %d tests, some of them with rows", *f.Tests)
	}
	return contradicted(shouldFix, testCount, c.Path, fmt.Sprintf("the file declares %d tests", *f.Tests),
		"correct the number")
}

// mode checks that a file may be executed.
func (a *audit) mode(c Claim) finding {
	switch f := a.fileFact(c.Path); {
	case f == nil || f.State != Exists:
		return unchecked("the file was not seen")
	case f.Executable == NotMet:
		return contradicted(shouldFix, fileUnchanged, f.Clean, "it cannot be executed",
			"make it executable, or correct the report")
	case f.Executable != Met:
		return unchecked("whether it can be executed is not known")
	}
	return holds
}
