package verifier_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
)

// check runs the scripts in tests, and prints TAP.
const check = `echo "TAP version 13"
n=0
for t in tests/*.sh; do
	n=$((n+1))
	if sh "$t"; then echo "ok $n - $(basename "$t" .sh)"; else echo "not ok $n - $(basename "$t" .sh)"; bad=1; fi
done
echo "1..$n"
exit ${bad:-0}
`

var sh = []string{"sh", "check.sh"}

// work is a repository in which an agent works.
type work struct {
	t    *testing.T
	dir  string
	base string
}

// first is the repository in which the work begins.
var first struct {
	sync.Once
	files fstest.MapFS
	base  string
}

// begin makes a repository with a test that passes. Git makes the first, and the others are copies.
func begin(t *testing.T) *work {
	t.Helper()
	needs(t, "git", "sh")
	w := &work{t: t, dir: t.TempDir()}
	first.Do(func() {
		w := &work{t: t, dir: t.TempDir()}
		w.write("check.sh", check)
		w.write("greet.txt", "Hello\n")
		w.write("tests/greets.sh", "grep -q Hello greet.txt\n")
		w.write(".gitignore", "*.log\n")
		shell(t, w.dir, "git init -qb main")
		w.commit()
		first.files, first.base = fstest.MapFS{}, w.base
		require.NoError(t, fs.WalkDir(os.DirFS(w.dir), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			file := &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			if !e.IsDir() {
				text, err := os.ReadFile(filepath.Join(w.dir, name))
				require.NoError(t, err)
				file = &fstest.MapFile{Mode: 0o644, Data: text}
			}
			first.files[name] = file
			return nil
		}))
	})
	require.NoError(t, os.CopyFS(w.dir, first.files))
	w.base = first.base
	return w
}

func (w *work) write(name, text string) {
	w.t.Helper()
	full := filepath.Join(w.dir, filepath.FromSlash(name))
	require.NoError(w.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(w.t, os.WriteFile(full, []byte(text), 0o644))
}

// commit commits everything, as the baseline.
func (w *work) commit() {
	w.t.Helper()
	shell(w.t, w.dir, "git add -A; git commit -qm c")
	head, err := os.ReadFile(filepath.Join(w.dir, ".git/refs/heads/main"))
	require.NoError(w.t, err)
	w.base = strings.TrimSpace(string(head))
}

func (w *work) config() *verifier.Verifier {
	return &verifier.Verifier{Dir: w.dir, Commands: [][]string{sh}, Baseline: w.base}
}

func (w *work) verify(cfg *verifier.Verifier, text string) autocontinue.Verification {
	w.t.Helper()
	return w.verifyPlan(cfg, text, "")
}

func (w *work) verifyPlan(cfg *verifier.Verifier, text, plan string) autocontinue.Verification {
	w.t.Helper()
	v := cfg
	got, err := v.Verify(w.t.Context(), autocontinue.Output{Session: "s", Text: text, PlanFile: plan},
		classify.Result{Type: classify.Completion})
	require.NoError(w.t, err)
	return got
}

func TestConfigurationsThatMakeNoSense(t *testing.T) {
	for _, v := range []*verifier.Verifier{{}, {Dir: ".", Commands: [][]string{{""}}},
		{Dir: ".", Commands: [][]string{{"true"}}, Timeout: -1}} {
		_, err := v.Review(t.Context(), verify.Task{}, nil, verify.Report{})
		require.Error(t, err)
	}
}

// In the loop, what does not hold is coached, what holds is verified, and what could not be seen is said.
func TestInTheLoop(t *testing.T) {
	const done = "Updated greet.txt. Ran `sh check.sh`: 1 passed, 0 failed, exit code 0."
	for name, tt := range map[string]struct {
		text    string
		command []string
		want    autocontinue.Decision
		says    string
	}{
		"false": {"Hi\n", sh, autocontinue.Decision{Action: autocontinue.Continue, Tier: "verify"}, "greets"},
		"true": {"Hello, you\n", sh, autocontinue.Decision{Action: autocontinue.Deliver,
			Verified: autocontinue.Verified}, ""},
		"not there": {"Hello, you\n", []string{"no-such-program-anywhere"},
			autocontinue.Decision{Action: autocontinue.Deliver, Verified: autocontinue.Unverified}, "It could not be verified."},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t)
			w.write("greet.txt", tt.text)
			cfg := w.config()
			cfg.Commands = [][]string{tt.command}
			v := cfg
			heuristic, err := classify.NewHeuristic()
			require.NoError(t, err)
			ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic, Verifier: v})
			require.NoError(t, err)
			d, err := ac.Handle(t.Context(), autocontinue.Output{Session: "s", Text: done})
			require.NoError(t, err)
			assert.Equal(t, tt.want, autocontinue.Decision{Action: d.Action, Tier: d.Tier, Verified: d.Verified}, d.Note)
			assert.Contains(t, d.Message+d.Note, tt.says, d.Note)
		})
	}
}

