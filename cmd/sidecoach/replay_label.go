package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// What a page holds at most.
const (
	maxLabelled = 1000
	maxShown    = 32 << 10 // bytes of an output
)

// labelled are pauses that the human's words label: what got a nudge was a status, and what got an answer a question.
type labelled struct{ judged []evaluate.Judged }

func (l *labelled) add(p replayPause, m hook.Moment) {
	if len(l.judged) == maxLabelled || !m.Decision.Result.Type.Valid() {
		return
	}
	want := classify.Status
	switch {
	case p.Reply == hook.ReplyNudge:
	case p.Asked:
		want = classify.Question
	default:
		return
	}
	l.judged = append(l.judged, evaluate.Judged{
		Case: evaluate.Case{
			Name:  fmt.Sprintf("%s:%d", p.File, p.Line),
			Input: classify.Input{Text: clipped(m.Output.Text), Request: clipped(m.Output.Request), Evidence: m.Output.Evidence, Coached: m.Output.Continues},
			Want:  evaluate.Want{Type: want},
			Meta:  map[string]any{"sure": false, "agent": p.Agent, "session": p.Session, "decision": string(p.Reason)},
		},
		Result: m.Decision.Result,
	})
}

func clipped(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "")
}

// report writes the page.
func (l *labelled) report(name string, threshold float64) (func(io.Writer) error, error) {
	if len(l.judged) == 0 {
		return nil, badInput("without --html the table shows what was decided", "there is nothing to show on a page: after no pause did the human's words tell what it was")
	}
	report, err := evaluate.Record(l.judged, evaluate.Options{Threshold: threshold, Name: name})
	return report.HTML, err
}
