package verifier_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/plancriteria"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.Local)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// criteria reads a plan's criteria, and fails the test if one has other checks than it should.
func criteria(t *testing.T, checked int, lines string) []verifier.Criterion {
	t.Helper()
	c, err := plancriteria.Extract([]byte("## Success Criteria\n" + lines))
	require.NoError(t, err)
	list, n := verifier.Criteria(c), 0
	for _, c := range list {
		n += min(1, len(c.Checks))
	}
	require.Equal(t, checked, n)
	return list
}

func TestGoal(t *testing.T) {
	judge := func(answers ...verify.RequirementCheck) func(*verifier.Goal) {
		return func(g *verifier.Goal) {
			g.Judge = func(_ context.Context, _ autocontinue.Output, criteria []string) ([]verify.RequirementCheck, error) {
				assert.Len(t, criteria, len(answers))
				return answers, nil
			}
		}
	}
	for name, c := range map[string]struct {
		criteria string
		checked  int
		files    map[string]string
		change   func(*verifier.Goal)
		want     autocontinue.Goal // Results are not compared
	}{
		"met": {"- [ ] tests pass: `sh check.sh`\n- [ ] `docs/usage.md` mentions `--json`", 2,
			map[string]string{"docs/usage.md": "use --json"}, nil,
			autocontinue.Goal{Met: true, Counts: "2 of 2 met", Note: "Goal met: 2 of 2, seen at 12:00."}},
		"a test fails": {"- [x] tests pass: `sh check.sh`", 1, map[string]string{"greet.txt": "Hi"}, nil,
			autocontinue.Goal{Open: "`sh check.sh` exits with 1: greets fails", Counts: "0 of 1 met",
				Note: "Goal: 0 of 1 met. Open: `sh check.sh` exits with 1: greets fails."}},
		"many tests fail": {"- tests pass: `sh check.sh`", 1,
			map[string]string{"greet.txt": "", "tests/a.sh": "exit 1", "tests/b.sh": "exit 1", "tests/c.sh": "exit 1"}, nil,
			autocontinue.Goal{Open: "`sh check.sh` exits with 1: a, b, c and 1 more fail", Counts: "0 of 1 met"}},
		"another command fails": {"- lint is clean: `sh lint.sh`", 1,
			map[string]string{"lint.sh": "echo 'x:1: bad' >&2; exit 3"}, nil,
			autocontinue.Goal{Open: "`sh lint.sh` exits with 3: x:1: bad", Counts: "0 of 1 met"}},
		"no test ran": {"- tests pass: `sh none.sh`", 1,
			map[string]string{"none.sh": "echo 'TAP version 13'; echo 1..0"}, nil,
			autocontinue.Goal{Open: "`sh none.sh` exits with 0, but it ran no test", Counts: "0 of 1 met"}},
		"a program that is not there": {"- it builds: `no-such-program-anywhere all`", 1, nil, nil,
			autocontinue.Goal{Counts: "0 of 1 met",
				Note: "for you to check: `no-such-program-anywhere all` did not run to its end: "}},
		"no time": {"- it ends: `sh slow.sh`\n- `greet.txt` exists", 2,
			map[string]string{"slow.sh": "while :; do sleep 1; done"},
			func(g *verifier.Goal) { g.Timeout = time.Nanosecond },
			autocontinue.Goal{Counts: "1 of 2 met", Note: "for you to check: "}},
		"files": {"- `a.md` exists\n- `greet.txt` mentions `Bye`\n- `../etc/x` exists\n- `tests` has `x`", 2, nil, nil,
			autocontinue.Goal{Open: "`a.md` does not exist\n`greet.txt` does not contain `Bye`", Counts: "0 of 4 met",
				Note: "Unchecked, for you to check: `../etc/x` exists; `tests` has `x`."}},
		"a link out of the folder": {"- `out.txt` mentions `x`", 1, map[string]string{"out.txt": "-> /etc/hosts"}, nil,
			autocontinue.Goal{Open: "`out.txt` cannot be read", Counts: "0 of 1 met"}},
		"the same check twice": {"- `a.md` exists\n- `a.md` exists", 2, nil, nil,
			autocontinue.Goal{Open: "`a.md` does not exist", Counts: "0 of 2 met"}},
		"a box that the agent ticked": {"- [x] it reads well", 0, nil, nil,
			autocontinue.Goal{Counts: "0 of 1 met", Note: "Goal: 0 of 1 met. Unchecked, for you to check: it reads well."}},
		"the judge": {"- it reads well\n- it is short.\n- it is kind", 0, nil,
			judge(verify.RequirementCheck{Status: verify.Met, Evidence: "read it"},
				verify.RequirementCheck{Status: verify.NotMet, Issue: "It has 9,000 lines."},
				verify.RequirementCheck{Status: verify.Met}),
			autocontinue.Goal{Open: "it is short: It has 9,000 lines", Counts: "1 of 3 met",
				Note: "Goal: 1 of 3 met. Open: it is short: It has 9,000 lines. Unchecked, for you to check: it is kind."}},
		"a judge that fails": {"- it reads well", 0, nil, func(g *verifier.Goal) {
			g.Judge = func(context.Context, autocontinue.Output, []string) ([]verify.RequirementCheck, error) {
				return []verify.RequirementCheck{{Status: verify.Met, Evidence: "x"}}, errors.New("down")
			}
		}, autocontinue.Goal{Counts: "0 of 1 met"}},
		"no judge while a check is open": {"- `a.md` exists\n- it reads well", 1, nil, func(g *verifier.Goal) {
			g.Judge = func(context.Context, autocontinue.Output, []string) ([]verify.RequirementCheck, error) {
				panic("an unnecessary call")
			}
		}, autocontinue.Goal{Open: "`a.md` does not exist", Counts: "0 of 2 met"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			for file, text := range c.files {
				if to, ok := strings.CutPrefix(text, "-> "); ok {
					require.NoError(t, os.Symlink(to, filepath.Join(w.dir, file)))
				} else {
					w.write(file, text)
				}
			}
			g := verifier.Goal{Dir: w.dir, Criteria: criteria(t, c.checked, c.criteria), Now: func() time.Time { return noon }}
			if c.change != nil {
				c.change(&g)
			}
			v, err := g.Verify(t.Context(), autocontinue.Output{Text: "Done."}, classify.Result{Type: classify.Completion})
			require.NoError(t, err)
			assert.Empty(t, v.Status)
			assert.Contains(t, v.Goal.Note, c.want.Note)
			got := *v.Goal
			got.Results, got.Human, got.Note, c.want.Note = "", nil, "", ""
			assert.Equal(t, c.want, got)
		})
	}
}

