package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

const example = "Done.\nFixed the login redirect, should work now.\n"

// at is a signal on the first occurrence of some words of a text.
func at(text, words string, kind classify.SignalKind, weight float64) classify.Signal {
	start := strings.Index(text, words)
	return classify.Signal{Kind: kind, Start: start, End: start + len(words), Weight: weight}
}

func rejected() autocontinue.Decision {
	return autocontinue.Decision{
		Action: autocontinue.Continue, Outcome: "continuing", Reason: "rejected_completion", Tier: "rejection", Attempt: 1,
		Message: "[System Coach] You wrote \"should work now\".\n- show the test output that you saw when you ran them",
		Result: classify.Result{
			Type: classify.Status, Confidence: 0.914, WasRejectedCompletion: true,
			Signals: []classify.Signal{
				at(example, "Fixed the login redirect", classify.SignalClaim, 1),
				at(example, "should work now", classify.SignalHedge, 2),
			},
		},
	}
}

func TestRender(t *testing.T) {
	for _, tt := range []struct {
		name string
		d    autocontinue.Decision
		text string
		term terminal
		want string
	}{
		{name: "rejected completion", d: rejected(), text: example, want: `
continue · rejected completion · tier rejection · 0.91
  claim     2:1   "Fixed the login redirect"
  hedge     2:27  "should work now"
  missing   one of test output, exit code, commit, PR link
send to the agent:
  [System Coach] You wrote "should work now".
  - show the test output that you saw when you ran them
`},
		{name: "wrapped on a terminal", d: rejected(), text: example, term: terminal{width: 36}, want: `
continue · rejected completion ·
tier rejection · 0.91
  claim     2:1 "Fixed the login
            redirect"
  hedge     2:27  "should work now"
  missing   one of test output, exit
            code, commit, PR link
send to the agent:
  [System Coach] You wrote "should
  work now".
  - show the test output that you
  saw when you ran them
`},
		{name: "in colour", d: autocontinue.Decision{Action: autocontinue.Deliver, Outcome: "completed", Reason: "completion",
			Result: classify.Result{Type: classify.Completion, Confidence: 0.97,
				Signals: []classify.Signal{at("ok", "ok", classify.SignalEvidence, 1)}}}, text: "ok", term: terminal{color: true},
			want: "\n" +
				"\x1b[1;32mdeliver\x1b[0m\x1b[2m · \x1b[0m\x1b[1mcompletion\x1b[0m\x1b[2m · \x1b[0m0.97\n" +
				"  \x1b[2mevidence  \x1b[0m1:1   \"ok\"\n"},
		{name: "to the human", d: autocontinue.Decision{Action: autocontinue.Deliver, Outcome: "needs_human",
			Reason: "low_confidence", Note: "not certain enough", Degraded: []string{"plan.md: no section"},
			Result: classify.Result{Type: classify.Status, Confidence: 0.5, Reason: "looks like\nprogress",
				Fallback: "timeout"}}, want: `
deliver · status · low confidence · 0.50
  why       looks like progress
  note      not certain enough
  degraded  plan.md: no section
`},
		{name: "empty output", d: autocontinue.Decision{Action: autocontinue.Continue, Reason: "empty", Tier: "plain",
			Message: "continue", Result: classify.Result{Type: classify.Status, Confidence: 1}}, text: "\n", want: `
continue · empty output · tier plain · 1.00
send to the agent:
  continue
`},
		{name: "again", d: autocontinue.Decision{Action: autocontinue.Continue, Reason: "progress", Tier: "repeat",
			Attempt: 2, Message: "x\n\ny\n", Result: classify.Result{Type: classify.Status, Confidence: 1}}, want: `
continue · status · tier repeat · attempt 2 · 1.00
send to the agent:
  x

  y
`},
		{name: "not read at all", d: autocontinue.Decision{Action: autocontinue.Suppress, Outcome: "duplicate",
			Reason: "run_closed"}, want: `
suppress · run closed
`},
		{name: "hostile", d: autocontinue.Decision{Action: autocontinue.Deliver, Reason: "question", Note: "a\x1b[2Jb",
			Result: classify.Result{Type: classify.Question, Reason: "\u202e", Confidence: 0.9,
				Signals: []classify.Signal{at("\x1b[2J ok?", "\x1b[2J ok?", classify.SignalQuestion, 1),
					{Kind: "claim", Start: 5, End: 99}}}}, text: "\x1b[2J ok?", want: `
deliver · question · 0.90
  question  1:1   "\x1b[2J ok?"
  why       \u202e
  note      a\x1b[2Jb
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want[1:], tt.term.show(render(tt.d, tt.text)))
		})
	}
}

func TestRenderShowsTheStrongestSignalsInOrder(t *testing.T) {
	text := strings.Repeat("ab ", 12)
	d := autocontinue.Decision{
		Action: autocontinue.Deliver,
		Result: classify.Result{Type: classify.Completion, SignalsDropped: 5},
	}
	for i := range 12 {
		d.Result.Signals = append(
			d.Result.Signals,
			classify.Signal{Kind: classify.SignalEvidence, Start: 3 * i, End: 3*i + 2, Weight: float64(i % 6)},
		)
	}
	out := terminal{}.show(render(d, text))
	assert.Equal(t, maxRows, strings.Count(out, "evidence"))
	assert.Contains(t, out, "          … and 9 more\n")
	assert.NotContains(t, out, " 1:1 ", "the weakest is left out")
	assert.Less(
		t,
		strings.Index(out, "1:7 "),
		strings.Index(out, "1:34"),
		"those that are shown stand in the order of the text",
	)
	assert.Equal(t, 0.0, d.Result.Signals[0].Weight, "the decision is left as it was")
}

func TestEvidenceInWords(t *testing.T) {
	assert.Equal(t, "commit", view("evidence", []classify.EvidenceKind{classify.EvidenceCommit}))
	assert.Equal(
		t,
		"test output, PR link",
		view("evidence", []classify.EvidenceKind{classify.EvidenceTests, classify.EvidencePullRequest}),
	)
}
