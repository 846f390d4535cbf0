package testcode

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// goTests reads a Go test file. Examples count: go test runs those that say what they print.
func goTests(name, text string) []Test {
	if !strings.HasSuffix(name, "_test.go") {
		return nil
	}
	disabled := ""
	if !goBuilds(name, []byte(text)) {
		disabled = "left out by a build constraint"
	}
	set := token.NewFileSet()
	f, _ := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if f == nil {
		return nil
	}
	var list []Test
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Body == nil || !isGoTest(fn) && !named("Example", fn.Name.Name) {
			continue
		}
		var body bytes.Buffer
		_ = format.Node(&body, set, fn.Body)
		t := newTest(fn.Name.Name, disabled, "", body.String())
		param := ""
		if l := fn.Type.Params.List; len(l) == 1 && len(l[0].Names) == 1 {
			param = l[0].Names[0].Name
		}
		if t.Disabled == "" && skipsFirst(fn.Body, param) {
			t.Disabled = "skipped"
		}
		t.Asserts = goAsserts(fn.Body)
		t.Hollow = t.Asserts == 0 && !lex.Checks.Match(body.String()) || emptyTable(fn.Body)
		if named("Example", t.Name) || named("Fuzz", t.Name) {
			t.Asserts, t.Hollow = max(1, t.Asserts), false
		}
		list = append(list, t)
	}
	return list
}

// isGoTest reports whether go test runs a function as a test or a fuzz test.
func isGoTest(fn *ast.FuncDecl) bool {
	if fn.Recv != nil || !named("Test", fn.Name.Name) && !named("Fuzz", fn.Name.Name) {
		return false
	}
	p := fn.Type.Params
	return p != nil && len(p.List) == 1 && len(p.List[0].Names) <= 1 && !(fn.Name.Name == "TestMain" && IsGoTestMain(fn))
}

// IsGoTestMain reports whether a function is the TestMain of a package.
func IsGoTestMain(fn *ast.FuncDecl) bool {
	if fn.Recv != nil || fn.Name.Name != "TestMain" || fn.Type.Params == nil || len(fn.Type.Params.List) != 1 {
		return false
	}
	star, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "M"
}

// named reports whether a function's name makes it what prefix says: a lower-case letter must not follow.
func named(prefix, name string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	r, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLower(r))
}

// goBuilds reports whether the name and the constraints of a Go file let it be built here without tags.
func goBuilds(name string, text []byte) bool {
	ctx := build.Default
	ctx.BuildTags = nil
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	ok, err := ctx.MatchFile("", path.Base(name))
	return ok || err != nil
}

// skipsFirst reports whether a body skips or returns before anything else happens.
func skipsFirst(body *ast.BlockStmt, param string) bool {
	for _, s := range body.List {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.IfStmt:
			cond, ok := s.Cond.(*ast.Ident)
			return ok && cond.Name == "false"
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok {
				return false
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return false
			}
			on, _ := sel.X.(*ast.Ident)
			if on == nil || on.Name != param {
				return false
			}
			if strings.HasPrefix(sel.Sel.Name, "Skip") {
				return true
			}
		default:
			return false
		}
	}
	return false
}

// goAsserts counts calls that can fail a test: t.Error and its like, and calls that get the t of a test.
func goAsserts(body *ast.BlockStmt) int {
	n := 0
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			for _, prefix := range []string{"Error", "Fatal", "Fail", "Equal", "Require", "Assert", "Check"} {
				if strings.HasPrefix(sel.Sel.Name, prefix) {
					n++
					return true
				}
			}
			if on, ok := sel.X.(*ast.Ident); ok && (on.Name == "require" || on.Name == "assert") {
				n++
				return true
			}
		}
		if len(call.Args) > 0 {
			if arg, ok := call.Args[0].(*ast.Ident); ok && (arg.Name == "t" || arg.Name == "tb") {
				n++
			}
		}
		return true
	})
	return n
}

// emptyTable reports whether a body checks the rows of a table without rows.
func emptyTable(body *ast.BlockStmt) bool {
	empty := false
	ast.Inspect(body, func(node ast.Node) bool {
		if r, ok := node.(*ast.RangeStmt); ok {
			table, ok := r.X.(*ast.CompositeLit)
			empty = empty || ok && len(table.Elts) == 0
		}
		return true
	})
	return empty
}
