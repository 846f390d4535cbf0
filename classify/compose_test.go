package classify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func fixed(r Result, err error) Classifier {
	return ClassifierFunc(func(context.Context, Input) (Result, error) { return r, err })
}

func TestFallback(t *testing.T) {
	ctx := context.Background()
	good := Result{Type: Question, Confidence: 0.9, Source: "second"}
	down := errors.New("judge: no answer\nwithin 10 s")

	first := Result{Type: Completion, Confidence: 0.7, Source: "first"}
	r, err := Fallback(fixed(first, nil), fixed(good, nil)).Classify(ctx, Input{})
	require.NoError(t, err)
	assert.Equal(t, first, r, "a primary that answers is not second-guessed")

	r, err = Fallback(fixed(Result{}, down), fixed(good, nil)).Classify(ctx, Input{})
	require.NoError(t, err)
	assert.Equal(t, Question, r.Type)
	assert.Equal(t, "judge: no answer within 10 s", r.Fallback, "on one line")

	r, err = Fallback(fixed(Result{Type: "banana"}, nil), fixed(good, nil)).Classify(ctx, Input{})
	require.NoError(t, err)
	assert.Equal(t, Question, r.Type)
	assert.NotEmpty(t, r.Fallback, "an unknown type is no verdict")

	nested := Fallback(fixed(Result{}, errors.New("a")), Fallback(fixed(Result{}, errors.New("b")), fixed(good, nil)))
	r, err = nested.Classify(ctx, Input{})
	require.NoError(t, err)
	assert.Equal(t, "a; b", r.Fallback)

	_, err = Fallback(fixed(Result{}, down), fixed(Result{}, context.Canceled)).Classify(ctx, Input{})
	assert.ErrorIs(t, err, down)
	assert.ErrorIs(t, err, context.Canceled)

	long := errors.New(strings.Repeat("ä", 500))
	r, err = Fallback(fixed(Result{}, long), fixed(good, nil)).Classify(ctx, Input{})
	require.NoError(t, err)
	assert.LessOrEqual(t, utf8.RuneCountInString(r.Fallback), 200)
	assert.True(t, utf8.ValidString(r.Fallback))
}

func TestFallbackAnswersWithoutTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	slow := ClassifierFunc(func(ctx context.Context, _ Input) (Result, error) { return Result{}, ctx.Err() })
	r, err := Fallback(slow, newHeuristic(t)).Classify(ctx, Input{Text: "Should I go on?"})
	require.NoError(t, err)
	assert.Equal(t, Question, r.Type)
	assert.Equal(t, "heuristic", r.Source)
	assert.Equal(t, context.Canceled.Error(), r.Fallback)
}

func TestConfidenceGate(t *testing.T) {
	status := Result{Type: Status, Confidence: 0.79, Reason: "claims", CoachingMessage: "show it",
		WasRejectedCompletion: true}
	tests := []struct {
		name      string
		in        Result
		threshold float64
		gated     bool
	}{
		{"below", status, 0.80, true},
		{"at", Result{Type: Status, Confidence: 0.80}, 0.80, false},
		{"above", Result{Type: Status, Confidence: 0.81}, 0.80, false},
		{"off", Result{Type: Status, Confidence: 0}, 0, false},
		{"threshold not a number", Result{Type: Status, Confidence: 1}, math.NaN(), true},
		{"a completion is the human's anyway", Result{Type: Completion, Confidence: 0.1}, 0.80, false},
		{"an error stays one", Result{Type: Error, Confidence: 0.1}, 0.80, false},
	}
	for _, tt := range tests {
		r, err := ConfidenceGate(fixed(tt.in, nil), tt.threshold).Classify(context.Background(), Input{})
		require.NoError(t, err, tt.name)
		if !tt.gated {
			assert.Equal(t, tt.in, r, tt.name)
			continue
		}
		assert.Equal(t, Question, r.Type, tt.name)
		assert.Empty(t, r.CoachingMessage, tt.name)
		assert.False(t, r.WasRejectedCompletion, tt.name)
		assert.Contains(t, r.Reason, tt.in.Reason, tt.name)
	}
	r, err := ConfidenceGate(fixed(status, nil), 0.8).Classify(context.Background(), Input{})
	require.NoError(t, err)
	assert.Contains(t, r.Reason, "rejected completion")

	_, err = ConfidenceGate(fixed(Result{}, errors.ErrUnsupported), 0.8).Classify(context.Background(), Input{})
	assert.ErrorIs(t, err, errors.ErrUnsupported)
}

