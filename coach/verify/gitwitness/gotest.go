package gitwitness

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// takesOver reports whether a Go test file decides, before any test runs, which tests run and what is said of them: it has a TestMain,
// or what runs at the start of the program (init, the values of variables) ends it or sets its arguments, its flags or its output. The
// functions of the file that are called from there count. A file that is too large to be read as a whole does so too.
func takesOver(text []byte) bool {
	if len(text) >= maxSource {
		return true
	}
	if len(text) == 0 {
		return false
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if f == nil || err != nil && f.Name == nil {
		return goTestMain.Match(text)
	}
	functions := make(map[string]*ast.FuncDecl)
	var start []ast.Node
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case d.Recv != nil:
			case d.Name.Name == "TestMain":
				return true
			case d.Name.Name == "init":
				start = append(start, d)
			default:
				functions[d.Name.Name] = d
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				start = append(start, d)
			}
		}
	}
	for i := 0; i < len(start); i++ { // it grows
		seizes := false
		ast.Inspect(start[i], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				seizes = seizes || ends(n)
				if id, ok := n.Fun.(*ast.Ident); ok && functions[id.Name] != nil {
					start = append(start, functions[id.Name])
					delete(functions, id.Name)
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					seizes = seizes || selects(to, "os", "Args") || selects(to, "os", "Stdout")
				}
			}
			return !seizes
		})
		if seizes {
			return true
		}
	}
	return false
}

// ends reports whether a call ends the program or sets a flag of the tests.
func ends(c *ast.CallExpr) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if selects(s, "os", "Exit") || selects(s, "syscall", "Exit") || selects(s, "unix", "Exit") {
		return true
	}
	if s.Sel.Name != "Set" || len(c.Args) != 2 {
		return false
	}
	name, ok := c.Args[0].(*ast.BasicLit)
	return ok && strings.HasPrefix(strings.Trim(name.Value, "\"`"), "test.")
}

func selects(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}
