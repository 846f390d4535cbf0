package testcode

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"path"
	"strings"
)

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
		if !ok || fn.Recv != nil || fn.Body == nil || !lex().GoTest.Match(fn.Name.Name) || IsGoTestMain(fn) {
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
		t.Asserts = len(lex().GoAsserts.FindAll(body))
		t.Hollow = t.Asserts == 0 && !lex().Checks.Match(body) || lex().GoEmptyTable.Match(body)
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
