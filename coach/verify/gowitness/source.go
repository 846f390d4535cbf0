package gowitness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

const (
	listTimeout = 2 * time.Minute
	listBatch   = 200      // packages that go list is asked for at once
	maxList     = 32 << 20 // bytes of its answer
	maxSource   = 8 << 20  // bytes of a test file
)

// source is what the test files of a package declare.
type source struct {
	meant map[string]bool // tests and fuzz tests in the files that are built: each is meant to run
	known map[string]bool // those, examples, and what is in files that are not built here: whatever may be reported
	main  string          // the file with a TestMain, or ""
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir                           string
	TestGoFiles, XTestGoFiles, IgnoredGoFiles []string
}

// sources reads the test files of packages. It asks go which they are, and reads them itself.
func (r *runner) sources(ctx context.Context, packages []string) (map[string]source, error) {
	found := make(map[string]source, len(packages))
	if i := slices.Index(packages, "command-line-arguments"); i >= 0 {
		packages = slices.Delete(slices.Clone(packages), i, i+1)
		s, err := readSources(r.folder(), r.command.files, nil)
		if err != nil {
			return nil, err
		}
		found["command-line-arguments"] = s
	}
	for batch := range slices.Chunk(packages, listBatch) {
		out := limited{max: maxList}
		res, err := cmdwitness.Run(ctx, cmdwitness.Command{
			Args: r.command.list(batch), Dir: r.cfg.Dir, Env: r.environ(), Timeout: listTimeout, Stdout: &out,
		})
		switch {
		case err != nil:
			return nil, err
		case res.Exit != 0:
			return nil, errors.New("go list failed")
		case out.text.Len() > maxList:
			return nil, errors.New("the answer of go list is too large")
		}
		for dec := json.NewDecoder(&out.text); ; {
			var l listed
			if err := dec.Decode(&l); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, errors.New("the answer of go list is not JSON")
			}
			s, err := readSources(l.Dir, slices.Concat(l.TestGoFiles, l.XTestGoFiles), l.IgnoredGoFiles)
			if err != nil {
				return nil, err
			}
			found[l.ImportPath] = s
		}
	}
	return found, nil
}

// limited stops keeping what is written once there is more than max. The buffer is not embedded: io.Copy would fill it by
// its ReadFrom, past the limit.
type limited struct {
	text bytes.Buffer
	max  int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len() <= l.max {
		l.text.Write(p)
	}
	return len(p), nil
}

// readSources reads the test files of a package, those that are built and those that are not.
func readSources(dir string, built, ignored []string) (source, error) {
	s := source{meant: make(map[string]bool), known: make(map[string]bool)}
	for i, name := range slices.Concat(built, ignored) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, name)
		}
		text, err := readFile(full)
		if err != nil {
			return s, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil && i < len(built) {
			return s, fmt.Errorf("%s cannot be parsed", filepath.Base(name))
		}
		if f == nil {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			switch n := fn.Name.Name; {
			case n == "TestMain" && isMain(fn):
				if i < len(built) {
					s.main = name
				}
			case is("Test", n), is("Fuzz", n):
				s.known[n] = true
				if i < len(built) {
					s.meant[n] = true
				}
			case is("Example", n), is("Benchmark", n):
				s.known[n] = true
			}
		}
	}
	return s, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if err == nil && len(text) > maxSource {
		err = fmt.Errorf("%s is larger than %d MiB", filepath.Base(name), maxSource>>20)
	}
	return text, err
}

// is reports whether a function's name makes it what prefix says: a lower-case letter must not follow.
func is(prefix, name string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLower(r)
}

// isMain reports whether a function that is called TestMain is one, rather than a test of that name.
func isMain(fn *ast.FuncDecl) bool {
	if fn.Type.Params == nil || len(fn.Type.Params.List) != 1 {
		return false
	}
	star, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch x := star.X.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name == "M"
	case *ast.Ident:
		return x.Name == "M"
	}
	return false
}
