package gitwitness

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

var (
	definition = lazy.New(`\b(?:func|fn|def|function|class|type|const|let|var|val|static|struct|enum|interface|trait|` +
		`record|object|macro_rules!)\s+(?:mut\s+)?(?:\([^)]*\)\s*)?(\w+)`)
	mark    = lazy.New(`^(?:TODO|FIXME|XXX|HACK)$`)
	edge    = lazy.New(`^\w.*\w$`)
	toDebug = lazy.New(`^(?:console|print|dbg|puts|debugger|fmt\.Print|log\.Print|System\.out)`)
	// In a text, these may stand for each other.
	separators = lazy.New(`[-_ ]`)
)

const (
	maxNames = 50  // names that are looked for
	maxWords = 20  // words
	maxTold  = 200 // texts, and lines that are told of one
	maxLine  = 300 // characters of each
)

// lines returns the lines of programs that have a word, by their files. Prose and comments do not count.
func (l *look) lines(tree, word string, options ...string) map[string]string {
	found := map[string]string{}
	for file, line := range l.grep(tree, word, append(options, "-F")...) {
		if text := testcode.Code(file, line+"\n"); text != "" && !isProse(file) {
			found[file] += text
		}
	}
	return found
}

func isProse(file string) bool {
	return slices.Contains([]string{".md", ".rst", ".adoc"}, path.Ext(file))
}

func defines(text, name string) (n int) {
	for _, m := range definition.FindAll(text) {
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
			Before: l.declared(l.from, l.old, word)})
	}
}

// declared reports whether a tree declares a test. It is unknown whether something else of that name is one.
func (l *look) declared(tree string, paths []string, word string) verify.Status {
	if slices.ContainsFunc(paths, func(p string) bool { return testcode.IsTest(p) && stem(p) == word }) {
		return verify.Met
	}
	found := verify.NotMet
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(l.lines(tree, word))),
		func(f string) bool { return path.Ext(f) == ".txt" })
	for _, file := range files[:min(len(files), maxNames)] {
		text, _ := l.mine.blob(tree + ":" + file)
		for _, t := range testcode.Read(file, text) {
			if t.Name == word || strings.HasSuffix(t.Name, "."+word) || t.Name == path.Base(file) {
				return verify.Met
			}
		}
		if defines(string(text), word) > 0 {
			found = verify.Unverified
		}
	}
	return found
}

// names looks for names in the code of the tree and of the baseline.
func (l *look) names() {
	for _, name := range l.q.Names[:min(len(l.q.Names), maxNames)] {
		now, before := l.lines(l.tree, name, "-w"), l.lines(l.from, name, "-w")
		fact := verify.NameFact{Name: name, Was: len(before) > 0, Stub: l.isStub(now, name)}
		fact.Touched = l.changed[name] != nil // it may be a submodule
		for file, text := range now {
			fact.Uses += strings.Count(text, "\n")
			fact.Defined += defines(text, name)
			fact.Touched = fact.Touched || l.differs(file)
			fact.Files = append(fact.Files, file)
		}
		for file, text := range before {
			fact.DefinedBefore += defines(text, name)
			fact.Touched = fact.Touched || l.differs(file)
		}
		slices.Sort(fact.Files)
		fact.Files = fact.Files[:min(len(fact.Files), maxFindings)]
		if fact.Uses == 0 && !fact.Was { // it may be a word of prose or of a comment
			for range l.grep(l.tree, name, "-w", "-F") {
				fact.Was = true
			}
		}
		part := func(p string) bool {
			return slices.ContainsFunc(strings.Split(p, "/"), func(s string) bool { return s == name || stem(s) == name })
		}
		if fact.Uses == 0 && slices.ContainsFunc(l.paths, part) {
			fact.Uses = 1 // it is a file or a folder
		}
		l.facts.Names = append(l.facts.Names, fact)
	}
}

// differs reports whether a file changed in more than its comments.
func (l *look) differs(file string) bool {
	d := l.changed[file]
	return d != nil && (d.Kind != verify.Modified || !l.onlyComments(d))
}

// words looks for texts that the report says to be gone.
func (l *look) words() {
	for _, word := range l.q.Words[:min(len(l.q.Words), maxWords)] {
		l.facts.Words = append(l.facts.Words,
			verify.WordFact{Word: word, Now: l.occurrences(l.tree, word), Before: l.occurrences(l.from, word)})
	}
}

// occurrences returns the lines of a tree that have a text. Prose does not count. Comments count for marks such as TODO
// alone, and tests do not for debugging.
func (l *look) occurrences(tree, word string) (list []verify.WordLine) {
	options := []string{"-F"}
	if edge.Match(word) && !mark.Match(word) {
		options = append(options, "-w")
	}
	for file, line := range l.grep(tree, word, options...) {
		if isProse(file) || toDebug.Match(word) && testcode.IsTest(file) {
			continue
		}
		if mark.Match(word) || testcode.Code(file, line+"\n") != "" {
			list = append(list, verify.WordLine{File: file, Defines: defines(line, word) > 0})
		}
	}
	return list
}

// texts looks for texts in all files of the tree.
func (l *look) texts() {
	if len(l.q.Texts) == 0 {
		return
	}
	fresh := l.fresh()
	for _, text := range l.q.Texts[:min(len(l.q.Texts), maxTold)] {
		pattern := separators.Replace(regexp.QuoteMeta(text), "[-_ ]?")
		word, err := regexp.Compile(`(?i)(?:^|[^A-Za-z0-9])` + pattern + `(?:$|[^A-Za-z0-9])`)
		if err != nil {
			continue
		}
		var first, claimed, rest []verify.TextLine
		for file, line := range l.grep(l.tree, pattern, "-i", "-E") {
			if !word.MatchString(line) {
				continue
			}
			one := verify.TextLine{File: file, Line: plaintext.Line(line, maxLine), New: fresh[file][line]}
			switch {
			case one.New:
				first = append(first, one)
			case slices.ContainsFunc(l.q.Paths, func(p string) bool { return path.Base(p) == path.Base(file) }):
				claimed = append(claimed, one)
			default:
				rest = append(rest, one)
			}
		}
		all := slices.Concat(first[:min(len(first), maxTold/2)], claimed, rest)
		l.facts.Texts = append(l.facts.Texts, verify.TextFact{Text: text, Lines: all[:min(len(all), maxTold)]})
	}
}

// fresh returns the lines of the changed files that the baseline does not have there.
func (l *look) fresh() map[string]map[string]bool {
	lines := map[string]map[string]bool{}
	for _, d := range l.list[:min(len(l.list), maxTexts)] {
		now := string(l.read[d.now])
		if d.Kind == verify.Removed || strings.Contains(now, "\x00") {
			continue
		}
		set := map[string]bool{}
		for line := range strings.Lines(now) {
			set[strings.TrimRight(line, "\r\n")] = true
		}
		for line := range strings.Lines(string(l.read[d.old])) {
			delete(set, strings.TrimRight(line, "\r\n"))
		}
		lines[d.Path] = set
	}
	return lines
}

// Has reports whether the baseline of a query has a word in one of its programs, such as the name of a test.
func (w *Witness) Has(ctx context.Context, baseline, word string) (has bool, err error) {
	defer catch(&err)
	v := w.view(must(open(ctx, w.Dir)))
	b := must(w.base(v, baseline))
	if b == nil {
		return false, nil
	}
	for file := range v.grep(b.tree, word, "-F") {
		has = has || !isProse(file) && path.Ext(file) != ".txt"
	}
	return has, nil
}