func TestGoalRunsACommandOnceAndRemembersSince(t *testing.T) {
	w := begin(t)
	w.write("count.sh", "echo x >>count; exit $(wc -l <count)")
	var seen []verifier.Criterion
	g := verifier.Goal{Dir: w.dir,
		Criteria: criteria(t, 2, "- it passes: `sh count.sh`\n- it still passes: `sh count.sh`"),
		Now:      func() time.Time { return noon }, Seen: func(list []verifier.Criterion) { seen = list }}
	status := classify.Result{Type: classify.Status}
	v, err := g.Verify(t.Context(), autocontinue.Output{}, status)
	require.NoError(t, err)
	assert.Equal(t, "`sh count.sh` exits with 1", v.Goal.Open)
	assert.Equal(t, noon, seen[0].Since)
	first := v.Goal.Results

	g.Criteria, g.Now = seen, func() time.Time { return noon.Add(time.Hour) }
	v, err = g.Verify(t.Context(), autocontinue.Output{}, status)
	require.NoError(t, err)
	assert.Equal(t, "`sh count.sh` exits with 2", v.Goal.Open)
	assert.NotEqual(t, first, v.Goal.Results, "the result of a check changed")
	assert.Equal(t, noon, seen[0].Since, "it is still not met")

	g.Criteria = seen
	w.write("count.sh", "exit 0")
	_, err = g.Verify(t.Context(), autocontinue.Output{}, status)
	require.NoError(t, err)
	assert.Equal(t, noon.Add(time.Hour), seen[0].Since)
	assert.True(t, verifier.AllMet(seen))
}

type next struct{ asked int }

func (n *next) Verify(context.Context, autocontinue.Output, classify.Result) (autocontinue.Verification, error) {
	n.asked++
	return autocontinue.Verification{Status: autocontinue.Rejected, Feedback: "no such commit"}, nil
}

func TestGoalAndTheNextVerifier(t *testing.T) {
	w, n := begin(t), &next{}
	verify := func(lines, request string) autocontinue.Verification {
		g := verifier.Goal{Dir: w.dir, Criteria: criteria(t, 1, lines), Next: n}
		v, err := g.Verify(t.Context(), autocontinue.Output{Request: request}, classify.Result{Type: classify.Completion})
		require.NoError(t, err)
		return v
	}
	assert.Empty(t, verify("- `a.md` exists", "Work").Status)
	assert.Zero(t, n.asked, "the open criterion is enough")
	v := verify("- `greet.txt` exists", "Work")
	assert.Equal(t, autocontinue.Rejected, v.Status, "a goal that is met does not make a lie true")
	assert.True(t, v.Goal.Met)
	assert.Nil(t, verify("- `a.md` exists", "What does Add do?").Goal, "an answer is not held to the goal")
	assert.Equal(t, 2, n.asked)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := verifier.Goal{Dir: w.dir, Criteria: criteria(t, 1, "- it passes: `sh check.sh`")}
	_, err := g.Verify(ctx, autocontinue.Output{}, classify.Result{})
	require.ErrorIs(t, err, context.Canceled)
}

func ExampleGoal() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	plan := []byte("# Plan\n## Success Criteria\n- [x] `usage.md` mentions `--json`\n")
	criteria, _ := plancriteria.Extract(plan)
	heuristic, _ := classify.NewHeuristic()
	loop, _ := autocontinue.New(autocontinue.Config{
		Classifier: heuristic,
		Verifier:   verifier.Goal{Dir: dir, Criteria: verifier.Criteria(criteria)},
	})
	for _, text := range []string{"", "Use --json."} {
		if text != "" {
			_ = os.WriteFile(filepath.Join(dir, "usage.md"), []byte(text), 0o600)
		}
		d, _ := loop.Handle(context.Background(), autocontinue.Output{
			Session: "chat-1", Text: "Documented the flag. `go test ./...`: 42 passed, 0 failed, exit code 0.",
		})
		fmt.Println(d.Action, d.Reason, d.Goal)
	}
	// Output:
	// continue rejected_completion 0 of 1 met
	// deliver completion 1 of 1 met
}
