package cmdwitness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

var update = flag.Bool("update", false, "run go anew, and record what it prints")

const recorded = "testdata/runs.txtar"

const (
	passing = `
-- a_test.go --
package m

import "testing"

func TestA(t *testing.T) { t.Run("one", func(t *testing.T) {}); t.Run("two", func(t *testing.T) {}) }

func TestB(t *testing.T) {}`
	failing = `
-- a_test.go --
package m

import "testing"

func TestA(t *testing.T) {}

func TestB(t *testing.T) { t.Run("case", func(t *testing.T) { t.Error("got 1, want 2") }) }`
)

var runs = []struct {
	name, files string
	args        []string // behind go test; nil is ./...
	want        verify.Status
	why         string // a part of it
	counts      [3]int // functions that passed, failed and were skipped
	output      string // a part of it
}{
	{name: "passes", files: passing, want: verify.Met, counts: [3]int{2, 0, 0}},
	{
		name:   "fails",
		files:  failing,
		want:   verify.NotMet,
		why:    "1 test failed",
		counts: [3]int{1, 1, 0},
		output: "got 1, want 2",
	},
	{name: "beside packages without tests", files: passing + `
-- b/b.go --
package b
-- c/c_test.go --
package c
-- d/d_test.go --
package d

import "testing"

func BenchmarkD(b *testing.B) {}`, want: verify.Met, counts: [3]int{2, 0, 0}},
	{name: "examples and fuzz tests", files: `
-- a_test.go --
package m_test

import (
	"fmt"
	"testing"
)

func Example() {
	fmt.Println("hello")
	// Output: hello
}

func Example_notRun() { fmt.Println("hello") }

func FuzzA(f *testing.F) {
	f.Add("x")
	f.Fuzz(func(t *testing.T, s string) {})
}`, want: verify.Met, counts: [3]int{2, 0, 0}},
	{
		name:   "one skipped",
		files:  passing + "\n\nfunc TestC(t *testing.T) { t.Skip(\"not here\") }",
		want:   verify.Met,
		counts: [3]int{2, 0, 1},
	},
	{
		name:   "a test by its name",
		files:  passing,
		args:   []string{"-run", "^TestA$", "./..."},
		want:   verify.Met,
		counts: [3]int{1, 0, 0},
	},
	{name: "a file", files: passing, args: []string{"a_test.go"}, want: verify.Met, counts: [3]int{2, 0, 0}},
	{
		name:   "tests by their names, in some packages",
		files:  passing + "\n-- b/b_test.go --\npackage b\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) { t.Fail() }",
		args:   []string{"-run=TestA|TestB/x", "-skip", "TestB", "./..."},
		want:   verify.Met,
		counts: [3]int{1, 0, 0},
	},
	{
		name:   "stops at the first failure",
		files:  passing,
		args:   []string{"-failfast", "./..."},
		want:   verify.Met,
		counts: [3]int{2, 0, 0},
	},
	{name: "benchmarks", files: passing + `

func BenchmarkA(b *testing.B) { b.Log("x"); b.Run("case", func(b *testing.B) { for b.Loop() {} }) }

func BenchmarkB(b *testing.B) { b.Skip() }`,
		args: []string{"-bench=.", "-benchtime=1x", "-cpu=1,2", "./..."}, want: verify.Met, counts: [3]int{2, 0, 0}},
	{
		name:   "a benchmark that fails",
		files:  passing + "\n\nfunc BenchmarkA(b *testing.B) { b.Error(\"slow\") }",
		args:   []string{"-bench=.", "./..."},
		want:   verify.NotMet,
		why:    "1 test failed",
		counts: [3]int{2, 1, 0},
		output: "slow",
	},
	{name: "twice", files: passing, args: []string{"-count=2", "./..."}, want: verify.Met, counts: [3]int{2, 0, 0}},
	{name: "a TestMain", files: passing + `

func TestMain(m *testing.M) { m.Run() }`, want: verify.Met, counts: [3]int{2, 0, 0}},

	{name: "no test files", files: "-- a.go --\npackage m", want: verify.Unverified, why: "no test ran"},
	{
		name:  "no match",
		files: passing,
		args:  []string{"-run", "NoSuch", "./..."},
		want:  verify.Unverified,
		why:   "no test ran",
	},
	{
		name:  "no package",
		files: passing,
		args:  []string{"./none"},
		want:  verify.Unverified,
		why:   "this machine lacks something: ",
	},
	{
		name:  "no packages",
		files: passing,
		args:  []string{"./none/..."},
		want:  verify.Unverified,
		why:   "this machine lacks something: ",
	},
	{name: "count 0", files: passing, args: []string{"-count=0", "./..."}, want: verify.Unverified, why: "no test ran"},
	{
		name:  "without events",
		files: passing,
		args:  []string{"-json=false", "./..."},
		want:  verify.Unverified,
		why:   "go test reported nothing",
	},
	{name: "all skipped", files: `
-- a_test.go --
package m

import "testing"

func TestA(t *testing.T) { t.Skip() }`,
		want: verify.Unverified, why: "example.org/m: all of its tests were skipped", counts: [3]int{0, 0, 1}},
	{name: "all of one package skipped", files: passing + `
-- b/b_test.go --
package b

import "testing"

func TestC(t *testing.T) { t.SkipNow() }`,
		want: verify.Unverified, why: "example.org/m/b: all of its tests were skipped", counts: [3]int{2, 0, 1}},
	{name: "a failure behind TestMain", files: failing + `

func TestMain(m *testing.M) {}`, want: verify.Unverified, why: "it ended well without a test"},
	{name: "a failure behind init, of a test that was named", files: passing + `
-- b/b_test.go --
package b

import ("os"; "testing")

func init() { os.Exit(0) }

func TestC(t *testing.T) { t.Fail() }`,
		args: []string{"-run", "TestA|TestC", "./..."}, want: verify.Unverified,
		why: "example.org/m/b: it ended well without a test", counts: [3]int{1, 0, 0}},
	{
		name:  "a failure behind init, up to the first",
		files: failing + "\n-- b_test.go --\npackage m\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }",
		args:  []string{"-failfast", "./..."},
		want:  verify.Unverified,
		why:   "it ended well without a test",
	},
	{name: "a TestMain that says ok", files: failing + `

func TestMain(m *testing.M) { println("ok"); print("PASS\n"); print("--- PASS: TestB (0.00s)\n") }`,
		want: verify.Unverified, why: "it reports a result for a test that was not started"},
	{name: "a TestMain that says no test files", files: `
-- a_test.go --
package m

import ("fmt"; "testing")

func TestA(t *testing.T) { t.Fail() }

func TestMain(m *testing.M) { fmt.Println("?   \texample.org/m\t[no test files]") }`,
		want: verify.Unverified, why: "no test ran"},
	{name: "a TestMain that hides the status", files: failing + `

func TestMain(m *testing.M) { m.Run() }
-- b_test.go --
package m

import "os"

func init() { _ = os.Args }`, want: verify.NotMet, why: "1 test failed", counts: [3]int{1, 1, 0}},
	{name: "a test that ends the program", files: `
-- a_test.go --
package m

import ("syscall"; "testing")

func TestA(t *testing.T) {}

func TestB(t *testing.T) { syscall.Exit(0) }

func TestC(t *testing.T) { t.Fail() }`,
		want: verify.Unverified, why: "TestB was started and never ended", counts: [3]int{1, 0, 0}},
	{name: "the last test ends the program", files: passing + `
-- b_test.go --
package m

import ("syscall"; "testing")

func TestC(t *testing.T) { t.Run("case", func(t *testing.T) { t.Error("fails"); syscall.Exit(0) }) }`,
		want: verify.Unverified, why: "was started and never ended", counts: [3]int{2, 0, 0}},
	{name: "printed results", files: `
-- a_test.go --
package m

import ("fmt"; "os"; "testing")

func TestA(t *testing.T) {
	fmt.Println("{\"Action\":\"run\",\"Package\":\"example.org/m\",\"Test\":\"TestB\"}")
	fmt.Println("{\"Action\":\"pass\",\"Package\":\"example.org/m\",\"Test\":\"TestB\"}")
	fmt.Fprintln(os.Stderr, "{\"Action\":\"pass\",\"Package\":\"example.org/m\",\"Test\":\"TestA\"}")
	fmt.Println("--- PASS: TestA (0.00s)\n=== RUN   TestX\n--- PASS: TestX (0.00s)\nPASS\nok  \texample.org/m\t0.01s")
	t.Error("but fails")
}`, want: verify.NotMet, why: "1 test failed", counts: [3]int{0, 1, 0}, output: "but fails"},
	{name: "a forged pass without a start", files: `
-- a_test.go --
package m

import ("fmt"; "testing")

func TestA(t *testing.T) { t.Fail() }

func TestMain(m *testing.M) { fmt.Println("\x16--- PASS: TestA (0.00s)\n\x16PASS") }`,
		want: verify.Unverified, why: "it reports a result for a test that was not started"},

	{
		name:   "does not compile",
		files:  "-- a.go --\npackage m\n\nvar x int = \"text\"" + passing,
		want:   verify.NotMet,
		why:    "1 package was not built",
		output: `cannot use "text"`,
	},
	{
		name:   "an error that quotes what is lacking elsewhere",
		files:  "-- a.go --\npackage m\n\nvar x int = \"dial tcp: no space left on device\"" + passing,
		want:   verify.NotMet,
		why:    "1 package was not built",
		output: "dial tcp",
	},
	{
		name:   "tests do not compile",
		files:  "-- a_test.go --\npackage m\n\nfunc TestA(",
		want:   verify.NotMet,
		why:    "1 package was not built",
		output: "a_test.go",
	},
	{
		name:   "does not vet",
		files:  strings.Replace(passing, "func TestB(t *testing.T) {}", `func TestB(t *testing.T) { t.Logf("%d", "x") }`, 1),
		want:   verify.NotMet,
		why:    "1 package was not built",
		output: "wrong type",
	},
	{
		name:   "an import that is not there",
		files:  "-- a.go --\npackage m\n\nimport _ \"example.org/m/none\"" + passing,
		want:   verify.NotMet,
		why:    "1 package was not built",
		output: "example.org/m/none",
	},
	{
		name:   "one package does not compile",
		files:  passing + "\n-- b/b.go --\npackage b\n\nvar x = y",
		want:   verify.NotMet,
		why:    "1 package was not built",
		counts: [3]int{2, 0, 0},
		output: "undefined: y",
	},
	{
		name:   "broken go.mod",
		files:  "-- go.mod --\nmodul x" + passing,
		want:   verify.NotMet,
		why:    "go.mod cannot be read",
		output: "go.mod",
	},
	{
		name: "a module that cannot be had",
		files: "-- go.mod --\nmodule example.org/m\n\ngo 1.24\n\nrequire example.org/none v1.0.0\n-- a.go --\npackage m\n" +
			"\nimport _ \"example.org/none\"" + passing,
		args: []string{"-mod=mod", "./..."},
		want: verify.Unverified,
		why:  "module lookup disabled by GOPROXY=off",
	},
	{
		name:  "a newer Go",
		files: "-- go.mod --\nmodule example.org/m\n\ngo 1.999" + passing,
		want:  verify.Unverified,
		why:   "GOTOOLCHAIN=local",
	},
	{
		name:   "panics",
		files:  passing + "\n\nfunc TestC(t *testing.T) { panic(\"at the disco\") }",
		want:   verify.NotMet,
		why:    "1 test failed",
		counts: [3]int{2, 1, 0},
		output: "at the disco",
	},
	{
		name:   "panics before tests",
		files:  passing + "\n\nfunc init() { panic(\"at the start\") }",
		want:   verify.NotMet,
		why:    "a package failed without a failed test",
		output: "at the start",
	},
	{
		name:   "ends with a status",
		files:  passing + "\n\nfunc TestMain(m *testing.M) { m.Run(); panic(1) }",
		want:   verify.NotMet,
		why:    "a package failed without a failed test",
		counts: [3]int{2, 0, 0},
	},
	{name: "many failures at once", files: failing + `
-- b/b_test.go --
package b

import ("fmt"; "testing")

func TestParallel(t *testing.T) {
	for i := range 40 {
		t.Run(fmt.Sprint(i), func(t *testing.T) { t.Parallel(); fmt.Print("without end of line"); if i%2 == 0 { t.Fail() } })
	}
}`, want: verify.NotMet, why: "2 tests failed", counts: [3]int{1, 2, 0}},
}

