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
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

var (
	goProgram = lazy.New(`^go(?:[0-9][0-9.a-z]*)?(?:\.exe)?$`)
	// nowhere is what go says of a pattern that names no package.
	nowhere = lazy.New(`(?m)^(?:go: )?(?:pattern \S+: |stat \S+: |no Go files in |.*matched no packages|go\.mod file not found|.*cannot find main module)`)
	// placed is a line about a place in a file, which can quote what is written there.
	placed = lazy.New(`(?m)^.*\.go:[0-9]+:[0-9]+: .*$`)
)

// judge says what a run amounts to.
func (w *Witness) judge(ctx context.Context, c command, e *events, res cmdwitness.Result, r *verify.Run) {
	broken, compiled, other, tests := 0, 0, 0, r.Failed
	for _, p := range e.packages {
		tests += len(p.failed)
		switch {
		case p.result == failed && p.broken:
			broken++
			if !p.setup {
				compiled++ // all of its imports are there
			}
		case p.result == failed:
			other++
		}
	}
	fail := func(format string, args ...any) { r.Status, r.Why = verify.NotMet, fmt.Sprintf(format, args...) }
	text := string(e.build) + string(e.noise) + res.Output
	notBuilt := plural(broken, "package was", "packages were") + " not built"
	switch {
	case tests > 0:
		fail("%s failed", plural(r.Failed, "test", "tests"))
	case res.Why != "":
		r.Why = "go test did not come to its end: " + res.Why
	case other > 0:
		fail("a package failed without a failed test")
	case e.over:
		r.Why = "there are more tests than are counted"
	case compiled > 0 && lacking(placed.Replace(text, "")) == "":
		fail("%s", notBuilt)
	case (broken > 0 || res.Exit != 0) && lacking(text) != "" && !(res.Exit != 0 && strings.Contains(text, "errors parsing go.mod")):
		r.Why = lacking(text)
	case broken > 0:
		fail("%s", notBuilt)
	case res.Exit != 0 && strings.Contains(text, "errors parsing go.mod"):
		fail("go.mod cannot be read")
	case res.Exit != 0:
		r.Why = fmt.Sprintf("go test ended with exit status %d and no failed test", res.Exit)
	default:
		w.doubt(ctx, c, e, r)
	}
}

// lacking names what is not installed to build the tests, which says nothing about the work.
func lacking(text string) string {
	if nowhere.Match(text) {
		return "no package of that name was found"
	}
	for _, sign := range []struct{ text, what string }{
		{"toolchain not available", "the version of Go that go.mod asks for is not installed"},
		{"GOTOOLCHAIN=local)", "the version of Go that go.mod asks for is not installed"},
		{"module lookup disabled by GOPROXY=off", "a module could not be downloaded"},
		{"dial tcp", "a module could not be downloaded"},
		{"no such host", "a module could not be downloaded"},
		{"TLS handshake timeout", "a module could not be downloaded"},
		{"no space left on device", "the disk is full"},
		{`C compiler "`, "the C compiler is not installed"},
	} {
		if strings.Contains(text, sign.text) {
			return sign.what
		}
	}
	return ""
}

// doubt judges a run that ended well: it has passed if a named test did, every test that the sources declare and the
// command did not leave out was reported, no other was, and no package was skipped as a whole.
func (w *Witness) doubt(ctx context.Context, c command, e *events, r *verify.Run) {
	if e.seen == 0 {
		r.Why = "go test reported nothing"
		return
	}
	sources, err := w.sources(ctx, c, slices.Sorted(maps.Keys(e.packages)))
	var reasons []string
	for _, p := range e.sorted() {
		if why := p.doubt(c, sources, err == nil); why != "" {
			reasons = append(reasons, p.name+": "+why)
		}
	}
	switch {
	case len(reasons) > 0:
		r.Why = strings.Join(reasons[:min(5, len(reasons))], "; ")
		if n := len(reasons) - 5; n > 0 {
			r.Why += fmt.Sprintf("; and %d more packages", n)
		}
	case err != nil:
		r.Why = "which tests there are could not be read: " + err.Error()
	case r.Passed == 0:
		r.Why = "no test ran"
	default:
		r.Status = verify.Met
	}
}

