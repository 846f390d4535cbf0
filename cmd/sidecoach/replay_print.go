package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

const (
	maxFaults      = 20 // that are shown one by one
	maxSessionRows = 20 // sessions that have a row of their own
	maxLabelled    = 1000
	maxShown       = 32 << 10 // bytes of an output on a page
)

// replayTable prints a row for each session, and the total. Of many sessions those with most to say have a row.
type replayTable struct {
	page
	every bool // each session has a row
	rows  []replaySession
}

// show keeps the sessions, and writes all when the total comes.
func (r *replayTable) show(_ string, v any) error {
	switch v := v.(type) {
	case replaySession:
		if v.Pauses > 0 {
			r.rows = append(r.rows, v)
		}
	case replayTotal:
		r.total(v)
	}
	return nil
}

func (r *replayTable) sessions() {
	shown := r.rows
	if !r.every {
		shown = slices.SortedStableFunc(slices.Values(r.rows), func(a, b replaySession) int {
			return cmp.Or(cmp.Compare(b.Agrees+b.Against+b.Missed, a.Agrees+a.Against+a.Missed),
				cmp.Compare(b.Continued, a.Continued), cmp.Compare(b.Pauses, a.Pauses))
		})
		shown = shown[:min(len(shown), maxSessionRows)]
	}
	for _, s := range shown {
		name := s.File
		if !strings.Contains(filepath.Base(s.File), s.Session) {
			name += "#" + s.Session
		}
		r.row(s.Agent, fmt.Sprintf("%s, %s continued, %s agrees, %s against, %s missed: %s", plural(s.Pauses, "pause"),
			thousands(s.Continued), thousands(s.Agrees), thousands(s.Against), thousands(s.Missed), name))
	}
	if more := len(r.rows) - len(shown); more > 0 {
		r.row("", thousands(more)+" more: see --all")
	}
	r.printf("\n")
}

func (r *replayTable) total(t replayTotal) {
	if len(r.rows) > 0 {
		r.sessions()
		r.say(dim, "agrees: you then continued the agent yourself · against: you answered, or said no · "+
			"missed: it would have stopped, and you continued the agent")
	}
	r.view("replay", t)
	if t.Files == 0 {
		return
	}
	r.reasons(t.byAction)
	if t.Interrupted {
		r.say(yellow, "interrupted: this is what was read until then")
	}
	said := t.sentences()
	for _, sentence := range said[:len(said)-1] {
		r.say("", sentence)
	}
	r.say(bold, said[len(said)-1])
}

// sentences say what comes of everything. The last one is the verdict, where there is something to judge.
func (t replayTotal) sentences() []string { return strings.Split(view("sentences", t), "\n") }

// worth says whether the hook would have helped: it compares the messages that it would have spared the human with the
// questions that it would have passed over. A question costs more than a message, so it pays from two messages a
// question on.
func worth(agrees, against int) string {
	switch {
	case agrees == 0 && against == 0:
		return "no_difference"
	case against >= agrees:
		return "does_not_pay"
	case agrees >= 2*against:
		return "pays"
	}
	return "may_pay"
}

// labelled are pauses that the human's words label: a nudge follows a status, and an answer follows a question.
type labelled struct {
	cases   []evaluate.Case
	results []classify.Result
}

func (l *labelled) add(p replayPause, m hook.Moment) {
	if len(l.cases) == maxLabelled {
		return
	}
	// The words do not tell which of the two kinds of status it was, so the verdict decides that.
	want := evaluate.Want{Type: classify.Status, WasRejectedCompletion: p.Rejected}
	if p.Asked {
		want = evaluate.Want{Type: classify.Question}
	}
	name := fmt.Sprintf("%s:%d", p.File, p.Line)
	clip := func(s string) string {
		s = masked(s)
		return strings.ToValidUTF8(s[:min(len(s), maxShown)], "")
	}
	out := m.Output
	in := classify.Input{
		Text: clip(out.Text), Request: clip(out.Request), Evidence: out.Evidence, Work: out.Work, Coached: out.Continues,
	}
	meta := map[string]any{"sure": false, "agent": p.Agent, "session": p.Session, "decision": string(p.Reason)}
	l.cases = append(l.cases, evaluate.Case{Name: name, Input: in, Want: want, Meta: meta})
	l.results = append(l.results, m.Decision.Result)
}

func (l *labelled) report(threshold float64, total replayTotal) (evaluate.Report, error) {
	name := "heuristic"
	if total.LLM != nil {
		name = total.LLM.Model
	}
	if len(l.cases) == 0 {
		return evaluate.Report{}, badInput("without --html the table shows what was decided",
			"there is nothing to show on a page: your words label no pause")
	}
	about := append(total.sentences(), "Below are the pauses that your words label: a status where you continued "+
		"the agent, a question where you answered one.")
	if total.labels > len(l.cases) {
		about = append(about, fmt.Sprintf("These are the first %s of %s such pauses.",
			thousands(len(l.cases)), thousands(total.labels)))
	}
	return evaluate.Record(l.cases, l.results, evaluate.Options{Threshold: threshold, Name: name, About: about})
}