// tape records what go prints, or plays it back: running go fifty times takes half a minute.
type tape struct {
	archive *txtar.Archive
	name    string
	dir     string
	calls   int
}

func (p *tape) exec(ctx context.Context, cmd Command) (Result, error) {
	p.calls++
	name := fmt.Sprintf("%s/%d", p.name, p.calls)
	if *update {
		return p.record(ctx, cmd, name)
	}
	var res Result
	found := false
	for _, f := range p.archive.Files {
		text := strings.ReplaceAll(string(f.Data), "$DIR", p.dir)
		switch f.Name {
		case name + "/out":
			found = true
			if cmd.Stdout == nil {
				res.Output = text
			} else if _, err := cmd.Stdout.Write([]byte(unquote(text))); err != nil {
				return res, err
			}
		case name + "/err":
			res.Output += text
		case name + "/exit":
			res.Exit, _ = strconv.Atoi(strings.TrimSpace(text))
		}
	}
	if !found {
		return res, errors.New("nothing is recorded of " + name + ": run go test -update")
	}
	return res, nil
}

func (p *tape) record(ctx context.Context, cmd Command, name string) (Result, error) {
	var out strings.Builder
	to := cmd.Stdout
	if to != nil {
		cmd.Stdout = &out
	}
	res, err := Run(ctx, cmd)
	if err != nil {
		return res, err
	}
	add := func(part, text string) {
		text = clock.ReplaceAllString(strings.ReplaceAll(text, p.dir, "$DIR"), "")
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		p.archive.Files = append(p.archive.Files, txtar.File{Name: name + "/" + part, Data: []byte(text)})
	}
	if to == nil {
		add("out", res.Output)
	} else {
		_, _ = to.Write([]byte(out.String()))
		add("out", quote(out.String()))
		add("err", res.Output)
	}
	add("exit", strconv.Itoa(res.Exit))
	return res, nil
}

