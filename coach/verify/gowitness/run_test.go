package gowitness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

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
	want        Verdict
	why         string // a part of it
	counts      [3]int // functions that passed, failed and were skipped
	output      string // a part of it
}{
	{name: "passes", files: passing, want: Passed, counts: [3]int{2, 0, 0}},
	{name: "fails", files: failing, want: Failed, why: "1 test failed", counts: [3]int{1, 1, 0}, output: "got 1, want 2"},
	{name: "beside packages without tests", files: passing + `
-- b/b.go --
package b
-- c/c_test.go --
package c
-- d/d_test.go --
package d

import "testing"

func BenchmarkD(b *testing.B) {}`, want: Passed, counts: [3]int{2, 0, 0}},
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
}`, want: Passed, counts: [3]int{2, 0, 0}},
	{name: "one skipped", files: passing + "\n\nfunc TestC(t *testing.T) { t.Skip(\"not here\") }", want: Passed, counts: [3]int{2, 0, 1}},
	{name: "a test by its name", files: passing, args: []string{"-run", "^TestA$", "./..."}, want: Passed, counts: [3]int{1, 0, 0}},
	{name: "a file", files: passing, args: []string{"a_test.go"}, want: Passed, counts: [3]int{2, 0, 0}},
	{name: "tests by their names, in some packages", files: passing + "\n-- b/b_test.go --\npackage b\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) { t.Fail() }", args: []string{"-run=TestA|TestB/x", "-skip", "TestB", "./..."}, want: Passed, counts: [3]int{1, 0, 0}},
	{name: "stops at the first failure", files: passing, args: []string{"-failfast", "./..."}, want: Passed, counts: [3]int{2, 0, 0}},
	{name: "benchmarks", files: passing + `

func BenchmarkA(b *testing.B) { b.Log("x"); b.Run("case", func(b *testing.B) { for b.Loop() {} }) }

func BenchmarkB(b *testing.B) { b.Skip() }`, args: []string{"-bench=.", "-benchtime=1x", "-cpu=1,2", "./..."}, want: Passed, counts: [3]int{2, 0, 0}},
	{name: "a benchmark that fails", files: passing + "\n\nfunc BenchmarkA(b *testing.B) { b.Error(\"slow\") }", args: []string{"-bench=.", "./..."}, want: Failed, why: "1 test failed", counts: [3]int{2, 1, 0}, output: "slow"},
	{name: "twice", files: passing, args: []string{"-count=2", "./..."}, want: Passed, counts: [3]int{2, 0, 0}},
	{name: "a TestMain", files: passing + `

func TestMain(m *testing.M) { m.Run() }`, want: Passed, counts: [3]int{2, 0, 0}},

	{name: "no test files", files: "-- a.go --\npackage m", want: Unknown, why: "no test ran"},
	{name: "no match", files: passing, args: []string{"-run", "NoSuch", "./..."}, want: Unknown, why: "no test ran"},
	{name: "no package", files: passing, args: []string{"./none"}, want: Unknown, why: "no package of that name was found"},
	{name: "no packages", files: passing, args: []string{"./none/..."}, want: Unknown, why: "no package of that name was found"},
	{name: "count 0", files: passing, args: []string{"-count=0", "./..."}, want: Unknown, why: "2 tests are declared and did not run: TestA, TestB"},
	{name: "without events", files: passing, args: []string{"-json=false", "./..."}, want: Unknown, why: "go test reported nothing"},
	{name: "all skipped", files: `
-- a_test.go --
package m

import "testing"

func TestA(t *testing.T) { t.Skip() }`, want: Unknown, why: "example.org/m: all of its tests were skipped", counts: [3]int{0, 0, 1}},
	{name: "all of one package skipped", files: passing + `
-- b/b_test.go --
package b

import "testing"

func TestC(t *testing.T) { t.SkipNow() }`, want: Unknown, why: "example.org/m/b: all of its tests were skipped", counts: [3]int{2, 0, 1}},
	{name: "a failure behind TestMain", files: failing + `

func TestMain(m *testing.M) {}`, want: Unknown, why: "2 tests are declared and did not run: TestA, TestB"},
	{name: "a failure behind init, of a test that was named", files: passing + `
-- b/b_test.go --
package b

import ("os"; "testing")

func init() { os.Exit(0) }