func TestNothingToVerify(t *testing.T) {
	w := begin(t)
	cfg := w.config()
	cfg.Commands = nil
	assert.Zero(t, w.verify(cfg, "A mutex guards the map."))

	state := t.TempDir()
	require.NoError(t, verifier.Remember(t.Context(), state, "s", w.dir))
	w.write("check.sh", "touch ran.log\n")
	s := verifier.Recall(state, "s")
	cfg = &verifier.Verifier{Dir: w.dir, Commands: [][]string{sh}, Base: s.Last}
	w.write("check.sh", check)
	for _, answer := range []string{"A mutex guards the map.", "`check.sh` reads `greet.txt`, and `touch` is not called there."} {
		assert.Zero(t, w.verify(cfg, answer), "nothing changed since the human spoke")
	}
	assert.Equal(t, autocontinue.Rejected, w.verify(cfg, "Fixed `greet.txt`.").Status, "nothing changed")
	w.write("greet.txt", "Hi\n")
	assert.Equal(t, autocontinue.Rejected, w.verify(cfg, "A mutex guards the map.").Status)
	v := cfg
	got, err := v.Verify(t.Context(), autocontinue.Output{Session: "s", Text: "All tests pass."},
		classify.Result{Type: classify.Status})
	require.NoError(t, err)
	assert.Zero(t, got, "it is not done")
}

// What failed before is not the agent's, what it broke is.
func TestFailuresOfTheBaseline(t *testing.T) {
	const red = "exit 1\n"
	for name, tt := range map[string]struct {
		before, do func(w *work)
		report     string
		want       autocontinue.VerificationStatus
		says       string
	}{
		"red before": {func(w *work) { w.write("tests/red.sh", red) }, func(w *work) { w.write("greet.txt", "Hello, you\n") },
			"Updated greet.txt.", autocontinue.Unverified, "red"},
		"red before, and called green": {func(w *work) { w.write("tests/red.sh", red) }, func(w *work) {
			w.write("greet.txt",
				"Hello, you\n")
		},
			"Updated greet.txt. All tests pass.", autocontinue.Unverified, "it fails as it did before the work: red"},
		"broken": {func(w *work) { w.write("tests/red.sh", red) }, func(w *work) { w.write("greet.txt", "Hi\n") },
			"Updated greet.txt.", autocontinue.Rejected, "greets"},
		"a new test that fails": {func(w *work) { w.write("README.md", "x\n") }, func(w *work) {
			w.write("tests/new.sh",
				red)
		},
			"Added tests/new.sh.", autocontinue.Unverified, "new"},
		"a baseline that cannot run": {func(w *work) { w.write("check.sh", "exec no-such-program-anywhere\n") },
			func(w *work) {
				w.write("check.sh", check)
				w.write("tests/red.sh", red)
			}, "Updated check.sh.", autocontinue.Unverified, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t)
			tt.before(w)
			w.commit()
			tt.do(w)
			v := w.verify(w.config(), tt.report)
			assert.Equal(t, tt.want, v.Status, "%+v", v)
			assert.Equal(t, strings.HasPrefix(name, "red before"), v.Checked, "nothing new failed")
			assert.Contains(t, v.Feedback+v.Note, tt.says)
			if tt.want == autocontinue.Rejected && name == "broken" {
				assert.NotContains(t, v.Feedback, "red", "it failed before")
				assert.Equal(t, []string{"`sh check.sh`"}, v.Human)
			}
		})
	}
}

