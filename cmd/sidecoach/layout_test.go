package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/sidecoach/sidecoach"

// room is what one package may use beside the standard library.
type room struct {
	ours   []string // packages of this module; "*" is any
	theirs []string // modules of others
	pure   bool     // no goroutine, clock, randomness, environment, network, or file but through an fs.FS
}

// rooms is the whole module: a new package, and a new dependency, is declared here.
var rooms = map[string]room{
	"classify/plaintext":    {pure: true}, // every room may import it
	"classify":              {pure: true},
	"classify/internal/fit": {ours: []string{"classify", "classify/evaluate"}}, // a program: it measures what it fits
	"classify/llm":          {ours: []string{"classify"}, theirs: []string{"github.com/sashabaranov/go-openai"}},
	"classify/evaluate":     {ours: []string{"classify"}},
	"classify/classifytest": {ours: []string{"classify", "classify/evaluate", "classify/llm"}, theirs: forTests},

	"skills":       {pure: true},
	"plancriteria": {pure: true, theirs: []string{"github.com/yuin/goldmark"}},

	"coach":        {pure: true, ours: []string{"classify", "skills", "plancriteria"}},
	"coach/verify": {pure: true, ours: []string{"coach", "plancriteria"}},
	"coach/verify/cmdwitness": {ours: append([]string{"coach/verify"}, verifyInternals...),
		theirs: []string{"golang.org/x/sys/windows", "mvdan.cc/sh/v3"}},
	"coach/verify/gitwitness": {ours: append([]string{"coach/verify", "coach/verify/cmdwitness"}, verifyInternals...)},
	"coach/verify/llmjudge":   {ours: append([]string{"coach/verify", "classify/llm"}, verifyInternals...)},
	"coach/verify/verifier": {ours: append([]string{"autocontinue", "autocontinue/filestore", "classify", "coach/verify",
		"coach/verify/cmdwitness", "coach/verify/gitwitness", "plancriteria"}, verifyInternals...)},

	"autocontinue":                 {ours: []string{"classify", "coach", "skills", "plancriteria"}},
	"autocontinue/storetest":       {ours: []string{"autocontinue"}, theirs: forTests},
	"autocontinue/filestore":       {ours: []string{"autocontinue"}, theirs: []string{"github.com/gofrs/flock"}},
	"autocontinue/hook":            {ours: []string{"autocontinue", "autocontinue/hook/transcript", "classify"}},
	"autocontinue/project":         {ours: []string{"autocontinue/filestore", "coach/verify/verifier", "skills"}},
	"autocontinue/hook/install":    {ours: []string{"autocontinue/hook"}, theirs: []string{"github.com/tailscale/hujson"}},
	"autocontinue/hook/transcript": {ours: []string{"autocontinue", "classify"}, theirs: []string{"mvdan.cc/sh/v3"}},
	"autocontinue/gate":            {pure: true, theirs: []string{"mvdan.cc/sh/v3"}},
	"autocontinue/gate/console": {ours: []string{"autocontinue/filestore", "autocontinue/gate"},
		theirs: []string{"github.com/coder/websocket"}},

	"cmd/sidecoach": {
		ours: anything,
		theirs: []string{
			"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/mattn/go-runewidth",
			"golang.org/x/term",
		},
	},
	"examples": {ours: anything},
}

var (
	anything = []string{"*"}
	forTests = []string{"github.com/stretchr/testify", "github.com/google/go-cmp"}
)

// lookup returns what is declared for a package, given without the module's path. An example is any package below
// examples. A package below internal has the rules of the room it serves, and may import that room.
func lookup(pkg string) (room, bool) {
	if strings.HasPrefix(pkg, "examples/") {
		return rooms["examples"], true
	}
	if r, ok := rooms[pkg]; ok {
		return r, true
	}
	owner := ownerOf(pkg)
	r, ok := rooms[owner]
	if owner != pkg {
		r.ours = append(slices.Clone(r.ours), owner)
	}
	return r, ok
}

// verifyInternals are shared by the rooms of coach/verify.
var verifyInternals = []string{"coach/verify/internal/lazy", "coach/verify/internal/project",
	"coach/verify/internal/testcode", "coach/verify/internal/testoutput"}

// ownerOf returns the room that a package belongs to: itself, but for one below internal.
func ownerOf(pkg string) string {
	owner, _, _ := strings.Cut(pkg, "/internal/")
	return owner
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir           string
	Imports, Deps, GoFiles    []string
	TestImports, XTestImports []string
}

// complaints returns what is wrong with a package's place.
func complaints(p listed) []string {
	name := strings.TrimPrefix(p.ImportPath, module+"/")
	r, ok := lookup(name)
	if !ok {
		return []string{name + " is no room that the table declares"}
	}
	var bad []string
	for _, path := range p.Imports {
		if ours, ok := strings.CutPrefix(path, module+"/"); ok {
			if ours != "classify/plaintext" && !slices.Contains(r.ours, "*") && !slices.Contains(r.ours, ours) &&
				(ownerOf(ours) == ours || ownerOf(ours) != ownerOf(name)) {
				bad = append(bad, name+" may not import "+ours)
			}
		} else if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			if !slices.ContainsFunc(r.theirs, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }) {
				bad = append(bad, name+" may not import "+path)
			}
		}
	}
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		if ours, ok := strings.CutPrefix(path, module+"/"); ok && strings.HasPrefix(ours, "cmd/") {
			bad = append(bad, "the tests of "+name+" may not import "+ours)
		}
	}
	for _, path := range p.Deps {
		if name == "classify" && strings.Contains(path, ".") && !strings.HasPrefix(path, "vendor/") &&
			path != module+"/classify/plaintext" {
			bad = append(bad, "classify links "+path+", which is not the standard library")
		}
		if name == "classify/evaluate" && path == "testing" {
			bad = append(bad, "classify/evaluate links testing")
		}
	}
	return bad
}