var clock = regexp.MustCompile(`"Time":"[^"]*",|,"Elapsed":[0-9.e-]+`)

// quote keeps the lines of an output from ending a file of the archive.
func quote(s string) string   { return strings.ReplaceAll("\n"+s, "\n-- ", "\n>-- ")[1:] }
func unquote(s string) string { return strings.ReplaceAll("\n"+s, "\n>-- ", "\n-- ")[1:] }

func TestGoRuns(t *testing.T) {
	archive := &txtar.Archive{Comment: []byte("What go printed in the runs of TestGoRuns. Made by go test -update.\n")}
	if !*update {
		var err error
		archive, err = txtar.ParseFile(recorded)
		require.NoError(t, err)
	}
	for i, tt := range runs {
		t.Run(tt.name, func(t *testing.T) {
			dir := module(t, strings.TrimPrefix(tt.files, "\n"))
			args := tt.args
			if args == nil {
				args = []string{"./..."}
			}
			env, _ := Environment{}.Of(os.Environ())
			w := &Witness{Dir: dir, Env: append(env, "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=")}
			p := &tape{archive: archive, name: fmt.Sprint(i), dir: dir}
			w.exec = p.exec
			facts, err := w.Look(t.Context(), verify.Query{Commands: [][]string{append([]string{"go", "test"}, args...)}})
			require.NoError(t, err)
			r := facts.Runs[0]
			assert.Equal(t, tt.want, r.Status, "%s\n%s", r.Why, r.Output)
			assert.Contains(t, r.Why, tt.why)
			assert.Equal(t, tt.want == verify.Met, r.Why == "", "a reason wherever it is not Met")
			assert.Equal(t, tt.counts, [3]int{r.Passed, r.Failed, r.Skipped})
			assert.Contains(t, r.Output, tt.output)
		})
	}
	if *update && !t.Failed() {
		require.NoError(t, os.MkdirAll(filepath.Dir(recorded), 0o755))
		require.NoError(t, os.WriteFile(recorded, txtar.Format(archive), 0o644))
	}
}