// Tests that moved must still run: the baseline says which ran before.
func TestMovedTests(t *testing.T) {
	for to, want := range map[string]autocontinue.VerificationStatus{
		"tests/hello.sh": autocontinue.Verified, "tests/old/greets.sh": autocontinue.Unverified,
	} {
		w := begin(t)
		w.write("tests/exists.sh", "test -e greet.txt\n")
		w.commit()
		w.write("greet.txt", "Hello, you\n")
		shell(t, w.dir, "mkdir -p tests/old; git mv tests/greets.sh "+to)
		v := w.verify(w.config(), "Updated greet.txt. All tests pass.")
		assert.Equal(t, want, v.Status, "%s: %+v", to, v)
	}
}

// A test that something skips is found by the numbers of the baseline.
func TestSkippedBySomething(t *testing.T) {
	w := begin(t)
	w.write("tests/lib.txt", "\n")
	w.write("check.sh", "echo 1..2\necho ok 1\necho \"ok 2 $(cat tests/lib.txt)\"\n")
	w.commit()
	w.write("greet.txt", "Hello, you\n")
	w.write("tests/lib.txt", "# SKIP\n")
	v := w.verify(w.config(), "Updated greet.txt and tests/lib.txt. All tests pass.")
	assert.Equal(t, autocontinue.Unverified, v.Status)
	assert.Contains(t, v.Note, "runs 1 tests fewer than it should")
}

// A test that fails once and passes the second time shows nothing.
func TestFailureThatDoesNotComeBack(t *testing.T) {
	w := begin(t)
	mark := filepath.Join(t.TempDir(), "mark")
	w.write("tests/flaky.sh", "test -e greet.flag || exit 0; test -e '"+mark+"' && exit 0; touch '"+mark+"'; exit 1\n")
	w.commit()
	w.write("greet.flag", "x\n")
	v := w.verify(w.config(), "Added greet.flag.")
	assert.Equal(t, autocontinue.Unverified, v.Status)
	assert.Contains(t, v.Note, "did not fail in the same way a second time")
}

// The baseline runs once for a tree, a command and an environment.
func TestBaselineIsCached(t *testing.T) {
	w := begin(t)
	count := filepath.Join(t.TempDir(), "count")
	w.write("check.sh", "pwd >>'"+count+"'\n"+check)
	w.commit()
	w.write("greet.txt", "Hi\n")
	cfg := w.config()
	cfg.Cache = t.TempDir()
	elsewhere := func() (n int) {
		text, err := os.ReadFile(count)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if dir, err := filepath.EvalSymlinks(w.dir); err == nil && strings.TrimSpace(line) != dir {
				n++
			}
		}
		return n
	}
	for range 2 {
		require.Equal(t, autocontinue.Rejected, w.verify(cfg, "Updated greet.txt.").Status)
		assert.Equal(t, 1, elsewhere())
	}
	t.Setenv("GREETING", "x")
	require.Equal(t, autocontinue.Rejected, w.verify(cfg, "Updated greet.txt.").Status)
	assert.Equal(t, 2, elsewhere(), "another environment is another run")
}

