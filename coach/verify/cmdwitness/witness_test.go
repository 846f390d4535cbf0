package cmdwitness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestLook(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	const good = `<testsuite><testcase name="a"/><testcase name="b"><skipped/></testcase></testsuite>`
	for _, tt := range []struct {
		name    string
		command []string
		want    verify.Status
		why     string
		numbers [4]int // total, passed, failed, skipped
	}{
		{"success", as(t, "exit", "0"), verify.Met, "", [4]int{}},
		{"failure", as(t, "exit", "1"), verify.NotMet, "it ended with exit status 1", [4]int{}},
		{"not to be run", as(t, "exit", "127"), verify.Unverified, "it could not be run: exit status 127", [4]int{}},
		{"timeout(1)", as(t, "exit", "124"), verify.Unverified, "it was interrupted: exit status 124", [4]int{}},
		{"killed, says a shell", as(t, "exit", "137"), verify.Unverified, "it was interrupted: exit status 137", [4]int{}},
		{"crashed, says a shell", as(t, "exit", "139"), verify.NotMet, "it ended with exit status 139", [4]int{}},
		{"not installed", []string{"no-such-program-here"}, verify.Unverified,
			"no-such-program-here is not installed, or not in the PATH", [4]int{}},
		{"hangs", as(t, "hang"), verify.Unverified, "it was still running after 300ms, and was killed", [4]int{}},

		{"TAP", as(t, "say", "1..2\nok 1\nok 2 # skip\n"), verify.Met, "", [4]int{2, 1, 0, 1}},
		{"TAP that failed", as(t, "say", "1..2\nok 1\nnot ok 2 - b\n"), verify.NotMet, "1 of 2 tests failed", [4]int{2, 1, 1,
			0}},
		{"TAP without end", as(t, "say", "TAP version 13\n1..2\nok 1\n"), verify.Unverified,
			"its report cannot be believed: the plan is for 2 tests, and there are 1", [4]int{1, 1, 0, 0}},
		{"TAP that skipped all", as(t, "say", "TAP version 13\n1..1\nok 1 # SKIP\n"), verify.Unverified,
			"no test passed: all were skipped", [4]int{1, 0, 0, 1}},
		{"TAP of nothing", as(t, "say", "TAP version 13\n1..0\n"), verify.Unverified, "it ran no test", [4]int{}},
		{"TAP without version, of nothing", as(t, "say", "1..0 # skip all\n"), verify.Unverified, "it ran no test", [4]int{}},
		{"TAP without version, and its tests", as(t, "say", "1..10\n"), verify.Unverified, "it ran no test", [4]int{}},
		{"words that look like failed TAP", as(t, "say", "not ok yet, but soon\nall good\n"), verify.Unverified,
			`it says "not ok", without the plan that a report has`, [4]int{}},
		{"words that look like TAP", as(t, "say", "ok\nall good\n"), verify.Met, "", [4]int{}},

		{"JUnit", as(t, "report", "{report}", good), verify.Met, "", [4]int{2, 1, 0, 1}},
		{"JUnit that failed", as(t, "report", "{report}", `<testsuite><testcase name="a"><error/></testcase></testsuite>`),
			verify.NotMet, "1 of 1 tests failed", [4]int{1, 0, 1, 0}},
		{"JUnit of nothing", as(t, "report", "{report}", `<testsuites/>`), verify.Unverified, "it ran no test", [4]int{}},
		{"JUnit cut off", as(t, "report", "{report}", good[:30]), verify.Unverified, "its JUnit report cannot be read",
			[4]int{}},
		{"a summary", as(t, "say", "== 3 passed, 1 skipped in 0.1s ==\n"), verify.Met, "", [4]int{4, 3, 0, 1}},
		{"a summary of nothing", as(t, "say", "Ran 0 tests in 0.000s\n\nOK\n"), verify.Unverified, "it ran no test",
			[4]int{}},
		{"failures behind an exit status of 0", as(t, "say", "1 passed, 2 failed\n"), verify.NotMet, "2 of 3 tests failed",
			[4]int{3, 1, 2, 0}},
		{"pytest is not installed", as(t, "fail", "python: No module named pytest\n"), verify.Unverified,
			"there is nothing to run: No module named pytest", [4]int{}},
		{"no such target", as(t, "fail", "make: *** No rule to make target 'test'.  Stop.\n"), verify.Unverified,
			"there is nothing to run: No rule to make target", [4]int{}},
		{"no report", as(t, "say", "--junitxml={report}"), verify.Unverified, "it wrote no report", [4]int{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			timeout := time.Minute
			if tt.name == "hangs" {
				timeout = 300 * time.Millisecond
			}
			w := &Witness{Dir: t.TempDir(), Timeout: timeout}
			facts, err := w.Look(t.Context(), verify.Query{Commands: [][]string{tt.command}})
			require.NoError(t, err)
			require.Len(t, facts.Runs, 1)
			f := facts.Runs[0]
			assert.Equal(t, tt.want, f.Status, f.Why)
			assert.Equal(t, tt.why, f.Why)
			assert.Equal(t, tt.command, f.Command, "as it was asked")
			assert.Equal(t, tt.numbers, [4]int{f.Total, f.Passed, f.Failed, f.Skipped})
			assert.Equal(t, f.Total > 0, f.Counted)
		})
	}
}

