package autocontinue

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/skills"
)

func TestMisuseIsAnError(t *testing.T) {
	a := newLoop(t, Config{Classifier: judgeAs(progress)})
	d, err := a.Handle(t.Context(), Output{Text: "a"})
	require.ErrorIs(t, err, ErrNoSession)
	assert.Equal(t, []any{Deliver, Outcome("needs_human"), Reason("error")}, []any{d.Action, d.Outcome, d.Reason})
	_, err = a.Judge(t.Context(), Output{Text: "a"}, State{})
	require.ErrorIs(t, err, ErrNoSession)
	require.ErrorIs(t, a.Reset(t.Context(), ""), ErrNoSession)
	var none context.Context
	for _, bad := range []*AutoContinue{{}, nil, a} {
		d, err = bad.Handle(none, Output{Session: "s", Text: "a"})
		require.ErrorIs(t, err, errNil)
		assert.Equal(t, []any{Deliver, Outcome("needs_human"), Reason("error")}, []any{d.Action, d.Outcome, d.Reason})
		_, err = bad.Judge(none, Output{Session: "s", Text: "a"}, State{})
		require.ErrorIs(t, err, errNil)
		require.ErrorIs(t, bad.Reset(none, "s"), errNil)
	}
	_, err = NewMemoryStore(0).Load(none, "s")
	require.ErrorIs(t, err, errNil)
	require.ErrorIs(t, NewMemoryStore(0).Update(none, "s", nil), errNil)
	require.ErrorIs(t, NewMemoryStore(0).Update(t.Context(), "s", nil), errNil)
	var nilFunc classify.ClassifierFunc
	for name, cfg := range map[string]Config{
		"no classifier":   {},
		"nil func":        {Classifier: nilFunc},
		"nil heuristic":   {Classifier: (*classify.Heuristic)(nil)},
		"nil store":       {Classifier: judgeAs(progress), Store: (*MemoryStore)(nil)},
		"nil verifier":    {Classifier: judgeAs(progress), Verifier: verifierFunc(nil)},
		"journal of nil":  {Classifier: judgeAs(progress), Observer: NewJournal(nil)},
		"of nothing":      {Classifier: judgeAs(progress), Observer: NewJournal((*bytes.Buffer)(nil))},
		"policy, count":   {Classifier: judgeAs(progress), Policy: Policy{MaxContinues: 1001}},
		"policy, no gate": {Classifier: judgeAs(progress), Policy: Policy{MinConfidence: 1.1}},
	} {
		_, err := New(cfg)
		assert.Error(t, err, name)
	}
}

func TestPanicsAreErrors(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	judge := classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) { panic(errBoom) })
	a := newLoop(t, Config{Classifier: judge, Logger: logger})
	d, err := a.Handle(t.Context(), Output{Session: "s", Text: "a"})
	require.ErrorContains(t, err, "autocontinue: classify: panic: boom")
	assert.Equal(t, []any{Deliver, Reason("error")}, []any{d.Action, d.Reason})
	assert.Contains(t, log.String(), "misuse_test.go", "the log has the stack")

	a = newLoop(
		t,
		Config{Classifier: judgeAs(completion), Verifier: verifierFunc(func(Output, classify.Result) (Verification, error) {
			panic("boom")
		})},
	)
	d = handle(t, a, Output{Text: "Done."})
	assert.Equal(t, []any{Reason("completion"), Unverified, []string{"verifier: panic: boom"}},
		[]any{d.Reason, d.Verified, d.Degraded})
}