func TestC(t *testing.T) { t.Fail() }`, args: []string{"-run", "TestA|TestC", "./..."}, want: Unknown, why: "example.org/m/b: 1 test is declared and did not run: TestC", counts: [3]int{1, 0, 0}},
	{name: "a failure behind init, up to the first", files: failing + "\n-- b_test.go --\npackage m\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }", args: []string{"-failfast", "./..."}, want: Unknown, why: "2 tests are declared and did not run"},
	{name: "a TestMain that says ok", files: failing + `

func TestMain(m *testing.M) { println("ok"); print("PASS\n"); print("--- PASS: TestB (0.00s)\n") }`, want: Unknown, why: "it reports a result for a test that was not started"},
	{name: "a TestMain that says no test files", files: `
-- a_test.go --
package m

import ("fmt"; "testing")

func TestA(t *testing.T) { t.Fail() }

func TestMain(m *testing.M) { fmt.Println("?   \texample.org/m\t[no test files]") }`, want: Unknown, why: "1 test is declared and did not run: TestA"},
	{name: "a TestMain that hides the status", files: failing + `

func TestMain(m *testing.M) { m.Run() }
-- b_test.go --
package m

import "os"

func init() { _ = os.Args }`, want: Failed, why: "1 test failed", counts: [3]int{1, 1, 0}},
	{name: "a TestMain that leaves out tests", files: `
-- a_test.go --
package m

import ("flag"; "testing")

func TestA(t *testing.T) {}

func TestB(t *testing.T) { t.Fail() }

func TestMain(m *testing.M) { flag.Set("test.run", "TestA"); m.Run() }`, want: Unknown, why: "1 test is declared and did not run: TestB", counts: [3]int{1, 0, 0}},
	{name: "a test that ends the program", files: `
-- a_test.go --
package m

import ("syscall"; "testing")

func TestA(t *testing.T) {}

func TestB(t *testing.T) { syscall.Exit(0) }

func TestC(t *testing.T) { t.Fail() }`, want: Unknown, why: "TestB was started and never ended", counts: [3]int{1, 0, 0}},
	{name: "the last test ends the program", files: passing + `
-- b_test.go --
package m

import ("syscall"; "testing")

func TestC(t *testing.T) { t.Run("case", func(t *testing.T) { t.Error("fails"); syscall.Exit(0) }) }`, want: Unknown, why: "was started and never ended", counts: [3]int{2, 0, 0}},
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
}`, want: Failed, why: "1 test failed", counts: [3]int{0, 1, 0}, output: "but fails"},
	{name: "forged results of tests that are none", files: `
-- a_test.go --
package m

import ("fmt"; "testing")

func TestMain(m *testing.M) {
	fmt.Println("\x16=== RUN   TestForged\n\x16--- PASS: TestForged (0.00s)\n\x16PASS")
}`, want: Unknown, why: "a result is reported for TestForged, which its test files do not declare", counts: [3]int{1, 0, 0}},
	{name: "a forged pass without a start", files: `
-- a_test.go --
package m

import ("fmt"; "testing")

func TestA(t *testing.T) { t.Fail() }

func TestMain(m *testing.M) { fmt.Println("\x16--- PASS: TestA (0.00s)\n\x16PASS") }`, want: Unknown, why: "it reports a result for a test that was not started"},

	{name: "does not compile", files: "-- a.go --\npackage m\n\nvar x int = \"text\"" + passing, want: Failed, why: "1 package was not built", output: `cannot use "text"`},
	{name: "an error that quotes what is lacking elsewhere", files: "-- a.go --\npackage m\n\nvar x int = \"dial tcp: no space left on device\"" + passing, want: Failed, why: "1 package was not built", output: "dial tcp"},
	{name: "tests do not compile", files: "-- a_test.go --\npackage m\n\nfunc TestA(", want: Failed, why: "1 package was not built", output: "a_test.go"},
	{name: "does not vet", files: strings.Replace(passing, "func TestB(t *testing.T) {}", `func TestB(t *testing.T) { t.Logf("%d", "x") }`, 1), want: Failed, why: "1 package was not built", output: "wrong type"},
	{name: "an import that is not there", files: "-- a.go --\npackage m\n\nimport _ \"example.org/m/none\"" + passing, want: Failed, why: "1 package was not built", output: "example.org/m/none"},
	{name: "one package does not compile", files: passing + "\n-- b/b.go --\npackage b\n\nvar x = y", want: Failed, why: "1 package was not built", counts: [3]int{2, 0, 0}, output: "undefined: y"},
	{name: "broken go.mod", files: "-- go.mod --\nmodul x" + passing, want: Failed, why: "go.mod cannot be read", output: "go.mod"},
	{name: "a module that cannot be had", files: "-- go.mod --\nmodule example.org/m\n\ngo 1.24\n\nrequire example.org/none v1.0.0\n-- a.go --\npackage m\n\nimport _ \"example.org/none\"" + passing, args: []string{"-mod=mod", "./..."}, want: Unknown, why: "a module could not be downloaded"},
	{name: "a newer Go", files: "-- go.mod --\nmodule example.org/m\n\ngo 1.999" + passing, want: Unknown, why: "the version of Go that go.mod asks for is not installed"},
	{name: "panics", files: passing + "\n\nfunc TestC(t *testing.T) { panic(\"at the disco\") }", want: Failed, why: "1 test failed", counts: [3]int{2, 1, 0}, output: "at the disco"},
	{name: "panics before tests", files: passing + "\n\nfunc init() { panic(\"at the start\") }", want: Failed, why: "a package failed without a test of its own that failed", output: "at the start"},
	{name: "ends with a status", files: passing + "\n\nfunc TestMain(m *testing.M) { m.Run(); panic(1) }", want: Failed, why: "a package failed without a test of its own that failed", counts: [3]int{2, 0, 0}},
	{name: "many failures at once", files: failing + `
-- b/b_test.go --
package b

import ("fmt"; "testing")

func TestParallel(t *testing.T) {
	for i := range 40 {
		t.Run(fmt.Sprint(i), func(t *testing.T) { t.Parallel(); fmt.Print("without end of line"); if i%2 == 0 { t.Fail() } })
	}
}`, want: Failed, why: "2 tests failed", counts: [3]int{1, 2, 0}},
}

