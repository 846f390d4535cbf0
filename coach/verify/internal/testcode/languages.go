package testcode

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"path"
	"slices"
	"strings"
)

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
