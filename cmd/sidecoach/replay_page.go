package main

import (
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

const (
	maxLabelled = 1000
	maxShown    = 32 << 10 // bytes of an output on a page
)

// labelled are pauses that the human's words label: a nudge follows a status, and an answer follows a question.
type labelled struct {
	cases   []evaluate.Case
	results []classify.Result
}

func (l *labelled) add(p replayPause, m hook.Moment) {
	nudged := p.Effect == "agrees" || p.Effect == "missed"
	if !p.Type.Valid() || !p.Asked && !nudged || len(l.cases) == maxLabelled {
		return
	}
	// The words do not tell which of the two kinds of status it was, so the verdict decides that.
	want := evaluate.Want{Type: classify.Status, WasRejectedCompletion: p.Rejected}
	if p.Asked {
		want = evaluate.Want{Type: classify.Question}
	}
	clip := func(s string) string {
		s = masked(s)
		return strings.ToValidUTF8(s[:min(len(s), maxShown)], "")
	}
	out := m.Output
	in := classify.Input{
		Text: clip(out.Text), Request: clip(out.Request), Evidence: out.Evidence, Work: out.Work, Coached: out.Continues,
	}
	meta := map[string]any{"sure": false, "agent": p.Agent, "session": p.Session, "decision": string(p.Reason)}
	l.cases = append(l.cases, evaluate.Case{Name: fmt.Sprintf("%s:%d", p.File, p.Line), Input: in, Want: want, Meta: meta})
	l.results = append(l.results, m.Decision.Result)
}

// page writes what the labels say to a file.
func (l *labelled) page(name string, opts evaluate.Options) error {
	if len(l.cases) == 0 {
		return badInput("without --html the table shows what was decided",
			"there is nothing to show on a page: your words label no pause")
	}
	opts.About = append(opts.About, "Below are the pauses that your words label: a status where you continued the agent, "+
		"a question where you answered one.")
	report, err := evaluate.Record(l.cases, l.results, opts)
	if err != nil {
		return err
	}
	return writePage(name, report)
}
