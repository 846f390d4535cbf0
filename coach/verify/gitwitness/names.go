package gitwitness

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

const maxNames = 50 // names that are looked for

// lines returns the lines of programs that have a word, by their files, and whether anything has it. Prose and comments
// do not count as programs.
func (l *look) lines(tree, word string, options ...string) (programs map[string]string, found bool) {
	args := slices.Concat([]string{"grep", "-z", "-I", "-F"}, options, []string{"-e", word, tree})
	out, _, err := l.mine.limited(maxSource, "", args...)
	if !exited(err, 1) {
		check(err)
	}
	programs = map[string]string{}
	for line := range strings.Lines(string(out)) {
		file, line, _ := strings.Cut(strings.TrimPrefix(line, tree+":"), "\x00")
		if text := testcode.Code(file, line); text != "" && !testcode.IsProse(file) {
			programs[file] += text
		}
	}
	return programs, len(out) > 0
}

// defines counts the declarations of a name in a text.
func defines(text, name string) (n int) {
	for _, m := range lex().Definition.FindAll(text) {
		if m[1] == name {
			n++
		}
	}
	return n
}

func stem(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }

// namedTests looks for tests by their names: a declaration, or the name in a file of tests whose language is not known.
func (l *look) namedTests() {
	for _, name := range l.q.Tests {
		word := name
		if strings.HasPrefix(word, "Test") {
			word, _, _ = strings.Cut(word, "/") // of a subtest, its function
		}
		l.facts.Named = append(l.facts.Named, verify.NamedTest{Name: name, Now: l.declared(l.tree, l.paths, word),
			Before: l.declared(l.base.tree, l.old, word)})
	}
}

// declared reports whether a tree declares a test. It is unknown whether something else of that name is one.
func (l *look) declared(tree string, paths []string, word string) verify.Status {
	if slices.ContainsFunc(paths, func(p string) bool { return testcode.IsTest(p) && stem(p) == word }) {
		return verify.Met
	}
	found := verify.NotMet
	programs, _ := l.lines(tree, word)
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(programs)), func(f string) bool { return path.Ext(f) == ".txt" })
	for _, file := range files[:min(len(files), maxNames)] {
		text := l.mine.blob(tree + ":" + file)
		for _, t := range testcode.Read(file, text) {
			if t.Name == word || strings.HasSuffix(t.Name, "."+word) || t.Name == path.Base(file) {
				return verify.Met
			}
		}
		if defines(text, word) > 0 {
			found = verify.Unverified
		}
	}
	return found
}

// names looks for names in the code of the tree and of the baseline.
func (l *look) names() {
	for _, name := range l.q.Names[:min(len(l.q.Names), maxNames)] {
		now, found := l.lines(l.tree, name, "-w")
		before, _ := l.lines(l.base.tree, name, "-w")
		fact := verify.NameFact{Name: name, Was: len(before) > 0 || len(now) == 0 && found, Stub: l.isStub(now, name)}
		for file, text := range now {
			fact.Uses += strings.Count(text, "\n")
			fact.Defined += defines(text, name)
			fact.Files = append(fact.Files, file)
		}
		for _, text := range before {
			fact.DefinedBefore += defines(text, name)
		}
		slices.Sort(fact.Files)
		fact.Files = fact.Files[:min(len(fact.Files), maxFindings)]
		part := func(p string) bool {
			return slices.ContainsFunc(strings.Split(p, "/"), func(s string) bool { return s == name || stem(s) == name })
		}
		if fact.Uses == 0 && slices.ContainsFunc(l.paths, part) {
			fact.Uses = 1 // it is a file or a folder
		}
		l.facts.Names = append(l.facts.Names, fact)
	}
}

// isStub reports whether all declarations of a name in some programs have a body that does nothing yet.
func (l *look) isStub(files map[string]string, name string) bool {
	const parameters = `\((?:[^()]|\([^()]*\))*\)`
	name = regexp.QuoteMeta(name)
	inPython := regexp.MustCompile(`(?m)^()\s*(?:async )?def ` + name + parameters + `(?: ?->[^:\n]+)?:\s*(.*)$`)
	braced := regexp.MustCompile(`(?m)^([^{\n]*)\b` + name + `\b\s*(?:[=:]\s*(?:async\s*)?(?:function\s*)?)?` +
		`(?:<[^>]*>|\[[^\]]*\])?` + parameters + `[^;{}\n]*\n?\{\s*(.*)$`)
	stubs := 0
	for file := range files {
		if !testcode.IsCode(file) || testcode.IsTest(file) {
			continue
		}
		declares, stub := braced, lex().Stub
		if path.Ext(file) == ".py" {
			declares, stub = inPython, lex().PythonStub
		}
		text := testcode.Code(file, l.mine.blob(l.tree+":"+file))
		for _, m := range declares.FindAllStringSubmatch(text, -1) {
			switch {
			case lex().Control.Match(m[1]):
			case stub.Match(strings.TrimRight(m[2], "; }")):
				stubs++
			default:
				return false
			}
		}
	}
	return stubs > 0
}