func TestRun(t *testing.T) {
	for _, tt := range runs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := module(t, strings.TrimPrefix(tt.files, "\n"))
			args := tt.args
			if args == nil {
				args = []string{"./..."}
			}
			o, err := Run(t.Context(), append([]string{"go", "test"}, args...), Options{Dir: dir, Env: offline()})
			require.NoError(t, err)
			assert.Equal(t, tt.want, o.Verdict, "%s\n%s", o.Why, o.Output)
			assert.Contains(t, o.Why, tt.why)
			assert.Equal(t, tt.want == Passed, o.Why == "", "a reason wherever it did not pass")
			assert.Equal(t, tt.counts, [3]int{o.Passed, o.Failed, o.Skipped})
			assert.Contains(t, o.Output, tt.output)
		})
	}
}

// offline is an environment in which nothing is downloaded.
func offline() []string {
	return append((&runner{}).environ(), "GOPROXY=off", "GOTOOLCHAIN=local")
}

func TestFailuresAreNamed(t *testing.T) {
	o, err := Run(t.Context(), []string{"go", "test", "./..."}, Options{Dir: module(t, strings.TrimPrefix(failing, "\n"))})
	require.NoError(t, err)
	require.Len(t, o.Failures, 1, "the subtest, and not what it is in")
	assert.Equal(t, "TestB/case (example.org/m)", o.Failures[0].String())
	assert.Contains(t, o.Failures[0].Output, "a_test.go:7: got 1, want 2")
	assert.Equal(t, 1, o.SubFailed)
}

