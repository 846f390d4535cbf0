package verify_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gowitness"
)

// bench is a repository with a small module in it, in which a player works.
type bench struct {
	t       *testing.T
	dir     string
	base    string
	timeout time.Duration // of the tests; 0 is long
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := &bench{t: t, dir: t.TempDir()}
	b.git("init", "-q", "-b", "main")
	b.write("go.mod", "module example.org/m\n\ngo 1.24\n")
	b.write("client.go", "package m\n\nfunc Double(n int) int { return n }\n")
	b.write("server.go", "package m\n")
	b.write("client_test.go", "package m\n\nimport \"testing\"\n\nfunc TestZero(t *testing.T) {\n\tif Double(0) != 0 {\n\t\tt.Fatal(\"not 0\")\n\t}\n}\n")
	b.write(".gitignore", "*.log\n")
	b.base = b.commit()
	return b
}

func (b *bench) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	require.NoError(b.t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	full := filepath.Join(b.dir, filepath.FromSlash(name))
	require.NoError(b.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(b.t, os.WriteFile(full, []byte(text), 0o644))
}

func (b *bench) commit() string {
	b.t.Helper()
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "work")
	return b.git("rev-parse", "HEAD")
}

// work does what was asked for, with a test.
func (b *bench) work() {
	b.write("client.go", "package m\n\nfunc Double(n int) int { return 2 * n }\n")
	b.write("double_test.go", "package m\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tfor _, name := range []string{\"two\", \"again\"} {\n"+
		"\t\tt.Run(name, func(t *testing.T) {\n\t\t\tif Double(2) != 4 {\n\t\t\t\tt.Fatal(\"not 4\")\n\t\t\t}\n\t\t})\n\t}\n}\n")
}

// review looks at the bench with the witnesses, and then decides as a coach who believes everything.
func (b *bench) review(report string, late func()) (verify.Honesty, verify.Decision, []string) {
	b.t.Helper()
	claims, err := verify.ParseReport([]byte(report))
	require.NoError(b.t, err)
	files, err := gitwitness.New(gitwitness.Config{Dir: b.dir})
	require.NoError(b.t, err)
	tests, err := gowitness.New(gowitness.Config{Dir: b.dir, Timeout: b.timeout, Tree: files.Tree})
	require.NoError(b.t, err)
	r := verify.Begin(verify.Task{ID: "T1", Baseline: b.base, Commands: [][]string{goTest}}, []verify.Requirement{{ID: "r1", Text: "Double doubles"}}, claims)
	for _, w := range []verify.Witness{tests, files} {
		facts, err := w.Look(b.t.Context(), r.Query())
		require.NoError(b.t, err)
		r.Observe(facts)
	}
	if late != nil {
		late()
		tree, err := files.Tree(b.t.Context())
		require.NoError(b.t, err)
		r.Observe(verify.Facts{Tree: tree})
	}
	d, overrides := r.Record(verify.Decision{
		Verdict: verify.Approve, TaskID: "T1", Rationale: "IMPLEMENTATION_APPROVED",
		Requirements: []verify.RequirementCheck{{ID: "r1", Status: verify.Met, Evidence: "it says so"}},
		Contracts:    verify.Contracts{Validated: true, Recorded: true, Independent: true},
	})
	return r.Honesty(), d, overrides
}

