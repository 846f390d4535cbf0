package classify

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testCase is a line of testdata/cases, the one table that feeds tests, fuzz seeds and benchmarks, or of heldout.jsonl.
type testCase struct {
	Name  string `json:"name"`
	Input Input  `json:"input"`
	Want  struct {
		Type     OutputType `json:"type"`
		Rejected bool       `json:"was_rejected_completion"`
		Action   string     `json:"action"`
	} `json:"want"`
}

func loadCases(tb testing.TB, pattern string) []testCase {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	require.NoError(tb, err)
	require.NotEmpty(tb, paths)
	var cases []testCase
	for _, path := range paths {
		f, err := os.Open(path)
		require.NoError(tb, err)
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 1<<20)
		for n := 1; sc.Scan(); n++ {
			var c testCase
			require.NoError(tb, json.Unmarshal(sc.Bytes(), &c), "%s:%d", path, n)
			cases = append(cases, c)
		}
		require.NoError(tb, sc.Err())
		require.NoError(tb, f.Close())
	}
	return cases
}

func newHeuristic(tb testing.TB) *Heuristic {
	tb.Helper()
	h, err := NewHeuristic()
	require.NoError(tb, err)
	return h
}

func judge(tb testing.TB, in Input) Result {
	tb.Helper()
	r, err := newHeuristic(tb).Classify(context.Background(), in)
	require.NoError(tb, err)
	return r
}

// The cases that classifiers are known to get wrong have to be right, each of them.
func TestKnownCases(t *testing.T) {
	for _, c := range loadCases(t, "cases/known.jsonl") {
		t.Run(c.Name, func(t *testing.T) {
			r := judge(t, c.Input)
			assert.Equal(t, c.Want.Type, r.Type, "%v %v", r.Reason, r.Signals)
			assert.Equal(t, c.Want.Rejected, r.WasRejectedCompletion, r.Reason)
		})
	}
}

// figures are shares: of all cases those with the right type and rejected flag; of questions, blockers and errors those
// sent on; of completions those sent on; of statuses those sent on.
type figures struct{ right, wrongContinues, completionsContinued, caught float64 }

func measure(t *testing.T, cases []testCase) figures {
	names := map[string]bool{}
	var right, humans, wrong, completions, sentOn, statuses, caught int
	for _, c := range cases {
		assert.False(t, names[c.Name], "two cases named %s", c.Name)
		names[c.Name] = true
		require.True(t, c.Want.Type.Valid(), c.Name)
		require.Equal(t, c.Want.Type == Status, c.Want.Action == "continue", c.Name)
		r := judge(t, c.Input)
		if r.Type == c.Want.Type && r.WasRejectedCompletion == c.Want.Rejected {
			right++
		}
		goOn := r.Type == Status && r.Confidence >= DefaultThreshold
		switch c.Want.Type {
		case Status:
			statuses++
			if goOn {
				caught++
			}
		case Completion:
			completions++
			if goOn {
				sentOn++
			}
		default:
			humans++
			if goOn {
				wrong++
			}
		}
	}
	share := func(a, b int) float64 { return float64(a) / float64(b) }
	f := figures{share(right, len(cases)), share(wrong, humans), share(sentOn, completions), share(caught, statuses)}
	t.Logf("%d cases: right %.3f, wrong continues %.3f, completions continued %.3f, caught %.3f",
		len(cases), f.right, f.wrongContinues, f.completionsContinued, f.caught)
	return f
}

// Over the cases on which the weights were fitted the heuristic keeps what it has reached.
func TestFittedCases(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	f := measure(t, loadCases(t, "cases/*.jsonl"))
	assert.GreaterOrEqual(t, f.right, 0.88)
	assert.LessOrEqual(t, f.wrongContinues, 0.02)
	assert.LessOrEqual(t, f.completionsContinued, 0.03)
	assert.GreaterOrEqual(t, f.caught, 0.75)
}

// Over cases on which the weights were never fitted, too, it has to be good. Don't tune on them: write cases of the
// same kind into testdata/cases instead. Their errors were seen once, before the phrases of gap.admitted were
// written.
func TestHeldOutCases(t *testing.T) {
	f := measure(t, loadCases(t, "heldout.jsonl"))
	assert.GreaterOrEqual(t, f.right, 0.80)
	assert.LessOrEqual(t, f.wrongContinues, 0.06)
	assert.LessOrEqual(t, f.completionsContinued, 0.06)
	assert.GreaterOrEqual(t, f.caught, 0.70)
}

// Line endings, a byte order mark, trailing spaces and blank lines carry no meaning.
func TestVerdictIgnoresLayout(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	var inputs []Input
	for i, c := range loadCases(t, "cases/*.jsonl") {
		if i%12 == 0 || sweep && i%6 == 0 {
			inputs = append(inputs, c.Input)
		}
	}
	for _, text := range append(longTexts(t), strings.Repeat("Fixed it, ", 409)+"works.") {
		inputs = append(inputs, Input{Text: text})
	}
	for _, in := range inputs {
		if strings.ContainsAny(in.Text, "\r\ufeff\x00") || strings.TrimSpace(in.Text) == "" {
			continue
		}
		want := judge(t, in)
		ways := layouts(in.Text)
		ways["BOM"] = "\ufeff" + in.Text
		ways["trailing NUL"] = in.Text + "\x00"
		for name, changed := range ways {
			other := in
			other.Text = changed
			got := judge(t, other)
			assert.Equal(t, want.Type, got.Type, "%s: %.80s", name, in.Text)
			assert.Equal(t, want.WasRejectedCompletion, got.WasRejectedCompletion, "%s: %.80s", name, in.Text)
			assert.InDelta(t, want.Confidence, got.Confidence, 1e-9, "%s: %.80s", name, in.Text)
		}
	}
}

// Who asks waits: a question to the human at the end is never sent on, however hollow what stands before it. A further
// offer after a hollow claim is none.
func TestClosingQuestion(t *testing.T) {
	before := []string{
		"Fixed it, should work now.", "I've fixed the header and everything works.", "Done. I couldn't run the tests.",
		"Added the flag, updated the docs and cleaned up the config. All tests pass.",
	}
	for _, claim := range before {
		for _, q := range []string{
			"OK to deploy?", "Deploy it?", "Merge now?", "Keep the old endpoint?", "What port does staging use?",
			"Are we ready to release?", "Is the old flag still needed?", "Do you want me to deploy?", "Should I push?",
			"Shall I proceed with phase 2?", "Which of the two names do you prefer?", "Shall I delete the old table?",
			"Can you confirm the limit of 50?",
		} {
			r := judge(t, Input{Text: claim + "\n\n" + q, Request: "fix it and prepare the release"})
			assert.False(t, r.Type == Status && r.Confidence >= DefaultThreshold, "%s %s: %+v", claim, q, r)
		}
		for _, offer := range []string{"Let me know if you need anything else.", "Would you like me to add tests as well?",
			"Anything else?"} {
			r := judge(t, Input{Text: claim + "\n\n" + offer, Request: "fix the header"})
			assert.NotEqual(t, Question, r.Type, "%s %s", claim, offer)
		}
	}
}