// A judge that failed beside a fallback is named in the decision and in the log.
func TestAFallbackIsNotSilent(t *testing.T) {
	var log bytes.Buffer
	failing := classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
		return classify.Result{}, errBoom
	})
	a := newLoop(t, Config{
		Classifier: classify.Fallback(failing, judgeAs(progress)), Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	d := handle(t, a, Output{Text: "a"})
	require.Len(t, d.Degraded, 1)
	assert.Equal(t, "classifier: boom", d.Degraded[0])
	assert.Contains(t, log.String(), "boom")
}

// An output ID that comes again always replays; with another text the decision says so.
func TestAnIDWithAnotherText(t *testing.T) {
	a := newLoop(t, Config{Classifier: judgeAs(progress)})
	first := handle(t, a, Output{Run: "r", ID: "1", Text: "working"})
	same := handle(t, a, Output{Run: "r", ID: "1", Text: "working\n"})
	assert.True(t, same.Replayed)
	assert.Empty(t, same.Degraded)
	other := handle(t, a, Output{Run: "r", ID: "1", Text: "Which one?"})
	assert.Equal(t, []any{true, Continue, first.ID}, []any{other.Replayed, other.Action, other.ID})
	require.Len(t, other.Degraded, 1)
	assert.Contains(t, other.Degraded[0], "another text")
}

// No secret reaches the classifier, the state, the message, the note or the journal.
func TestASecretInPiecesIsMasked(t *testing.T) {
	got := shown("key ghp_abcdefghij\u200b0123456789abcdef set", 200)
	assert.Equal(t, "key ghp_"+strings.Repeat("*", 26)+" set", got)
}

// A text that is cut shows no part of a secret, wherever the cut is.
func TestNoPartOfASecretIsShown(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	const key, ours = "ghp_" + "Ab1cDe2fGh3iJk4lMn5oPq6rSt7uVw8xYz9a", "our-own-secret-value"
	for n := range 24 {
		name := strings.Repeat("w ", n*5)
		plan := name + key + ".md"
		text := "I changed the export. It should work now."
		a := newLoop(t, Config{Secrets: []string{ours}, Classifier: judgeAs(rejected), Plans: fstest.MapFS{
			plan:       {Data: []byte("## Success Criteria\n\n- " + name + "with " + key + " and " + ours + " works\n")},
			"p" + plan: {Data: []byte("## Success Criteria\n\n" + name + "with " + key + " and " + ours + " works\n")},
		}})
		for _, file := range []string{plan, "p" + plan, "none" + plan} {
			b, err := json.Marshal(handle(t, a, Output{Session: "s" + file, PlanFile: file, Text: text}))
			require.NoError(t, err)
			assert.NotContains(t, string(b), "Ab1", file)
			assert.NotContains(t, string(b), "our-o", file)
		}
		assert.NotContains(t, shown(name+"ghp_Ab1cDe2f\u200bGh3iJk4lMn5oPq6rSt7uVw8xYz9a", 60), "Ab1")
	}
}

func TestSecretsAreMasked(t *testing.T) {
	const key, ours = "sk-" + "abcdefghij0123456789", "our-own-secret-value"
	text := "Fixed the client with " + key + " and " + ours + ". It should work now."
	store := NewMemoryStore(0)
	var journal bytes.Buffer
	var asked classify.Input
	verdict := rejected
	verdict.Signals = []classify.Signal{
		{Kind: classify.SignalClaim, Name: "done", Start: 0, End: strings.Index(text, "."), Weight: 1},
	}
	a := newLoop(t, Config{
		Store: store, Observer: NewJournal(&journal), Secrets: []string{ours, "x"},
		Classifier: classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
			asked = in
			return verdict, nil
		}),
		Verifier: verifierFunc(func(Output, classify.Result) (Verification, error) {
			return Verification{Status: Rejected, Feedback: "curl with " + key + " and " + ours + " failed"}, nil
		}),
	})
	out := Output{
		Session: "s", Run: "r", ID: "1", Text: text, Request: "use " + key,
		Evidence: []classify.Evidence{
			{Kind: classify.EvidenceTests, Text: "OPENAI_API_KEY=" + ours + " go test: 3 failed", Failed: true},
		},
		Work: classify.Work{Checks: []classify.Check{{Command: "API_KEY=" + key + " make", Kind: classify.CheckBuild}},
			Files: []string{key + ".go"}, Ran: []string{"API_KEY=" + ours + " make"}},
	}
	d := handle(t, a, out)
	require.Equal(t, Continue, d.Action)
	held := handle(t, a, Output{Session: "s", Run: "r2", ID: "2", Text: text, Hold: "waits for " + key})
	handle(t, a, Output{Session: "s/" + key, Turn: ours, Run: ours, ID: key, Text: text})
	s, err := store.Load(t.Context(), "s")
	require.NoError(t, err)
	for name, v := range map[string]any{"asked": asked, "state": s, "decision": d, "held": held,
		"journal": journal.String()} {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		assert.NotContains(t, string(b), "abcdefghij", name)
		assert.NotContains(t, string(b), ours, name)
	}
	assert.Len(t, asked.Text, len(text), "spans point at the same words")

	// A host that keeps the state itself: what is quoted has no secret, and the same output is the same text.
	f := Facts{Output: out, Result: verdict}
	f.Output.Evidence[0].Text = key
	d, _ = Decide(Policy{}, State{}, f)
	assert.NotContains(t, d.Message, "abcdefghij")
	var pure State
	for _, want := range []Reason{"rejected_completion", "run_closed"} {
		out.ID = string(want)
		d, next, ok := Known(pure, out)
		if !ok {
			f, err := a.Judge(t.Context(), out, pure)
			require.NoError(t, err)
			d, next = Decide(Policy{}, pure, f)
		}
		assert.Equal(t, want, d.Reason)
		pure = next
	}
}

