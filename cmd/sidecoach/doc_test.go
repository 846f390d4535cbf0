package main

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every name in brackets in a package's documentation exists.
func TestDocumentationNamesWhatExists(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	name := regexp.MustCompile(`\[\*?(?:[a-z]\w*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?\]`)
	for _, p := range list(t, "./...") {
		if strings.HasPrefix(p.ImportPath, module+"/examples/") {
			continue
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, f)
		}
		pkg, err := doc.NewFromFiles(fset, files, p.ImportPath)
		require.NoError(t, err)
		texts := []string{pkg.Doc}
		for _, f := range pkg.Funcs {
			texts = append(texts, f.Doc)
		}
		for _, v := range append(pkg.Consts, pkg.Vars...) {
			texts = append(texts, v.Doc)
		}
		for _, typ := range pkg.Types {
			texts = append(texts, typ.Doc)
			for _, f := range append(typ.Funcs, typ.Methods...) {
				texts = append(texts, f.Doc)
			}
			for _, v := range append(typ.Consts, typ.Vars...) {
				texts = append(texts, v.Doc)
			}
		}
		for _, text := range texts {
			for _, block := range pkg.Parser().Parse(text).Content {
				paragraph, ok := block.(*comment.Paragraph)
				if !ok {
					continue
				}
				for _, part := range paragraph.Text {
					if plain, ok := part.(comment.Plain); ok { // a name that was found is a DocLink
						for _, missing := range name.FindAllString(string(plain), -1) {
							t.Errorf("%s: the documentation names %s, which does not exist", p.ImportPath, missing)
						}
					}
				}
			}
		}
	}
}
