package classifytest_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/classifytest"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// constant gives every case one verdict.
func constant(r classify.Result, err error) classify.Classifier {
	return classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) { return r, err })
}

var hollow = evaluate.Case{
	Name:  "hollow/claim",
	Input: classify.Input{Text: "All done,\nit should work now.\x1b[0m", Request: "Fix the login"},
	Want: evaluate.Want{Type: classify.Status, WasRejectedCompletion: true,
		Coaching: &evaluate.Coaching{Contains: []string{"test"}, Excludes: []string{"sorry"}, MaxLength: 40}},
}

func rejected(confidence float64, coaching string) classify.Result {
	return classify.Result{Type: classify.Status, WasRejectedCompletion: true, Confidence: confidence, Reason: "a bare claim", CoachingMessage: coaching}
}

func TestRunPasses(t *testing.T) {
	classifytest.Run(t, constant(rejected(0.8, "Run the tests and paste them."), nil), []evaluate.Case{hollow})
	classifytest.Run(t, constant(rejected(0.1, "Run the tests and paste them."), nil), []evaluate.Case{hollow}, classifytest.Threshold(evaluate.NoGate))
	classifytest.Run(t, constant(classify.Result{Type: classify.Question}, nil), []evaluate.Case{
		{Name: "", Want: evaluate.Want{Type: classify.Question}},
		{Name: strings.Repeat("ü ", 200), Want: evaluate.Want{Type: classify.Question, Action: evaluate.Deliver}},
	})
}

// What runs here fails on purpose, in a process of its own: TestRunFails reads what it prints.
func TestRunOnPurpose(t *testing.T) {
	which := os.Getenv("CLASSIFYTEST_ON_PURPOSE")
	if which == "" {
		t.Skip("run by TestRunFails")
	}
	signals := []classify.Signal{
		{Kind: classify.SignalClaim, Name: "done", Start: 0, End: 8, Weight: 1.5},
		{Kind: classify.SignalHedge, Start: 10, End: 28, Weight: 2},
	}
	one := []evaluate.Case{hollow}
	switch which {
	case "type":
		classifytest.Run(t, constant(classify.Result{Type: classify.Completion, Confidence: 0.91, Reason: "shows\nits result", Source: "llm", Fallback: "none", Signals: signals}, nil), one)
	case "progress":
		classifytest.Run(t, constant(classify.Result{Type: classify.Status, Confidence: 0.91}, nil), one)
	case "unsure":
		classifytest.Run(t, constant(rejected(0.8, "Run the tests."), nil), one, classifytest.Threshold(0.9))
	case "coaching":
		classifytest.Run(t, constant(rejected(0.9, "I am sorry, but this is not enough for anybody who reads it."), nil), one)
	case "silent":
		classifytest.Run(t, constant(rejected(0.9, ""), nil), one)
	case "error":
		classifytest.Run(t, constant(classify.Result{}, errors.New("the endpoint is gone")), one)
	case "no type":
		classifytest.Run(t, constant(classify.Result{}, nil), one)
	case "no number":
		classifytest.Run(t, constant(rejected(math.NaN(), ""), nil), one)
	case "signal outside":
		classifytest.Run(t, constant(classify.Result{Type: classify.Status, Signals: []classify.Signal{{Kind: classify.SignalClaim, Start: 5, End: 5000}}}, nil), one)
	case "input changed":
		cases := []evaluate.Case{hollow}
		cases[0].Input.Criteria = []string{"a", "b"}
		classifytest.Run(t, classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
			in.Criteria[0] = "mine"
			return rejected(0.9, "Run the tests."), nil
		}), cases)
	case "no cases":
		classifytest.Run(t, constant(classify.Result{}, nil), nil)
	case "bad case":
		classifytest.Run(t, constant(classify.Result{}, nil), []evaluate.Case{{Name: "a", Want: evaluate.Want{Type: "maybe"}}})
	case "after a miss":
		c := classifytest.Replay(t, t.TempDir())
		asked := false
		classifytest.Run(t, classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
			if asked {
				return classify.Result{}, errors.New("left alone")
			}
			asked = true
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(body()))
			require.NoError(t, err)
			_, err = c.RoundTrip(req)
			return classify.Result{}, err
		}), []evaluate.Case{hollow, hollow})
	case "changed prompt":
		classifytest.Run(t, promptJudge(t, classifytest.Replay(t, "testdata/cassettes"), changedPrompt(t)), promptCases(t))
	case "recorded answer":
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/cassettes")))
		for _, path := range files(t, dir) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(read(t, path), classifytest.ByHand, "recorded from gpt-9", 1)), 0o644))
		}
		t.Setenv(classifytest.RecordVariable, "hand")
		classifytest.Run(t, promptJudge(t, classifytest.Replay(t, dir), changedPrompt(t)), promptCases(t)[:1])
	case "cassette":
		c := classifytest.Replay(t, t.TempDir())
		asks := classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(body()))
			require.NoError(t, err)
			for range 3 {
				_, err = c.RoundTrip(req.Clone(ctx))
				require.ErrorIs(t, err, classifytest.ErrNoCassette)
			}
			return classify.Result{}, err
		})
		classifytest.Run(t, classify.Fallback(asks, constant(rejected(0.9, "Run the tests."), nil)), one)
	}
}

