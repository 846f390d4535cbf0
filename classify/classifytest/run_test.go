package classifytest_test

import (
	"context"
	"errors"
	"math"
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
		Message: &evaluate.Message{Contains: []string{"test"}, NotContains: []string{"sorry"}, MaxChars: 40}},
}

func rejected(confidence float64, coaching string) classify.Result {
	return classify.Result{Type: classify.Status, WasRejectedCompletion: true, Confidence: confidence,
		Reason: "a bare claim", CoachingMessage: coaching}
}

func TestRunPasses(t *testing.T) {
	classifytest.Run(t, constant(rejected(0.8, "Run the tests and paste them."), nil), []evaluate.Case{hollow})
	classifytest.Run(t, constant(classify.Result{Type: classify.Question}, nil), []evaluate.Case{
		{Name: "", Want: evaluate.Want{Type: classify.Question}},
		{Name: strings.Repeat("ü ", 200), Want: evaluate.Want{Type: classify.Question, Action: "deliver"}},
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
		classifytest.Run(t, constant(classify.Result{Type: classify.Completion, Confidence: 0.91, Reason: "shows\nits result",
			Source: "llm", Fallback: "none", Signals: signals}, nil), one)
	case "progress":
		classifytest.Run(t, constant(classify.Result{Type: classify.Status, Confidence: 0.91}, nil), one)
	case "unsure":
		classifytest.Run(t, constant(rejected(0.7, "Run the tests."), nil), one)
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
		classifytest.Run(t, constant(classify.Result{Type: classify.Status,
			Signals: []classify.Signal{{Kind: classify.SignalClaim, Start: 5, End: 5000}}}, nil), one)
	case "no cases":
		classifytest.Run(t, constant(classify.Result{}, nil), nil)
	case "bad case":
		classifytest.Run(t, constant(classify.Result{}, nil), []evaluate.Case{{Name: "a",
			Want: evaluate.Want{Type: "maybe"}}})
	case "changed prompt":
		classifytest.Run(t, judgeWith(t, classifytest.Replay(t, "testdata/cassettes"), "", changedPrompt(t)), promptCases(t))
	case "cassette":
		judge := judgeWith(t, classifytest.Replay(t, t.TempDir()), "", nil)
		classifytest.Run(t, classify.Fallback(judge, constant(rejected(0.9, "Run the tests."), nil)), one)
	}
}

// A prompt that changed has no cassette for any case, and each case says so.
func TestRunTellsEveryMiss(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunOnPurpose$")
	cmd.Env = append(os.Environ(), "CLASSIFYTEST_ON_PURPOSE=changed prompt", "SIDECOACH_RECORD=")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	cases := promptCases(t)
	require.Greater(t, len(cases), 10)
	for _, c := range cases {
		assert.Equal(t, 1, strings.Count(string(out), `no cassette for this request, case "`+c.Name+`"`), c.Name)
	}
	assert.Equal(t, len(cases), strings.Count(string(out), "which differs first here:"))
	assert.Equal(t, len(cases), strings.Count(string(out), `+ "`+newRule))
}

func TestRunFails(t *testing.T) {
	for _, tt := range []struct {
		which string
		want  []string
	}{
		{"type", []string{
			"--- FAIL: TestRunOnPurpose/hollow-claim",
			"completion, want rejected", "would deliver at 0.91, want continue", "there is no message",
			"source     llm", "fallback   none", "reason     shows its result",
			"request    Fix the login", "text       All done, it should work now.",
			`signal     claim done 1.50 "All done"`, `signal     hedge  2.00 "it should work now"`,
		}},
		{"progress", []string{"status, want rejected"}},
		{"unsure", []string{"would deliver at 0.70, want continue"}},
		{"coaching", []string{`lacks "test"`, `has "sorry"`, "more than 40", "message    I am sorry, but"}},
		{"silent", []string{"there is no message"}},
		{"error", []string{"unanswered: the endpoint is gone"}},
		{"no type", []string{"not one of the five output types"}},
		{"no number", []string{"confidence NaN is not from 0 to 1"}},
		{"signal outside", []string{"a signal is outside the text: bytes 5 to 5000"}},
		{"no cases", []string{"there are no cases to run"}},
		{"bad case", []string{`case 1, "a": want.type: "maybe" is not one of`}},
		{"cassette", []string{
			`no cassette for this request, case "hollow/claim"`,
			"SIDECOACH_RECORD=1 go test -count=1 -run '^TestRunOnPurpose$'",
		}},
	} {
		t.Run(tt.which, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunOnPurpose$")
			cmd.Env = append(os.Environ(), "CLASSIFYTEST_ON_PURPOSE="+tt.which, "SIDECOACH_RECORD=")
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