// A path in the environment that leads to the work leads to the baseline there.
func TestPathsOfTheBaseline(t *testing.T) {
	w := begin(t)
	w.write("lib/mode.sh", "mode=good\n")
	w.write("tests/mode.sh", ". \"$LIB_PATH/mode.sh\"; test $mode = good\n")
	w.commit()
	t.Setenv("LIB_PATH", filepath.Join(w.dir, "lib"))
	w.write("lib/mode.sh", "mode=bad\n")
	v := w.verify(w.config(), "Updated lib/mode.sh.")
	assert.Equal(t, autocontinue.Rejected, v.Status, "%+v", v)
	assert.Contains(t, v.Feedback, "mode")
}

// A run that did not get everything may fail for that.
func TestWithheldVariables(t *testing.T) {
	w := begin(t)
	w.write("tests/token.sh", "test \"$GREET_TOKEN\" = x\n")
	w.write("greet.txt", "Hello, you\n")
	t.Setenv("GREET_TOKEN", "x")
	v := w.verify(w.config(), "Updated greet.txt. All tests pass.")
	assert.Equal(t, autocontinue.Unverified, v.Status, "%+v", v)
	assert.Contains(t, v.Note, "GREET_TOKEN")
	cfg := w.config()
	cfg.Environment.Pass = []string{"GREET_TOKEN"}
	assert.Equal(t, autocontinue.Verified, w.verify(cfg, "Updated greet.txt. All tests pass.").Status)
}

// What was compared by its words alone is said beside a verified claim.
func TestStatementsBesideAVerifiedClaim(t *testing.T) {
	w := begin(t)
	w.write("greet.txt", "Hello, you\n")
	v := w.verify(w.config(), "Updated greet.txt: it says `Hello, you`. All tests pass.")
	assert.Equal(t, autocontinue.Verified, v.Status, v.Note)
	assert.Equal(t, "Of one statement, only the words were compared with the change.", v.Note)
}

// What runs write on their own, such as caches, does not matter. A program or a test that changed does, and is named.
func TestFilesThatRunsWrite(t *testing.T) {
	for file, want := range map[string]autocontinue.VerificationStatus{
		"coverage.out": autocontinue.Verified, "noise.log": autocontinue.Verified, "package-lock.json": autocontinue.Verified,
		".pytest_cache/v/lastfailed": autocontinue.Verified, "tests/greets.sh": autocontinue.Unverified,
		"lib/code.py": autocontinue.Unverified,
	} {
		t.Run(file, func(t *testing.T) {
			w := begin(t)
			w.write("lib/code.py", "x = 1\n")
			w.write("check.sh", "mkdir -p .pytest_cache/v; echo '# x' >>"+file+"\n"+check)
			w.commit()
			w.write("greet.txt", "Hello, you\n")
			v := w.verify(w.config(), "Updated greet.txt. All tests pass.")
			assert.Equal(t, want, v.Status, "%+v", v)
			if want == autocontinue.Unverified {
				assert.Contains(t, v.Note, file)
			}
		})
	}
}

func TestRunsThatHangOrFlood(t *testing.T) {
	w := begin(t)
	w.write("hang.sh", "sleep 600\n")
	w.write("flood.sh", "true\n")
	w.commit()
	w.write("flood.sh", "head -c 5000000 /dev/zero; exit 1\n")
	cfg := w.config()
	cfg.Commands, cfg.Timeout = [][]string{{"sh", "hang.sh"}}, 500*time.Millisecond
	v := w.verify(cfg, "All tests pass.")
	assert.Equal(t, autocontinue.Unverified, v.Status, "its end was not seen")
	assert.Contains(t, v.Note, "still running")
	cfg.Commands, cfg.Timeout = [][]string{{"sh", "flood.sh"}}, 0
	v = w.verify(cfg, "All tests pass.")
	assert.Equal(t, autocontinue.Rejected, v.Status)
	assert.Less(t, len(v.Feedback), 4096)
}