// One real run, in which all is named.
func TestGoTest(t *testing.T) {
	w := &Witness{Dir: module(t, strings.TrimPrefix(failing, "\n"))}
	facts, err := w.Look(t.Context(), verify.Query{Commands: [][]string{{"go", "test", "./..."}}})
	require.NoError(t, err)
	require.Len(t, facts.Runs, 1)
	r := facts.Runs[0]
	assert.Equal(t, []string{"go", "test", "./..."}, r.Command)
	assert.Equal(t, verify.NotMet, r.Status)
	assert.Equal(t, []string{"TestB/case (example.org/m)"}, r.Failures, "the subtest, and not its test")
	assert.Equal(t, []string{"TestA (example.org/m)"}, r.Passes)
	assert.Contains(t, r.Output, "a_test.go:7: got 1, want 2")
	assert.Positive(t, r.Took)
}

func TestHangingTests(t *testing.T) {
	w := &Witness{Dir: t.TempDir(), Timeout: time.Second}
	w.exec = func(_ context.Context, cmd Command) (Result, error) {
		_, err := cmd.Stdout.Write([]byte(line("run", "TestHang", "")))
		return Result{Exit: -1, Stopped: true, Why: "it was still running after 1s, and was killed"}, err
	}
	facts, err := w.Look(t.Context(), verify.Query{Commands: [][]string{{"go", "test"}}})
	require.NoError(t, err)
	assert.Equal(t, verify.Unverified, facts.Runs[0].Status)
	assert.Equal(t, "go test did not come to its end: it was still running after 1s, and was killed", facts.Runs[0].Why)

	w.exec = func(ctx context.Context, _ Command) (Result, error) {
		return Result{}, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.Look(ctx, verify.Query{Commands: [][]string{{"go", "test"}}})
	require.ErrorIs(t, err, context.Canceled)
}

// gofmt -l ends with 0 whether it lists files or not.
func TestFormatterThatLists(t *testing.T) {
	if _, err := exec.LookPath("gofmt"); err != nil {
		t.Skip("gofmt is not in the PATH")
	}
	dir := t.TempDir()
	w := &Witness{Dir: dir}
	for text, want := range map[string]verify.Status{"package a\n": verify.Met, "package  a\n": verify.NotMet} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte(text), 0o600))
		facts, err := w.Look(t.Context(), verify.Query{Commands: [][]string{{"gofmt", "-l", "."}}})
		require.NoError(t, err)
		assert.Equal(t, want, facts.Runs[0].Status, facts.Runs[0].Why)
	}
}