func (p *pkg) doubt(c command, sources map[string]source, listed bool) string {
	s, read := sources[p.name]
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(s.meant)) {
		if p.tests[name] == nil {
			missing = append(missing, name)
		}
	}
	passes, skips, unknown := 0, 0, ""
	for _, name := range slices.Sorted(maps.Keys(p.tests)) {
		switch p.tests[name].result {
		case passed:
			passes++
		case skipped:
			skips++
		}
		function, _, _ := strings.Cut(name, "/")
		if unknown == "" && !s.known[function] && !strings.HasPrefix(function, "Benchmark") { // -cpu changes the names of these
			unknown = function
		}
	}
	switch {
	case p.cached:
		return "the result is an old one (cached)"
	case p.strange != "":
		return p.strange
	case p.unfinished() != "":
		return p.unfinished() + " was started and never ended"
	case p.result == running:
		return "no result was reported"
	case listed && !read:
		return "go list does not know it"
	case read && unknown != "":
		return "a result is reported for " + unknown + ", which its test files do not declare"
	case len(missing) > 0 && (!c.chosen || passes+skips == 0 && len(p.output) > 0 && !bytes.Contains(p.output, []byte("no tests to run"))):
		names := strings.Join(missing[:min(3, len(missing))], ", ")
		if n := len(missing) - 3; n > 0 {
			names += fmt.Sprintf(" and %d more", n)
		}
		return plural(len(missing), "test is", "tests are") + " declared and did not run: " + names
	case passes == 0 && skips > 0:
		return "all of its tests were skipped"
	}
	return ""
}

// source is what the test files of a package declare.
type source struct {
	meant map[string]bool // tests and fuzz tests in the files that are built: each should run
	known map[string]bool // those, examples, and what is in files that are not built here: whatever may be reported
}

// sources reads the test files of packages. It asks go which they are, and reads them itself.
func (w *Witness) sources(ctx context.Context, c command, packages []string) (map[string]source, error) {
	found := make(map[string]source, len(packages))
	if i := slices.Index(packages, "command-line-arguments"); i >= 0 {
		packages = slices.Delete(packages, i, i+1)
		dir := c.folder
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(w.cfg.Dir, dir)
		}
		s, err := readSources(dir, c.files, nil)
		if err != nil {
			return nil, err
		}
		found["command-line-arguments"] = s
	}
	for batch := range slices.Chunk(packages, 200) {
		res, err := w.exec(ctx, cmdwitness.Command{Args: slices.Concat(c.list, batch), Dir: w.cfg.Dir, Env: w.env(),
			Timeout: 2 * time.Minute, Keep: 16 << 20})
		if err != nil {
			return nil, err
		} else if res.Exit != 0 || res.Cut {
			return nil, errors.New("go list failed")
		}
		text := res.Output[max(0, strings.Index(res.Output, "{")):] // behind what go says on standard error
		for dec := json.NewDecoder(strings.NewReader(text)); ; {
			var l struct {
				ImportPath, Dir                           string
				TestGoFiles, XTestGoFiles, IgnoredGoFiles []string
			}
			if err := dec.Decode(&l); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, errors.New("the answer of go list is not JSON")
			}
			if found[l.ImportPath], err = readSources(l.Dir, slices.Concat(l.TestGoFiles, l.XTestGoFiles), l.IgnoredGoFiles); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

const maxSource = 8 << 20 // bytes of a test file

// readSources reads the test files of a package, those that are built and those that are not.
func readSources(dir string, built, ignored []string) (source, error) {
	s := source{meant: map[string]bool{}, known: map[string]bool{}}
	for i, name := range slices.Concat(built, ignored) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, name)
		}
		info, err := os.Stat(full)
		if err != nil || info.Size() > maxSource {
			return s, fmt.Errorf("%s cannot be read", filepath.Base(name))
		}
		f, err := parser.ParseFile(token.NewFileSet(), full, nil, parser.SkipObjectResolution)
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
			if testcode.IsGoTest(fn) {
				s.meant[fn.Name.Name] = s.meant[fn.Name.Name] || i < len(built)
			}
			s.known[fn.Name.Name] = !testcode.IsGoTestMain(fn)
		}
	}
	maps.DeleteFunc(s.meant, func(_ string, built bool) bool { return !built })
	return s, nil
}
