// Package testcode answers which tests a source file declares, and whether they can run and check anything.
//
// [Read] reads one file, [Compare] two versions of a project's test files. Go is parsed. Python, JavaScript,
// TypeScript, Rust, Java, Kotlin and C# are read by the shape of their lines: a test that a program makes is not found.
// A test file in another language counts as one test.
package testcode

import (
	"bytes"
	"cmp"
	_ "embed"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"hash/fnv"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

//go:embed patterns.txt
var patternsText string

var lex = lazy.Load(patternsText)

// Test is one test that a file declares.
type Test struct {
	File     string
	Name     string // with its class or module where that has a name: "AccountTest.test_withdraw"
	Disabled string // why it does not run, in words: "skipped", "marked as an expected failure"; empty: it runs
	Asserts  int    // how many checks its body has, roughly
	Body     uint64 // a hash of its body; 0 for a group of tests
	Panics   bool   // it passes when it fails: Rust's should_panic
	Swallows bool   // it catches failures and forgets them
	Hollow   bool   // nothing in it checks anything
	Rows     bool   // a runner may count it as several tests
}

// What happened to a test, worst first.
const (
	Removed  = "removed"
	Disabled = "disabled" // it is there, and does not run
	Emptied  = "emptied"  // it is there, and checks less than half of what it did
	Edited   = "edited"   // its body changed
	Moved    = "moved"    // it is in another file
)

// Finding is a test that existed before and does not run, or not as before. It may also be a new test.
type Finding struct {
	File   string `json:"file"`
	Name   string `json:"name"`
	Change string `json:"change,omitempty"` // removed, disabled, emptied, edited, moved, unreached; empty: it is new
	Why    string `json:"why,omitempty"`    // of a disabled or unreached one
	Now    string `json:"now,omitempty"`    // of a removed one: a new test that it may have become; of a moved one: its file
	Rows   bool   `json:"rows,omitempty"`   // a runner may count it as several tests
	Hollow bool   `json:"hollow,omitempty"` // of a new one: nothing in it checks anything
}

// Change is two versions of a test file. One that is not there is empty.
type Change struct{ Path, Old, Now string }

// Comparison is how the tests of two versions of a project differ.
type Comparison struct {
	Findings  []Finding // what happened to the tests that were there, in their order
	Moved     []Finding // tests that are in another file: a runner may not look there
	New       []Finding // tests that run and were not there before
	Overrides []Finding // new lines that change how tests check, such as another assert; Name is the line
}

// Compare compares the tests of two versions. A test that moved to another file, or has another name and the same
// body, is not a finding. In a file whose name is not that of a test file no test runs. Only files that differ need
// to be given.
func Compare(changes []Change) (c Comparison) {
	var now, old []Test
	for _, f := range changes {
		old = append(old, Read(f.Path, f.Old)...)
		if collected(f.Path) || f.Old != "" {
			now = append(now, Read(f.Path, f.Now)...)
		}
		c.Findings = append(c.Findings, changedHelpers(f)...)
		c.Overrides = append(c.Overrides, overrides(f)...)
	}
	used := make([]bool, len(now))
	take := func(fits func(Test) bool) *Test {
		for i := range now {
			if !used[i] && fits(now[i]) {
				used[i] = true
				return &now[i]
			}
		}
		return nil
	}
	partner := make([]*Test, len(old))
	fits := []func(o, n Test) bool{
		func(o, n Test) bool { return o.File == n.File && o.Name == n.Name },
		func(o, n Test) bool { return o.Name == n.Name },
		func(o, n Test) bool { return o.Body == n.Body && o.Body != 0 },
		func(o, n Test) bool { return o.File == n.File && last(o.Name) == last(n.Name) },
	}
	for _, same := range fits {
		for i, o := range old {
			if partner[i] == nil {
				partner[i] = take(func(n Test) bool { return same(o, n) })
			}
		}
	}
	for i, n := range now {
		if !used[i] && n.Disabled == "" && n.Body != 0 {
			c.New = append(c.New, Finding{File: n.File, Name: n.Name, Rows: n.Rows, Hollow: n.Hollow})
		}
	}
	for i, o := range old {
		if o.Disabled != "" {
			continue // it did not run before
		}
		f := Finding{File: o.File, Name: o.Name}
		switch n := partner[i]; {
		case n == nil:
			f.Change = Removed
			fits := func(n Test) bool { return n.File == o.File && n.Disabled == "" && n.Asserts >= o.Asserts }
			if became := take(fits); became != nil {
				f.Now = became.Name
			}
		case n.Disabled != "":
			f.Change, f.Why = Disabled, n.Disabled
		case n.Panics && !o.Panics:
			f.Change, f.Why = Disabled, expectedFailure
		case isEmptied(o, *n):
			f.Change = Emptied
		case o.Body != n.Body:
			f.Change, f.Rows = Edited, n.Rows
		case o.File != n.File:
			f.Change, f.Now = Moved, n.File
			c.Moved = append(c.Moved, f)
			continue
		default:
			continue
		}
		c.Findings = append(c.Findings, f)
	}
	rank := []string{Removed, Disabled, Emptied, Edited}
	slices.SortStableFunc(c.Findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(rank, a.Change), slices.Index(rank, b.Change))
	})
	return c
}