func TestResultJSON(t *testing.T) {
	b, err := json.Marshal(Result{Type: Status, Confidence: 0.5})
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"status","confidence":0.5,"reason":"","coaching_message":null,`+
		`"was_rejected_completion":false,"source":""}`, string(b))
	b, err = json.Marshal(Result{Type: Status, CoachingMessage: "show it"})
	require.NoError(t, err)
	var back Result
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, "show it", back.CoachingMessage)
	require.NoError(t, json.Unmarshal([]byte(`{"type":"status","coaching_message":null}`), &back))

	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(Result{Type: Error, Reason: "a < b & c"}))
	assert.Contains(t, out.String(), `"a < b & c"`)
}

func TestEvidenceKinds(t *testing.T) {
	want := []EvidenceKind{EvidenceTests, EvidenceExitCode, EvidenceOutput, EvidenceCommit, EvidencePullRequest}
	EvidenceKinds()[0] = "mine" // fresh
	assert.Equal(t, want, EvidenceKinds())
	for _, k := range want {
		assert.True(t, k.Valid())
	}
}

func TestCallsFor(t *testing.T) {
	for name, want := range map[string]EvidenceKind{
		"tests": EvidenceTests, "build": EvidenceExitCode, "commit": EvidenceCommit, "pull_request": EvidencePullRequest,
		"done": "", "": "",
	} {
		claim := Signal{Kind: SignalClaim, Name: name}
		assert.Equal(t, want, claim.CallsFor(), name)
		assert.Empty(t, Signal{Kind: SignalEvidence, Name: name}.CallsFor(), name)
		if want != "" {
			r := Result{Type: Status, WasRejectedCompletion: true, Signals: []Signal{{Kind: SignalEvidence}, claim}}
			assert.Equal(t, []EvidenceKind{want}, r.Missing(nil), "what it calls for is what is missing")
		}
	}
}

func TestMissing(t *testing.T) {
	claim := func(name string) Signal { return Signal{Kind: SignalClaim, Name: name, End: 1, Weight: 1} }
	shown := func(k EvidenceKind) Signal { return Signal{Kind: SignalEvidence, Name: string(k), End: 1, Weight: 1} }
	tests := []struct {
		name    string
		signals []Signal
		host    []Evidence
		want    []EvidenceKind
	}{
		{"a bare claim", []Signal{claim("done")}, nil, []EvidenceKind{EvidenceTests, EvidenceExitCode, EvidenceCommit,
			EvidencePullRequest}},
		{"nothing at all", nil, nil, []EvidenceKind{EvidenceTests, EvidenceExitCode, EvidenceCommit, EvidencePullRequest}},
		{"tests", []Signal{claim("done"), claim("tests")}, nil, []EvidenceKind{EvidenceTests}},
		{"tests beside a commit", []Signal{claim("tests"), shown(EvidenceCommit)}, nil, []EvidenceKind{EvidenceTests}},
		{"tests the host saw", []Signal{claim("tests")}, []Evidence{{Kind: EvidenceTests}}, nil},
		{"tests the host saw fail", []Signal{claim("tests")}, []Evidence{{Kind: EvidenceTests, Failed: true}},
			[]EvidenceKind{EvidenceTests}},
		{"commit and pull request", []Signal{claim("pull_request"), claim("commit")}, nil, []EvidenceKind{EvidenceCommit,
			EvidencePullRequest}},
		{"a pull request shows its commits", []Signal{claim("commit"), shown(EvidencePullRequest)}, nil, nil},
		{"a hedge beside evidence", []Signal{claim("done"), shown(EvidenceOutput)}, nil, nil},
	}
	for _, tt := range tests {
		r := Result{Type: Status, WasRejectedCompletion: true, Signals: tt.signals}
		assert.Equal(t, tt.want, r.Missing(tt.host), tt.name)
		r.WasRejectedCompletion = false
		assert.Nil(t, r.Missing(tt.host), tt.name)
	}
}

func ExampleFallback() {
	judge := ClassifierFunc(func(context.Context, Input) (Result, error) { return Result{}, errors.New("no credit left") })
	heuristic, err := NewHeuristic()
	if err != nil {
		panic(err)
	}
	r, err := Fallback(judge, heuristic).Classify(context.Background(), Input{Text: "Should I delete the old table?"})
	fmt.Println(r.Type, r.Source, r.Fallback, err)
	// Output: question heuristic no credit left <nil>
}

func ExampleConfidenceGate() {
	unsure := ClassifierFunc(func(context.Context, Input) (Result, error) {
		return Result{Type: Status, Confidence: 0.55, Reason: "seems to go on"}, nil
	})
	r, _ := ConfidenceGate(unsure, DefaultThreshold).Classify(context.Background(), Input{})
	fmt.Println(r.Type)
	fmt.Println(r.Reason)
	// Output:
	// question
	// unsure (0.55 is below 0.80), so the human decides; was status: seems to go on
}

// A classifier that breaks its contract fails, wherever it stands.
func TestValidate(t *testing.T) {
	for _, r := range []Result{
		{Type: Status, Confidence: 90}, {Type: Status, Confidence: -0.1}, {Type: Status, Confidence: math.NaN()},
		{Type: Completion, Confidence: 0.9, WasRejectedCompletion: true}, {Type: "done", Confidence: 0.9}, {Confidence: 0.9},
	} {
		c := ClassifierFunc(func(context.Context, Input) (Result, error) { return r, nil })
		assert.Error(t, r.ValidateFor(""))
		_, err := ConfidenceGate(c, 0.8).Classify(context.Background(), Input{Text: "x"})
		assert.Error(t, err, "%+v", r)
		_, err = Fallback(c, c).Classify(context.Background(), Input{Text: "x"})
		assert.Error(t, err, "%+v", r)
	}
	for _, r := range []Result{{Type: Status}, {Type: Status, Confidence: 1, WasRejectedCompletion: true}, {Type: Error,
		Confidence: 0.5}} {
		assert.NoError(t, r.ValidateFor(""))
	}
	for _, weight := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r := Result{Type: Status, Confidence: 0.9, Signals: []Signal{{Kind: SignalClaim, End: 1, Weight: weight}}}
		require.Error(t, r.ValidateFor("x"), "%v", weight)
		c := ClassifierFunc(func(context.Context, Input) (Result, error) { return r, nil })
		_, err := Fallback(c, c).Classify(t.Context(), Input{Text: "x"})
		assert.Error(t, err, "%v", weight)
		r.Signals[0].Weight = 1
		assert.NoError(t, r.ValidateFor("x"))
	}
}

func TestNilClassifiers(t *testing.T) {
	h := newHeuristic(t)
	for name, compose := range map[string]func(Classifier) Classifier{
		"first of Fallback":  func(c Classifier) Classifier { return Fallback(c, h) },
		"second of Fallback": func(c Classifier) Classifier { return Fallback(h, c) },
		"first of Cascade":   func(c Classifier) Classifier { return Cascade(c, h, 1) },
		"second of Cascade":  func(c Classifier) Classifier { return Cascade(h, c, 1) },
		"ConfidenceGate":     func(c Classifier) Classifier { return ConfidenceGate(c, 0.8) },
	} {
		for _, c := range []Classifier{nil, ClassifierFunc(nil), (*Heuristic)(nil), (*otherClassifier)(nil)} {
			assert.Panics(t, func() { compose(c) }, name)
		}
		assert.NotNil(t, compose(h), name)
	}
	_, err := ClassifierFunc(nil).Classify(context.Background(), Input{Text: "x"})
	assert.Error(t, err)
	_, err = (*Heuristic)(nil).Classify(context.Background(), Input{Text: "x"})
	assert.Error(t, err)
	var none context.Context
	_, err = h.Classify(none, Input{Text: "x"})
	assert.ErrorContains(t, err, "nil context")
}

func TestCascade(t *testing.T) {
	signals := []Signal{{Kind: SignalClaim, Name: "done", Start: 0, End: 4, Weight: 1}}
	own := []Signal{{Kind: SignalHedge, Start: 1, End: 2, Weight: 1}}
	down := errors.New("judge: no answer\nwithin 10 s")
	verdict := Result{Type: Completion, Confidence: 0.6, Source: "second"}
	for _, tt := range []struct {
		name    string
		text    string
		first   Result
		second  Result
		err     error // of second
		certain float64
		asked   bool
		want    Result
	}{
		{name: "certain", text: "done", first: Result{Type: Status, Confidence: 0.95}, certain: 0.9,
			want: Result{Type: Status, Confidence: 0.95}},
		{name: "exactly certain", text: "done", first: Result{Type: Status, Confidence: 0.9}, certain: 0.9,
			want: Result{Type: Status, Confidence: 0.9}},
		{name: "unsure", text: "done", first: Result{Type: Status, WasRejectedCompletion: true, Confidence: 0.89,
			Signals: signals, SignalsDropped: 2}, second: verdict, certain: 0.9, asked: true,
			want: Result{Type: Completion, Confidence: 0.6, Source: "second", Signals: signals, SignalsDropped: 2}},
		{name: "signals of its own", text: "done", first: Result{Type: Status, Signals: signals, SignalsDropped: 2},
			second: Result{Type: Status, Signals: own}, certain: 0.9, asked: true,
			want: Result{Type: Status, Signals: own}},
		{name: "an error, however unsure", text: "done", first: Result{Type: Error, Confidence: 0.3}, second: verdict,
			certain: 0.9,
			want:    Result{Type: Error, Confidence: 0.3}},
		{name: "a question, nearly certain", text: "done", first: Result{Type: Question, Confidence: 0.87}, second: verdict,
			certain: 0.9, want: Result{Type: Question, Confidence: 0.87}},
		{name: "progress, nearly certain", text: "done", first: Result{Type: Status, Confidence: 0.87}, second: verdict,
			certain: 0.9, want: Result{Type: Status, Confidence: 0.87}},
		{name: "an unsure question", text: "done", first: Result{Type: Question, Confidence: 0.86}, second: verdict,
			certain: 0.9, asked: true, want: verdict},
		{name: "never certain", text: "done", first: Result{Type: Question, Confidence: 0.99}, second: verdict,
			certain: 1, asked: true, want: verdict},
		{name: "a blocker, however sure", text: "done", first: Result{Type: Blocker, Confidence: 1}, second: verdict,
			certain: 0.9, asked: true, want: verdict},
		{name: "a blocker, certain of everything", text: "done", first: Result{Type: Blocker}, second: verdict,
			want: Result{Type: Blocker}},
		{name: "empty", text: "", first: Result{Type: Status, Confidence: 0.1}, second: verdict, certain: 0.9,
			want: Result{Type: Status, Confidence: 0.1}},
		{name: "blank", text: " \n\t\u200b", first: Result{Type: Status, Confidence: 0.1}, second: verdict, certain: 0.9,
			want: Result{Type: Status, Confidence: 0.1}},
		{name: "second fails", text: "done", first: Result{Type: Question, Confidence: 0.4}, err: down, certain: 0.9,
			asked: true,
			want:  Result{Type: Question, Confidence: 0.4, Fallback: "judge: no answer within 10 s"}},
		{name: "second fails, first fell back itself", text: "done", first: Result{Type: Question, Fallback: "a"}, err: down,
			certain: 0.9, asked: true,
			want: Result{Type: Question, Fallback: "judge: no answer within 10 s; a"}},
		{name: "second names no type", text: "done", first: Result{Type: Question, Confidence: 0.4},
			second: Result{Type: "banana"}, certain: 0.9, asked: true,
			want: Result{Type: Question, Confidence: 0.4, Fallback: "not one of the five output types"}},
		{name: "certain of everything", text: "done", first: Result{Type: Status}, second: verdict, certain: 0,
			want: Result{Type: Status}},
		{name: "certain is not a number", text: "done", first: Result{Type: Status, Confidence: 1}, second: verdict,
			certain: math.NaN(), asked: true,
			want: verdict},
		{name: "the confidence is not a number", text: "done", first: Result{Type: Status, Confidence: math.NaN()},
			second: Result{Type: Question, Confidence: 0.4}, certain: 0.1, asked: true,
			want: Result{Type: Question, Confidence: 0.4, Fallback: "confidence NaN is not from 0 to 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			second := ClassifierFunc(func(context.Context, Input) (Result, error) {
				asked = true
				return tt.second, tt.err
			})
			got, err := Cascade(fixed(tt.first, nil), second, tt.certain).Classify(t.Context(), Input{Text: tt.text})
			require.NoError(t, err)
			assert.Equal(t, tt.asked, asked, "whether second is asked")
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestCascadeWithoutFirst(t *testing.T) {
	down, broken := errors.New("a"), errors.New("b")
	good := Result{Type: Completion, Confidence: 0.9}

	r, err := Cascade(fixed(Result{}, down), fixed(good, nil), 0.9).Classify(t.Context(), Input{Text: "x"})
	require.NoError(t, err)
	assert.Equal(t, Completion, r.Type)
	assert.Equal(t, "a", r.Fallback)

	_, err = Cascade(fixed(Result{}, down), fixed(Result{}, broken), 0.9).Classify(t.Context(), Input{Text: "x"})
	assert.ErrorIs(t, err, down)
	assert.ErrorIs(t, err, broken)

	_, err = Cascade(fixed(Result{}, down), fixed(good, nil), 0.9).Classify(t.Context(), Input{})
	assert.ErrorIs(t, err, down, "an empty output is not for second")
}

func ExampleCascade() {
	cheap, err := NewHeuristic()
	if err != nil {
		panic(err)
	}
	dear := ClassifierFunc(func(context.Context, Input) (Result, error) {
		fmt.Println("asked")
		return Result{}, errors.New("judge: no answer")
	})
	c := Cascade(cheap, dear, 0.999)
	r, _ := c.Classify(context.Background(),
		Input{Text: "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain." +
			"main()\n\t/src/main.go:12 +0x1d\nexit status 2"})
	fmt.Println(r.Type)
	r, _ = c.Classify(context.Background(), Input{Text: "The parser handles both forms."})
	fmt.Println(r.Type, "-", r.Fallback)
	// Output:
	// error
	// asked
	// completion - judge: no answer
}

type otherClassifier struct{ Classifier }