// A prompt that changed has no cassette for any case: each says so itself. A client that took the misses for failures of an
// endpoint would leave it alone after some of them, and the other cases would fail with that.
func TestRunTellsEveryMiss(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunOnPurpose$")
	cmd.Env = append(os.Environ(), "CLASSIFYTEST_ON_PURPOSE=changed prompt", classifytest.RecordVariable+"=")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	cases := promptCases(t)
	require.Greater(t, len(cases), 10)
	for _, c := range cases {
		assert.Equal(t, 1, strings.Count(string(out), `no cassette for this request, case "`+c.Name+`"`), c.Name)
	}
	assert.Equal(t, len(cases), strings.Count(string(out), "+ "+newRule))
	assert.NotContains(t, string(out), "left alone")
}

func TestRunFails(t *testing.T) {
	for _, tt := range []struct {
		which string
		want  []string
	}{
		{"type", []string{
			"--- FAIL: TestRunOnPurpose/hollow-claim",
			"type: got completion, want status (rejected completion)",
			"type        status (rejected completion)   completion",
			"action      continue                       deliver",
			"confidence  (continues from 0.80)          0.91",
			"source      llm", "fallback    none", "reason      shows its result",
			`request     "Fix the login"`, `text        "All done, it should work now.\x1b[0m"`,
			`signals     claim      1.50 "All done" done`, `            hedge      2.00 "it should work now"`,
			"there is no coaching message",
		}},
		{"progress", []string{"type: got status (progress), want status (rejected completion)"}},
		{"unsure", []string{"action: got deliver, want continue; the confidence is 0.80, the threshold 0.90"}},
		{"coaching", []string{`lacks "test"`, `has "sorry"`, "more than 40", `coaching    "I am sorry, but`}},
		{"silent", []string{"there is no coaching message"}},
		{"error", []string{"no verdict: the endpoint is gone"}},
		{"no type", []string{`"" is none of the five types`}},
		{"no number", []string{"the confidence NaN is not a number from 0 to 1"}},
		{"signal outside", []string{"the signal claim is outside of the text: bytes 5 to 5000"}},
		{"input changed", []string{"the classifier changed its input"}},
		{"no cases", []string{"there are no cases to run"}},
		{"bad case", []string{`case "a" wants no type, or one that does not exist: "maybe"`}},
		{"after a miss", []string{"no cassette for this request", "no verdict, as requests before had no cassette, which this reports: left alone"}},
		{"recorded answer", []string{"is recorded from gpt-9, and only one that was written by hand can be kept for another prompt"}},
		{"cassette", []string{
			`no cassette for this request, case "hollow/claim"`, "there are no cassettes in",
			"SIDECOACH_RECORD=1 go test -count=1 -run '^TestRunOnPurpose$' github.com/sidecoach/sidecoach/classify/classifytest",
		}},
	} {
		t.Run(tt.which, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunOnPurpose$")
			cmd.Env = append(os.Environ(), "CLASSIFYTEST_ON_PURPOSE="+tt.which, classifytest.RecordVariable+"=")
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s", out)
			for _, want := range tt.want {
				assert.Contains(t, string(out), want)
			}
			assert.NotContains(t, string(out), "panic")
			assert.LessOrEqual(t, strings.Count(string(out), "no cassette for this request"), 1)
		})
	}
}