func TestRoomsImportWhatTheTableAllows(t *testing.T) {
	for _, p := range list(t, "./...") {
		for _, c := range complaints(p) {
			t.Error(c)
		}
	}
}

func TestForbiddenImportsAreFound(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    listed
		want string
	}{
		{"a room above", listed{ImportPath: module + "/coach", Imports: []string{module + "/autocontinue"}},
			"coach may not import autocontinue"},
		{"another's library", listed{ImportPath: module + "/skills", Imports: []string{"github.com/yuin/goldmark/ast"}},
			"skills may not import github.com/yuin/goldmark/ast"},
		{"by another road", listed{ImportPath: module + "/classify", Deps: []string{"golang.org/x/text/unicode/norm"}},
			"classify links golang.org/x/text/unicode/norm, which is not the standard library"},
		{"the command", listed{ImportPath: module + "/skills", TestImports: []string{module + "/cmd/sidecoach"}},
			"the tests of skills may not import cmd/sidecoach"},
		{"no such room", listed{ImportPath: module + "/utils"}, "utils is no room that the table declares"},
		{"another's internals", listed{ImportPath: module + "/coach", Imports: []string{module + "/classify/internal/x"}},
			"coach may not import classify/internal/x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, []string{tt.want}, complaints(tt.p))
		})
	}
	for _, fine := range []listed{
		{ImportPath: module + "/coach", Imports: []string{"strings", module + "/skills", module + "/coach/internal/x"}},
		{ImportPath: module + "/coach/internal/x",
			Imports: []string{module + "/coach", module + "/coach/internal/y", module + "/classify"}},
		{ImportPath: module + "/examples/runner", Imports: []string{module + "/autocontinue"}},
	} {
		require.Empty(t, complaints(fine))
	}
}

// impure are packages that a pure room has no business with, and calls of others that read what may change.
var (
	impure = []string{
		"os", "os/exec", "os/signal", "net", "net/http", "syscall", "math/rand", "math/rand/v2", "crypto/rand",
		"log", "log/slog",
	}
	impureCalls = []string{
		"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.NewTimer",
		"time.NewTicker", "time.Tick",
	}
)

// A package below internal that its room does not link is a tool, and free.
func TestPureRoomsArePure(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	all := list(t, "./...")
	for _, p := range all {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		r, _ := lookup(name)
		owner := slices.IndexFunc(all, func(q listed) bool { return q.ImportPath == module+"/"+ownerOf(name) })
		linked := ownerOf(name) == name || owner >= 0 && slices.Contains(all[owner].Deps, p.ImportPath)
		if !r.pure || !linked {
			continue
		}
		for _, path := range p.Imports {
			if slices.Contains(impure, path) {
				t.Errorf("%s is pure and may not import %s", name, path)
			}
		}
		for _, file := range p.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, where := range impurities(f) {
				t.Errorf("%s is pure: %v", name, fset.Position(where))
			}
		}
	}
}

// impurities returns where a file starts a goroutine or reads the clock.
func impurities(f *ast.File) []token.Pos {
	var found []token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, n.Pos())
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(impureCalls, x.Name+"."+n.Sel.Name) {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}

func TestImpuritiesAreFound(t *testing.T) {
	const src = `package p
import "time"
var limit = time.Second
func f() { go f(); _ = time.Now() }`
	f, err := parser.ParseFile(token.NewFileSet(), "", src, 0)
	require.NoError(t, err)
	require.Len(t, impurities(f), 2)
}

func TestTopLevelHoldsTheRoomsAlone(t *testing.T) {
	allowed := []string{"classify", "coach", "skills", "plancriteria", "autocontinue", "examples", "cmd",
		"go.mod", "go.sum", "LICENSE", "README.md", ".ci", ".github", ".gitignore", ".gitattributes"}
	seen := make(map[string]bool)
	for _, path := range repository(t) {
		top, _, _ := strings.Cut(path, "/")
		if !seen[top] && !slices.Contains(allowed, top) {
			t.Errorf("%s does not belong at the top level", top)
		}
		seen[top] = true
	}
	require.True(t, seen["go.mod"], "this is not the repository")
}

// go build leaves a program where it was called, which git add then takes along.
func TestRepositoryHoldsNoPrograms(t *testing.T) {
	for _, path := range repository(t) {
		f, err := os.Open(filepath.Join("..", "..", filepath.FromSlash(path)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		require.NoError(t, err)
		head := make([]byte, 4)
		n, err := io.ReadFull(f, head)
		f.Close()
		if err == nil && isProgram(head[:n]) {
			t.Errorf("%s is a program: take it out of the repository", path)
		}
	}
}

// isProgram tells by its first four bytes what Linux, Windows or macOS would run.
func isProgram(head []byte) bool {
	for _, magic := range []string{"\x7fELF", "MZ\x90\x00", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if string(head) == magic {
			return true
		}
	}
	return false
}

// repository returns the files that belong to the repository, in slashes, those not added yet included.
func repository(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Skip("not a git checkout, so there is no telling what belongs to the repository:", err)
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
}

// list runs go list at the root of the module.
func list(t *testing.T, pattern string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports,Deps,TestImports,XTestImports", pattern)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var pkgs []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		pkgs = append(pkgs, p)
	}
	require.NotEmpty(t, pkgs)
	return pkgs
}
