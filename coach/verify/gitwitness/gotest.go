package gitwitness

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// takesOver reports whether a Go file decides, before any test runs, which tests run and what is said of them: it has a TestMain,
// or what runs at the start of the program (init, the values of variables) ends it or sets its arguments, its flags or its output. The
// functions of the file that are called from there count. A file that is too large to be read as a whole does so too.
//
// In a file that is no test file a function without a name counts only where it is called, since commands are often made of such
// functions in init, and an end with a status that is not 0 does not: that fails the tests.
func takesOver(text []byte, test bool) bool {
	if len(text) >= maxSource {
		return test
	}
	if !test && !bytes.Contains(text, []byte("Exit")) && !bytes.Contains(text, []byte("os.")) {
		return false
	}
	if len(text) == 0 {
		return false
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if f == nil || err != nil && f.Name == nil {
		return test && goTestMain().Match(text)
	}
	functions := make(map[string]*ast.FuncDecl)
	called := make(map[*ast.FuncLit]bool)
	var start []ast.Node
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case d.Recv != nil:
			case d.Name.Name == "TestMain" && test:
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
			case *ast.FuncLit:
				return test || called[n]
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.FuncLit); ok {
					called[f] = true
				}
				seizes = seizes || ends(n, test)
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
func ends(c *ast.CallExpr, test bool) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if selects(s, "os", "Exit") || selects(s, "syscall", "Exit") || selects(s, "unix", "Exit") {
		if len(c.Args) != 1 || test {
			return true
		}
		status, ok := c.Args[0].(*ast.BasicLit)
		return !ok || status.Value == "0"
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