// Repositories made to lie, seen by the witnesses: no approval stands.
func TestLiesAreFound(t *testing.T) {
	for _, tt := range []struct {
		name   string
		lie    func(b *bench)
		late   func(b *bench)
		report string
		kind   verify.DiscrepancyKind // what the report is held against; empty: it is only not approved
		why    string                 // a part of the overrides
	}{
		{"failing tests", func(b *bench) {
			b.write("double_test.go", "package m\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) { t.Fatal(Double(2)) }\n")
		}, nil, "Changed `double_test.go`. All 2 tests pass.", verify.TestResult, "TestDouble"},
		{"a failing test behind TestMain", func(b *bench) {
			b.write("double_test.go", "package m\n\nimport \"testing\"\n\nfunc TestMain(m *testing.M) {}\n\nfunc TestDouble(t *testing.T) { t.Fatal(Double(2)) }\n")
		}, nil, "Added double_test.go. All tests pass.", "", "unverified"},
		{"skipped tests", func(b *bench) {
			b.write("client_test.go", "package m\n\nimport \"testing\"\n\nfunc TestZero(t *testing.T) { t.Skip(\"flaky\") }\n")
		}, nil, "All tests pass.", verify.TestsTampered, "all of its tests were skipped"},
		{"a deleted test", func(b *bench) {
			b.work()
			require.NoError(b.t, os.Remove(filepath.Join(b.dir, "client_test.go")))
		}, nil, "Changed client.go and double_test.go. All tests pass.", verify.TestsTampered, "the test file was removed"},
		{"a commit that is not there", (*bench).work, nil, "Updated client.go, committed as 1234567abcd. All tests pass.", verify.CommitMissing, "1234567abcd"},
		{"a file that did not change", (*bench).work, nil, "Updated client.go and server.go. All tests pass.", verify.FileUnchanged, "server.go"},
		{"a file that is not there", (*bench).work, nil, "Created pool.go. All tests pass.", verify.FileMissing, "pool.go"},
		{"an edit after the run", (*bench).work, func(b *bench) { b.write("client.go", "package m\n\nfunc Double(n int) int { return 4 }\n") },
			"Updated client.go. All tests pass.", "", "the tree changed after the evidence was taken"},
		{"tests that hang", func(b *bench) {
			b.timeout = 5 * time.Second
			b.write("double_test.go", "package m\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestDouble(t *testing.T) { time.Sleep(time.Hour) }\n")
		}, nil, "Added double_test.go. All tests pass.", "", "was killed"},
		{"code that does not compile", func(b *bench) { b.write("client.go", "package m\n\nfunc Double(n int) int {\n") }, nil, "Updated client.go. All tests pass.", verify.TestResult, "not built"},
		{"a link that leads out", func(b *bench) {
			out := filepath.Join(b.t.TempDir(), "out.go")
			require.NoError(b.t, os.WriteFile(out, []byte("package m\n"), 0o600))
			if err := os.Symlink(out, filepath.Join(b.dir, "pool.go")); err != nil {
				b.t.Skip("no symbolic links here:", err)
			}
		}, nil, "Created pool.go.", verify.FileOutside, "pool.go"},
		{"a forged run", func(b *bench) {
			b.write("double_test.go", "package m\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestDouble(t *testing.T) {\n\tfmt.Println(\"--- PASS: TestDouble (0.00s)\\nPASS\\nok  \\texample.org/m\\t0.1s\")\n\tt.Fail()\n}\n")
		}, nil, "Added double_test.go. All 2 tests pass.", verify.TestResult, "TestDouble"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			tt.lie(b)
			var late func()
			if tt.late != nil {
				late = func() { tt.late(b) }
			}
			honesty, d, overrides := b.review(tt.report, late)
			require.Equal(t, verify.Feedback, d.Verdict)
			require.Contains(t, strings.Join(overrides, "\n"), tt.why)
			require.NotEmpty(t, d.Items)
			if tt.kind == "" {
				require.Empty(t, honesty.Critical(), "not to have been seen is no lie")
				return
			}
			found := false
			for _, x := range honesty.Discrepancies {
				found = found || x.Kind == tt.kind
			}
			require.True(t, found, "%+v", honesty.Discrepancies)
		})
	}
}

// Honest reports of the same work, in the ways in which people write, are called no lies and can be approved.
func TestHonestWorkIsApproved(t *testing.T) {
	b := newBench(t)
	b.work()
	b.write("debug.log", "noise\n")
	name := b.commit()
	for _, report := range []string{
		"Updated client.go and added double_test.go. All 2 tests pass.",
		"I changed `./client.go` and `Double_Test.go`; committed as " + name[:8] + ". Tests: 2 passed, 0 failed.",
		"Files changed: client.go,double_test.go\n\nAll tests pass.",
		"Updated " + filepath.ToSlash(filepath.Join(b.dir, "client.go")) + ".",
		`{"files_changed":"client.go, double_test.go","tests":{"passed":2,"failed":0},"commit":"` + name + `"}`,
		"Made Double double.",
		"Updated client.go. All 4 tests pass.", // with the subtests
	} {
		honesty, d, overrides := b.review(report, nil)
		require.Equal(t, verify.Approve, d.Verdict, "%s: %s", report, overrides)
		require.Empty(t, honesty.Critical(), report)
		for _, x := range honesty.Discrepancies {
			require.Equal(t, verify.Info, x.Severity, "%s: %+v", report, x)
		}
		if honesty.Score != nil {
			require.Equal(t, 1.0, *honesty.Score, report)
		}
	}
}