// isEmptied reports whether a test checks less than half of what it did, or forgets failures now.
func isEmptied(old, now Test) bool {
	return old.Asserts > 0 && now.Asserts*2 < old.Asserts || now.Swallows && !old.Swallows
}

// support returns the part of a file that belongs to its tests.
func support(name, text string) string {
	inside := strings.Index(text, "#[cfg(test)]")
	switch {
	case len(text) > maxText || readerOf(name) == nil:
		return ""
	case IsTest(name):
		return text
	case path.Ext(name) == ".rs" && inside >= 0:
		return text[inside:]
	}
	return ""
}

// changedHelpers returns the functions beside the tests of a file that check something and changed.
func changedHelpers(f Change) (list []Finding) {
	helpers := func(whole string) map[string]Test {
		text, found := support(f.Path, whole), map[string]Test{}
		places := lex("Helper").FindAllIndex(text)
		for i, m := range lex("Helper").FindAll(text) {
			name := m[2] + m[3] + m[4]
			_, body, _ := strings.Cut(block(text[places[i][0]:]), name)
			found[name] = newTest(name, "", "", body)
		}
		for _, t := range Read(f.Path, whole) {
			delete(found, last(t.Name))
		}
		return found
	}
	after := helpers(f.Now)
	for name, o := range helpers(f.Old) {
		n, ok := after[name]
		finding := Finding{File: f.Path, Name: name, Change: Edited}
		if isEmptied(o, n) {
			finding.Change = Emptied
		}
		if ok && o.Asserts > 0 && n.Body != o.Body {
			list = append(list, finding)
		}
	}
	return list
}