func TestNoGo(t *testing.T) {
	w := &Witness{Dir: t.TempDir()}
	facts, err := w.Look(t.Context(), verify.Query{Commands: [][]string{{"/no/such/go", "test", "./..."}}})
	require.NoError(t, err)
	assert.Equal(t, verify.Unverified, facts.Runs[0].Status)
	assert.Contains(t, facts.Runs[0].Why, "cannot start /no/such/go")
}

// module makes a module of the given files and returns its folder. Each file is "-- name --" and its text.
func module(t *testing.T, files string) string {
	t.Helper()
	dir := t.TempDir()
	version := strings.TrimPrefix(runtime.Version(), "go")
	if i := strings.IndexFunc(version, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); i >= 0 {
		version = version[:i]
	}
	require.NoError(t,
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/m\n\ngo "+version+"\n"), 0o600))
	for _, part := range strings.Split("\n"+files, "\n-- ")[1:] {
		name, text, ok := strings.Cut(part, " --\n")
		require.True(t, ok, "%q", part)
		full := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
		require.NoError(t, os.WriteFile(full, []byte(text+"\n"), 0o600))
	}
	return dir
}

func TestCommandsThatAreGoTest(t *testing.T) {
	for in, want := range map[string]string{
		"go test":       "go test FLAGS",
		"go test ./...": "go test FLAGS ./...",
		"/usr/local/go/bin/go test -race -tags a,b -v ./...": "/usr/local/go/bin/go test FLAGS -race -tags a,b -v ./...",
		"go1.25.3 test .":                  "go1.25.3 test FLAGS .",
		"go.exe test":                      "go.exe test FLAGS",
		"go -C sub test ./...":             "go -C sub test FLAGS ./...",
		"go test -C=sub --tags=x ./...":    "go test -C=sub FLAGS --tags=x ./...",
		"go test -run -race ./...":         "go test FLAGS -run -race ./...",
		"go test . -run TestA -args -C=no": "go test FLAGS . -run TestA -args -C=no",
	} {
		words := strings.Fields(in)
		at := goTestFlags(words)
		require.Positive(t, at, in)
		assert.Equal(t, want, strings.Join(slices.Insert(words, at, "FLAGS"), " "))
	}
}

func TestCommandsThatAreNot(t *testing.T) {
	for _, in := range []string{"go", "test", "go build ./...", "go vet", "gotest ./...", "go run test", "make test",
		"go -C",
		"go -C test", "gofmt test", "sudo go test", "go tool test"} {
		assert.Equal(t, -1, goTestFlags(strings.Fields(in)), in)
	}
}
