package autocontinue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// throughJSON is what an engine does with what an activity returns.
func throughJSON[T any](t *testing.T, v T) T {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	var out T
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// TestJudgeIsHandle lets a host that keeps the state itself, as JSON, decide what Handle decides.
func TestJudgeIsHandle(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	plan := "# Plan\n\n## Success Criteria\n\n- [ ] the page of the cart answers in 50 ms\n- [x] the index exists\n"
	read := make(map[string]classify.Result) // the same input has the same result
	a := newLoop(t, Config{
		Classifier: classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
			key := fmt.Sprintf("%+v", in)
			if r, ok := read[key]; ok {
				return r, nil
			}
			r, err := heuristic.Classify(ctx, in)
			read[key] = r
			return r, err
		}),
		Plans: fstest.MapFS{"plan.md": {Data: []byte(plan)}},
		Verifier: verifierFunc(func(out Output, _ classify.Result) (Verification, error) {
			switch len(out.Run) % 3 {
			case 0:
				return Verification{Status: Rejected, Feedback: "cart.go was not changed\nno test ran"}, nil
			case 1:
				return Verification{}, errors.New("no witness")
			}
			return Verification{Status: Verified, Note: "git agrees"}, nil
		}),
	})
	texts := []string{
		"Done! The cart is faster and everything should work now.", "All tests pass now.",
		"I've read cart.go and found where the time goes. Next I'll add the index and measure.",
		"Fixed.\n\n```\n$ go test ./...\nok  \texample.com/cart\t0.2s\n```\nAll 42 tests pass, committed as 4f2a91c.",
		"Should I drop the old column, or keep it?", "API Error: 529 overloaded", " ",
	}
	seen := make(map[Reason]bool)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		session := fmt.Sprint("s", seed)
		var s State
		for i := range 25 {
			out := Output{
				Session: session, Turn: fmt.Sprint("t", i/7), Run: fmt.Sprint("run", r.IntN(60)), ID: fmt.Sprint("out", r.IntN(80)),
				Text: texts[r.IntN(len(texts))], Request: "implement the cart's index", Failed: r.IntN(20) == 0,
			}
			switch r.IntN(4) {
			case 0:
				out.PlanFile = "plan.md"
			case 1:
				out.PlanFile = "gone.md"
			case 2:
				out.Evidence = []classify.Evidence{{Kind: classify.EvidenceTests, Text: "42 passed"}, {Kind: "odd"}}
			}
			want, err := a.Handle(t.Context(), out)
			require.NoError(t, err)

			got, next, ok := Known(s, out)
			if !ok {
				f, err := a.Judge(t.Context(), out, s)
				require.NoError(t, err)
				got, next = Decide(Policy{}, s, throughJSON(t, f))
			}
			require.Empty(t, cmp.Diff(throughJSON(t, want), throughJSON(t, got)))
			s = throughJSON(t, next)
			require.True(t, s.Equal(next))
			seen[got.Reason] = true
		}
	}
	for _, reason := range []Reason{
		"run_closed", "same_text", "superseded", "crash_guard", "question", "completion",
		"waiting", "cap", "rejected_completion", "progress", "empty",
	} {
		assert.True(t, seen[reason], "no session met %s", reason)
	}
}

func TestJudgeFails(t *testing.T) {
	a := newLoop(
		t,
		Config{Classifier: classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
			return classify.Result{}, errBoom
		})},
	)
	out := Output{Session: "s", Run: "r", ID: "o", Text: "Done."}
	_, err := a.Judge(t.Context(), Output{}, State{})
	require.ErrorIs(t, err, ErrNoSession)
	_, err = a.Judge(t.Context(), out, State{})
	require.ErrorIs(t, err, errBoom)

	want, err := a.Handle(t.Context(), out)
	require.ErrorIs(t, err, errBoom)
	got, s := Decide(Policy{}, State{}, Facts{Output: out})
	assert.Equal(t, want, got)
	assert.True(t, s.Equal(State{}))

	for _, r := range []classify.Result{
		{Type: "done", Confidence: 1},
		{Type: classify.Status, Confidence: math.NaN()},
		{Type: classify.Status, Confidence: 90},
		{Type: classify.Completion, Confidence: 1, WasRejectedCompletion: true},
		{Type: classify.Status, Confidence: 1, Signals: []classify.Signal{{End: 1, Weight: math.NaN()}}},
		{Type: classify.Status, Confidence: 1, Signals: []classify.Signal{{End: 1, Weight: math.Inf(-1)}}},
	} {
		a := newLoop(t, Config{Classifier: judgeAs(r)})
		_, err := a.Judge(t.Context(), out, State{})
		require.Error(t, err, "%+v is an error of the classifier", r)
		d, err := a.Handle(t.Context(), out)
		require.Error(t, err)
		_, err = json.Marshal(d)
		require.NoError(t, err, "every decision has to be written down")
	}
}