func TestReportFileIsNotLeftBehind(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, folder)
	}
	w := &Witness{Dir: t.TempDir()}
	_, err := w.Look(t.Context(), verify.Query{Commands: [][]string{as(t, "report", "{report}", "<testsuite/>")}})
	require.NoError(t, err)
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestLookRunsItsCommands(t *testing.T) {
	w := &Witness{Dir: t.TempDir()}
	facts, err := w.Look(t.Context(), verify.Query{Commands: [][]string{nil, as(t, "say", "mine")}})
	require.NoError(t, err)
	require.Len(t, facts.Runs, 1)
	assert.Equal(t, "mine\n", facts.Runs[0].Output)
}

func TestReportsOfMavenAndGradle(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	write(
		"gradlew",
		"#!/bin/sh\nmkdir -p app/build/test-results/test\necho '<testsuite><testcase name=\"a\"/><testcase "+
			"name=\"b\"/></testsuite>' >app/build/test-results/test/TEST-a.xml\n",
	)
	write("build/test-results/test/TEST-old.xml", `<testsuite><testcase name="x"><failure/></testcase></testsuite>`)
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "build/test-results/test/TEST-old.xml"), old, old))
	w := &Witness{Dir: dir}
	facts, err := w.Look(t.Context(), verify.Query{Commands: [][]string{{filepath.Join(dir, "gradlew"), "test"}}})
	require.NoError(t, err)
	assert.Equal(t, 2, facts.Runs[0].Passed)
	assert.Equal(t, verify.Met, facts.Runs[0].Status)
}

func TestMissingCommands(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"scripts":{"build":"x"}}`), 0o600))
	w := &Witness{Dir: dir}
	facts, err := w.Look(t.Context(), verify.Query{Claimed: [][]string{{"npm", "run", "lint"}, {"npm", "run", "build"}}})
	require.NoError(t, err)
	assert.Equal(t,
		[]verify.Run{{Command: []string{"npm", "run", "lint"}, Exit: -1, Why: "package.json has no script lint"}},
		facts.Missing)
}

func TestRoot(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	deep := filepath.Join(dir, "docs", "deep")
	require.NoError(t, os.MkdirAll(deep, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o700))
	assert.Equal(t, dir, Root(deep), "the repository")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "package.json"), []byte("{}"), 0o600))
	assert.Equal(t, filepath.Join(dir, "docs"), Root(deep), "the project")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o600))
	assert.Equal(t, dir, Root(deep), "the outermost project")
	command, by := Find(dir)
	assert.Equal(t, []string{"go", "test", "./..."}, command)
	assert.Equal(t, "go.mod", by)
}

func TestLookEndsWithItsContext(t *testing.T) {
	w := &Witness{Dir: t.TempDir()}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := w.Look(ctx, verify.Query{Commands: [][]string{as(t, "hang")}})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestBadBounds(t *testing.T) {
	for want, w := range map[string]*Witness{
		"cmdwitness: the folder to run in is not set": {},
		"cmdwitness: the timeout is negative":         {Dir: ".", Timeout: -1},
	} {
		_, err := w.Look(t.Context(), verify.Query{Commands: [][]string{{"go", "version"}}})
		assert.EqualError(t, err, want)
	}
}

func ExampleWitness_Look() {
	w := &Witness{Dir: "."}
	facts, err := w.Look(context.Background(), verify.Query{Commands: [][]string{{"no-such-linter", "--strict"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(facts.Runs[0].Status, "-", facts.Runs[0].Why)
	// Output: unverified - no-such-linter is not installed, or not in the PATH
}

func ExampleRun() {
	r, err := Run(context.Background(), Command{Args: []string{"go", "version"}, Dir: "."})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Exit, strings.HasPrefix(r.Output, "go version go"))
	// Output: 0 true
}