func TestHangingTests(t *testing.T) {
	hang := "-- a_test.go --\npackage m\n\nimport (\"testing\"; \"time\")\n\nfunc TestA(t *testing.T) {}\n\nfunc TestHang(t *testing.T) { time.Sleep(time.Hour) }"
	o, err := Run(t.Context(), []string{"go", "test", "./..."}, Options{Dir: module(t, hang), Timeout: 3 * time.Second})
	require.NoError(t, err)
	assert.Equal(t, Unknown, o.Verdict, o.Output)
	assert.Contains(t, o.Why, "it was still running after 3s, and was killed")

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = Run(ctx, []string{"go", "test", "./..."}, Options{Dir: module(t, hang)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestFloodingTests(t *testing.T) {
	flood := `
-- a_test.go --
package m

import ("os"; "strings"; "testing")

func TestA(t *testing.T) {
	line := strings.Repeat("x", 1<<20)
	for range 50 { os.Stdout.WriteString(line) }
	os.Stdout.WriteString("\n")
	for range 100_000 { os.Stdout.WriteString("--- PASS: TestX (0.00s)\n") }
	t.Error("the end")
}`
	o, err := Run(t.Context(), []string{"go", "test", "./..."}, Options{Dir: module(t, strings.TrimPrefix(flood, "\n")), Keep: 4096})
	require.NoError(t, err)
	assert.Equal(t, Failed, o.Verdict)
	assert.Equal(t, 1, o.Failed)
	assert.LessOrEqual(t, len(o.Output), 4096)
	assert.Contains(t, o.Failures[0].Output, "the end")
}

func TestNoGo(t *testing.T) {
	o, err := Run(t.Context(), []string{"/no/such/go", "test", "./..."}, Options{Dir: t.TempDir()})
	require.NoError(t, err)
	assert.Equal(t, Unknown, o.Verdict)
	assert.Contains(t, o.Why, "cannot start /no/such/go")

	t.Setenv("PATH", t.TempDir())
	o, err = Run(t.Context(), []string{"go", "test", "./..."}, Options{Dir: t.TempDir()})
	require.NoError(t, err)
	assert.Equal(t, Unknown, o.Verdict)
	assert.Equal(t, "go is not installed, or not in the PATH", o.Why)
}

// Flags that somebody stored, or left in the environment, choose no tests.
func TestStoredFlagsDoNotCount(t *testing.T) {
	t.Setenv("GOFLAGS", "-run=NoSuch")
	dir := module(t, strings.TrimPrefix(passing, "\n")+"\n-- env --\nGOFLAGS=-run=NoSuch")
	t.Setenv("GOENV", dir+"/env")
	o, err := Run(t.Context(), []string{"go", "test", "./..."}, Options{Dir: dir})
	require.NoError(t, err)
	assert.Equal(t, Passed, o.Verdict, o.Why)
}

func TestWitness(t *testing.T) {
	dir := module(t, strings.TrimPrefix(failing, "\n"))
	w, err := New(Config{Dir: dir, Tree: func(context.Context) (string, error) { return "tree of now", nil }})
	require.NoError(t, err)
	facts, err := w.Look(t.Context(), verify.Query{Commands: [][]string{{"make", "test"}, {"go", "test", "-run=TestA", "./..."}, {"go", "test", "./..."}}})
	require.NoError(t, err)
	require.Len(t, facts.Tests, 2)
	met, not := facts.Tests[0], facts.Tests[1]
	assert.Equal(t, []string{"go", "test", "-run=TestA", "./..."}, met.Command)
	assert.Equal(t, verify.Met, met.Status, met.Why)
	assert.Equal(t, "tree of now", met.Tree)
	assert.Equal(t, [4]int{1, 1, 0, 0}, [4]int{met.Total, met.Passed, met.Failed, met.Skipped})
	assert.True(t, met.Counted)
	assert.Equal(t, verify.NotMet, not.Status)
	assert.Equal(t, []string{"TestB/case (example.org/m)"}, not.Failures)
	assert.Positive(t, not.Took)

	w, err = New(Config{Dir: dir, Tree: func(context.Context) (string, error) { return "", errors.New("gone") }})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.Look(ctx, verify.Query{Commands: [][]string{{"go", "test"}}})
	require.ErrorIs(t, err, context.Canceled)

	w, err = New(Config{Dir: module(t, strings.TrimPrefix(passing, "\n"))})
	require.NoError(t, err)
	facts, err = w.Look(t.Context(), verify.Query{Commands: [][]string{{"go", "test"}}})
	require.NoError(t, err)
	assert.Equal(t, [2]int{2, 2}, [2]int{facts.Tests[0].Passed, facts.Tests[0].PartsPassed})
}

func TestBadConfigs(t *testing.T) {
	for want, cfg := range map[string]Config{
		"gowitness: the folder to run in is not set": {},
		"gowitness: the timeout is negative":         {Dir: ".", Timeout: -1},
		"gowitness: the output to keep is negative":  {Dir: ".", Keep: -1},
	} {
		_, err := New(cfg)
		assert.EqualError(t, err, want)
	}
	_, err := Run(t.Context(), []string{"make", "test"}, Options{Dir: "."})
	assert.EqualError(t, err, "gowitness: the command is not go test")
}

func ExampleRun() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	_ = os.WriteFile(dir+"/go.mod", []byte("module example.org/empty\n"), 0o600)
	_ = os.WriteFile(dir+"/empty.go", []byte("package empty\n"), 0o600)
	o, err := Run(context.Background(), []string{"go", "test", "./..."}, Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q: %s\n", o.Verdict, o.Why)
	// Output: "": no test ran
}