// The agent can write the plan: no command of it is run.
func TestPlan(t *testing.T) {
	w := begin(t)
	w.write("greet.txt", "Hello, you\n")
	const forged, fine = "## Success Criteria\n\n- [x] Done: `touch ran.txt`\n",
		"## Success Criteria\n\n- [ ] Tests pass: `sh check.sh`\n"
	plan := func(text string) fs.FS { return fstest.MapFS{"plan.md": {Data: []byte(text)}} }
	for name, tt := range map[string]struct {
		plans fs.FS
		want  autocontinue.VerificationStatus
		says  string
	}{
		"a criterion that holds":  {plan(fine), autocontinue.Verified, "The plan was read as it is now."},
		"a command of the plan's": {plan(forged), autocontinue.Unverified, "touch ran.txt"},
		"a plan without criteria": {plan("# x"), autocontinue.Unverified, "The plan could not be read."},
		"no plan":                 {fstest.MapFS{}, autocontinue.Unverified, "The plan could not be read."},
		"no folder of plans":      {nil, autocontinue.Unverified, "The plan could not be read."},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := w.config()
			cfg.Plans = tt.plans
			v := w.verifyPlan(cfg, "Updated greet.txt.", "plan.md")
			assert.Equal(t, tt.want, v.Status, "%+v", v)
			assert.Contains(t, v.Note, tt.says)
			assert.NoFileExists(t, filepath.Join(w.dir, "ran.txt"))
		})
	}
}

func TestSessions(t *testing.T) {
	w := begin(t)
	state := t.TempDir()
	assert.Zero(t, verifier.Recall(state, "s"))
	w.write("docs/a.md", "x\n")
	require.NoError(t, verifier.Remember(t.Context(), state, "s", w.dir))
	first := verifier.Recall(state, "s")
	require.NotNil(t, first.Last)
	assert.Equal(t, first.First, first.Last)

	w.write("greet.txt", "Hello, you\n")
	require.NoError(t, verifier.Remember(t.Context(), state, "s", filepath.Join(w.dir, "docs")))
	second := verifier.Recall(state, "s")
	assert.Equal(t, first.Root, second.Root, "the folder of the project")
	assert.Equal(t, first.First, second.First)
	assert.NotEqual(t, first.Last.Tree, second.Last.Tree)
	assert.Zero(t, verifier.Recall(state, "another"))

	err := verifier.Remember(t.Context(), state, "nowhere", t.TempDir())
	require.ErrorContains(t, err, "it is not in a git repository")
	assert.Nil(t, verifier.Recall(state, "nowhere").Last)

	folders, err := filepath.Glob(filepath.Join(state, "verify", "*"))
	require.NoError(t, err)
	require.Len(t, folders, 2)
	for _, f := range folders {
		old := time.Now().Add(-31 * 24 * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(f, "session.json"), old, old))
	}
	require.NoError(t, verifier.Remember(t.Context(), state, "new", w.dir))
	assert.Zero(t, verifier.Recall(state, "s"), "it is 30 days old")
	assert.NotZero(t, verifier.Recall(state, "new"))
}

func TestContextEndsIt(t *testing.T) {
	w := begin(t)
	v := w.config()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := v.Verify(ctx, autocontinue.Output{Session: "s", Text: "All tests pass."}, classify.Result{})
	require.ErrorIs(t, err, context.Canceled)
}

func ExampleVerifier_Review() {
	v := &verifier.Verifier{Dir: ".", Commands: [][]string{{"go", "version"}}}
	report, err := verify.ParseReport([]byte("Created no/such/file.go."))
	if err != nil {
		fmt.Println(err)
		return
	}
	review, err := v.Review(context.Background(), verify.Task{ID: "T7"}, nil, report)
	if err != nil {
		fmt.Println(err)
		return
	}
	status, _ := review.Standing()
	fmt.Println(status)
	// Output: not_met
}