// overrides returns the new lines of a test file that change how tests check.
func overrides(f Change) (list []Finding) {
	known := map[string]bool{}
	for line := range strings.Lines(support(f.Path, f.Old)) {
		known[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(support(f.Path, f.Now)) {
		bare := strings.TrimSpace(line)
		if !known[bare] && lex("Override").Match(line) && !lex("Import").Match(line) {
			list = append(list, Finding{File: f.Path, Name: bare})
		}
	}
	return list
}

// KnowsTests returns the first new line of a program that behaves differently under test, or "".
func KnowsTests(old, now string) string {
	for line := range strings.Lines(now) {
		if lex("KnowsTests").Match(line) && !strings.Contains(old, strings.TrimSpace(line)) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// Modules returns the modules of other files that a Rust file declares: without it their tests do not run.
func Modules(text string) (list []string) {
	for _, m := range lex("RustMod").FindAll(text) {
		list = append(list, m[1])
	}
	return list
}

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// Read returns the tests of a file, in order. A test file in a language that the package does not know is one test with
// the name of the file.
func Read(name, text string) (list []Test) {
	read := readerOf(name)
	switch {
	case len(text) == 0:
	case read != nil && len(text) <= maxText:
		list = read(name, text)
	case read == nil && IsTest(name):
		list = []Test{{Name: path.Base(name), Asserts: strings.Count(bare(text), "\n"), Body: digest(text)}}
	}
	for i := range list {
		list[i].File = name
	}
	return list
}

const maxText = 4 << 20

// readerOf returns what reads the tests of a file, by the language; nil if nothing does.
func readerOf(name string) func(name, text string) []Test {
	switch extension(name) {
	case ".go":
		return goTests
	case ".py", ".rs", ".java", ".kt", ".cs":
		return lineTests
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return scriptTests
	}
	return nil
}

// bare returns a text without its white space, empty lines and comments of whole lines.
func bare(text string) string { return code(text, true, false) }

func digest(body string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(bare(body)))
	return h.Sum64()
}

// Code returns a program without comments of whole lines, Python's documentation strings, and white space.
func Code(name, text string) string {
	python := extension(name) == ".py"
	if python {
		text = lex("DocString").Replace(text, "")
	}
	return code(text, lex("Hashed").Has(extension(name)), python)
}

// code removes comments and white space. In some languages "#" begins a comment, and in some an indentation counts.
func code(text string, hash, indented bool) string {
	var b strings.Builder
	for full := range strings.Lines(text) {
		line := strings.Join(strings.Fields(full), " ")
		switch {
		case line == "" || line == "*" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "* "),
			strings.HasPrefix(line, "/*") || strings.HasPrefix(line, "*/"),
			hash && strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#["):
			continue
		case indented:
			b.WriteString(full[:len(full)-len(strings.TrimLeft(full, " \t"))])
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// IsTest reports whether a file, by its path in slashes, holds tests or what they compare with.
func IsTest(name string) bool {
	base := path.Base(name)
	return lex("TestName").Match(base) || lex("TestClass").Match(base) || !IsProse(name) && lex("InTests").Match(name)
}

// collected reports whether runners look for tests in a file of that name.
func collected(name string) bool {
	base := path.Base(name)
	if path.Ext(name) == ".py" {
		return strings.HasPrefix(base, "test") || strings.HasSuffix(base, "_test.py")
	}
	return MayHoldTests(name) && !lex("GoIgnored").Match(name)
}

// MayHoldTests reports whether a file can declare tests although its name does not say so, as Rust's sources do.
func MayHoldTests(name string) bool {
	return path.Ext(name) == ".rs" || path.Ext(name) == ".py" || IsTest(name)
}

// IsCode reports whether a file holds a program, by its name.
func IsCode(name string) bool { return lex("Programs").Has(extension(name)) }

// IsProse reports whether a file is a document, by its name.
func IsProse(name string) bool { return lex("Prose").Has(extension(name)) }

func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// HasWord reports whether a text has a word as a whole, both in lower case. A name with underscores is
// a word.
func HasWord(text, word string) bool {
	isPart := func(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' }
	for from := 0; word != ""; from++ {
		next := strings.Index(text[from:], word)
		if next < 0 {
			return false
		}
		from += next
		to := from + len(word)
		if (from == 0 || !isPart(text[from-1])) && (to == len(text) || !isPart(text[to])) {
			return true
		}
	}
	return true
}

// What keeps a test from counting.
const (
	skipped         = "skipped"
	expectedFailure = "marked as an expected failure"
)

// newTest returns a test by the text before its body, such as a table of cases, and by its body.
func newTest(name, disabled, before, body string) Test {
	t := Test{Name: name, Disabled: disabled, Asserts: len(lex("Asserts").FindAll(body)), Body: digest(before + body)}
	t.Swallows = lex("Swallow").Match(body)
	t.Rows = lex("Rows").Match(before + body)
	t.Hollow = t.Asserts == 0 && !lex("Checks").Match(body)
	return t
}

// firstSkips reports whether the first statement of a body ends the test. The first line holds its declaration.
func firstSkips(body string) bool {
	_, inside, _ := strings.Cut(body, "\n")
	return lex("First").Match(bare(lex("DocString").Replace(inside, "")))
}

// lineTests reads tests by the shape of lines: Python's functions whose names begin with "test", and the functions that
// an attribute or an annotation makes tests, as in Rust, Java, Kotlin and C#.
func lineTests(name, text string) []Test {
	type group struct { // a class or a module
		indent   int
		name     string
		runs     bool
		disabled string
	}
	python, whole := path.Ext(name) == ".py", ""
	if python && lex("PythonWhole").Match(text) {
		whole = "skipped with its whole file"
	}
	var list []Test
	var groups []group
	var attributes []string // of what follows
	open, offset := 0, 0    // open counts brackets
	for line := range strings.Lines(text) {
		at, indent, bare := offset, len(line)-len(strings.TrimLeft(line, " \t")), strings.TrimSpace(line)
		offset += len(line)
		if python && (open > 0 || strings.HasPrefix(bare, "@")) {
			attributes = append(attributes, bare)
			open += strings.Count(line, "(") - strings.Count(line, ")")
			continue
		}
		for m := lex("Attribute").Find(bare); m != nil && !python; m = lex("Attribute").Find(bare) {
			attributes = append(attributes, m[1])
			bare = bare[len(m[0]):]
		}
		if bare == "" || strings.HasPrefix(bare, "//") || python && strings.HasPrefix(bare, "#") {
			continue
		}
		before := strings.Join(attributes, "\n")
		disabled, isTest, panics := readAttributes(before)
		attributes = nil
		class, fn := lex("Class").Find(bare), lex("AttributedFunction").Find(bare)
		if python {
			class, fn = lex("PythonClass").Find(bare), lex("PythonDef").Find(bare)
		}
		if class == nil && fn == nil {
			continue
		}
		groups = slices.DeleteFunc(groups, func(g group) bool { return g.indent >= indent })
		around := group{runs: !python || indent == 0}
		if len(groups) > 0 {
			around = groups[len(groups)-1]
		}
		disabled = cmp.Or(disabled, around.disabled, whole)
		switch {
		case class != nil:
			bases := strings.TrimSpace(class[2])
			runs := !python || strings.HasPrefix(class[1], "Test") || bases != "" && bases != "object"
			groups = append(groups, group{indent, class[1], runs, disabled})
		case around.runs && (isTest || python):
			all, name := block(text[at:]), fn[1]
			if disabled == "" && firstSkips(all) {
				disabled = skipped
			}
			_, body, _ := strings.Cut(all, name)
			if python {
				_, body, _ = strings.Cut(all, "\n")
				name = strings.TrimPrefix(around.name+"."+name, ".")
			}
			t := newTest(name, disabled, before, body)
			t.Panics = panics
			list = append(list, t)
		}
	}
	for i, t := range list {
		if python && slices.ContainsFunc(list[i+1:], func(o Test) bool { return o.Name == t.Name }) {
			list[i].Disabled = cmp.Or(t.Disabled, "replaced by a later test of the same name")
		}
	}
	return list
}

// readAttributes says what the lines of decorators, attributes or annotations make of what follows them.
func readAttributes(lines string) (disabled string, isTest, panics bool) {
	off := lex("PythonOff").Find(lines)
	switch conditional := func(m []string) bool { return strings.TrimSpace(m[1]) != "test" }; {
	case slices.ContainsFunc(lex("RustCfg").FindAll(lines), conditional):
		disabled = "left out by a condition (cfg)"
	case off != nil && strings.HasPrefix(off[1], "skip"):
		disabled = skipped
	case off != nil:
		disabled = expectedFailure
	case lex("AttributeOff").Match(lines):
		disabled = "ignored"
	}
	return disabled, lex("AttributeTest").Match(lines), lex("AttributePanics").Match(lines)
}

// block returns the first line of a text and the lines below it that are indented further.
func block(text string) string {
	indent, end := -1, 0
	for line := range strings.Lines(text) {
		n := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case indent < 0:
			indent = n
		case strings.TrimSpace(line) != "" && n <= indent && !strings.HasPrefix(strings.TrimSpace(line), ")"):
			return text[:end]
		}
		end += len(line)
	}
	return text[:end]
}

// scriptTests reads calls such as it('…', …). Groups count as tests: a group that is skipped is a finding.
func scriptTests(_, text string) []Test {
	var list []Test
	var chosen []int // the tests that alone run
	places := append(lex("ScriptTest").FindAllIndex(text), []int{len(text)})
	for i, m := range lex("ScriptTest").FindAll(text) {
		marked, kind, mods, rows := m[1], m[2], m[3], m[4]
		body := ""
		for _, at := range []int{places[i][4], places[i][1]} { // its body is below the line of the call or of the name
			from := strings.LastIndexByte(text[:at], '\n') + 1
			if all := block(text[from:places[i+1][0]]); body == "" && len(all) > places[i][1]-from {
				body = all[places[i][1]-from:]
			}
		}
		t := newTest(m[5]+m[6]+m[7], "", rows, body)
		switch {
		case marked == "x" || strings.Contains(mods, ".skip"):
			t.Disabled = skipped
		case strings.Contains(mods, ".todo"), strings.Contains(mods, ".fails"), strings.Contains(mods, ".failing"):
			t.Disabled = expectedFailure
		case lex("ScriptOption").Match(body), firstSkips(body):
			t.Disabled = skipped
		case marked == "f" || strings.Contains(mods, ".only"):
			chosen = append(chosen, i)
		}
		if kind == "describe" || kind == "suite" || kind == "context" {
			t = Test{Name: t.Name, Disabled: t.Disabled} // its tests count for themselves
		}
		t.Rows = t.Rows || rows != "" || strings.Contains(t.Name, "${")
		list = append(list, t)
	}
	for i := range list {
		if len(chosen) > 0 && !slices.Contains(chosen, i) && list[i].Disabled == "" && list[i].Body != 0 {
			list[i].Disabled = "left out, because another test is marked as the only one"
		}
	}
	return list
}

// goTests reads a Go test file. Examples count: go test runs those that say what they print.
func goTests(name, text string) []Test {
	if !strings.HasSuffix(name, "_test.go") {
		return nil
	}
	set := token.NewFileSet()
	f, _ := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if f == nil {
		return nil
	}
	disabled := ""
	if !goBuilds(name, text) {
		disabled = "left out by a build constraint"
	}
	var list []Test
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Body == nil || !lex("GoTest").Match(fn.Name.Name) || IsGoTestMain(fn) {
			continue
		}
		example := strings.HasPrefix(fn.Name.Name, "Example")
		if !example && fn.Type.Params.NumFields() != 1 {
			continue
		}
		var block bytes.Buffer
		_ = format.Node(&block, set, fn.Body)
		body := strings.TrimSuffix(strings.TrimPrefix(block.String(), "{"), "}")
		t := newTest(fn.Name.Name, disabled, "", body)
		if t.Disabled == "" && firstSkips("\n"+body) {
			t.Disabled = skipped
		}
		t.Asserts = len(lex("GoAsserts").FindAll(body))
		t.Hollow = t.Asserts == 0 && !lex("Checks").Match(body) || lex("GoEmptyTable").Match(body)
		if example || strings.HasPrefix(fn.Name.Name, "Fuzz") {
			t.Asserts, t.Hollow = max(1, t.Asserts), false
		}
		list = append(list, t)
	}
	return list
}

// IsGoTestMain reports whether a function is the TestMain of a package.
func IsGoTestMain(fn *ast.FuncDecl) bool {
	return fn.Recv == nil && fn.Name.Name == "TestMain" && fn.Type.Params.NumFields() == 1 &&
		strings.HasSuffix(types.ExprString(fn.Type.Params.List[0].Type), "M")
}

// goBuilds reports whether the name and the constraints of a Go file let it be built here without tags.
func goBuilds(name, text string) bool {
	ctx := build.Default
	ctx.BuildTags = nil
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	ok, err := ctx.MatchFile("", path.Base(name))
	return ok || err != nil
}