// endingContext ends when it was asked often enough.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// The context bounds the work on a large text from its first byte. What was not read to its end is not observed either.
func TestTheContextBoundsALargeOutput(t *testing.T) {
	var seen Event
	a := newLoop(t, Config{Classifier: judgeAs(progress),
		Observer: ObserverFunc(func(_ context.Context, e Event) error { seen = e; return nil })})
	text := strings.Repeat("password=", 1<<17)
	d, err := a.Handle(&endingContext{t.Context(), 3}, Output{Session: "s", Text: text, Request: "fix it"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, Deliver, d.Action)
	assert.Equal(t, []string{"", ""}, []string{seen.Preview, seen.Input.Text})
	_, err = a.Judge(&endingContext{t.Context(), 3}, Output{Session: "s", Text: text}, State{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A signal that is not inside the text is an error of the classifier, as a confidence of 90. Facts with one are
// decided.
func TestASignalOutsideTheText(t *testing.T) {
	const text = "Fixed it. It should work now."
	for _, span := range [][2]int{{0, len(text) + 1}, {-1, 5}, {9, 2}, {100, 200}, {math.MinInt, math.MaxInt}} {
		r := rejected
		r.Signals = []classify.Signal{{Kind: classify.SignalClaim, Name: classify.ClaimTests, Start: span[0], End: span[1]}}
		d, err := newLoop(t, Config{Classifier: judgeAs(r)}).Handle(t.Context(), Output{Session: "s", Text: text})
		require.ErrorContains(t, err, "a signal is outside the text", span)
		assert.Equal(t, []any{Deliver, Reason("error")}, []any{d.Action, d.Reason}, span)
		a := newLoop(t, Config{Classifier: classify.Fallback(judgeAs(r), judgeAs(progress))})
		d, err = a.Handle(t.Context(), Output{Session: "s", Text: text})
		require.NoError(t, err)
		assert.Contains(t, d.Degraded[0], "a signal is outside the text", span)
		for _, name := range []string{classify.ClaimTests, classify.ClaimLint, classify.ClaimChecked, "done"} {
			r.Signals[0].Name = name
			d, _ = Decide(Policy{}, State{}, Facts{Output: Output{Session: "s", Text: text}, Result: r})
			assert.Equal(t, []any{Continue, Reason("rejected_completion")}, []any{d.Action, d.Reason}, span)
		}
	}
}

// A file system and a detector that panic do not end the host's process.
func TestPanicsOfFilesAndDetectors(t *testing.T) {
	type files struct{ fs.FS }
	a := newLoop(t, Config{Classifier: judgeAs(completion), Plans: files{}})
	d := handle(t, a, Output{Text: "Done.", PlanFile: "plan.md"})
	assert.Equal(t, []any{Deliver, Reason("completion")}, []any{d.Action, d.Reason})
	assert.Contains(t, d.Degraded[0], "plan: the file system autocontinue.files panics")

	for _, stages := range [][]string{nil, {"build"}} {
		a = newLoop(t, Config{Classifier: judgeAs(progress), Skills: skills.NewRegistry(panicking{})})
		d, err := a.Handle(t.Context(), Output{Session: "s", Text: "a", Request: "b", Stages: stages})
		require.ErrorContains(t, err, "autocontinue: skills: panic: boom")
		assert.Equal(t, []any{Deliver, Reason("error")}, []any{d.Action, d.Reason})
	}
}

type panicking struct{}

func (panicking) Detect(skills.Query) (skills.Skill, bool) { panic("boom") }
