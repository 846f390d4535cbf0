package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
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

// replayTable prints a row a session, and the total. Of many sessions those with most to say have a row, and the
// others share one.
type replayTable struct {
	terminal
	w, errs io.Writer
	every   bool // each session has a row
	faults  []replayFault
	rows    []*replaySession
}

// show keeps the sessions and faults, and prints all with the total: so the table does not push the faults off the
// screen.
func (r *replayTable) show(v any) error {
	switch v := v.(type) {
	case replayFault:
		r.faults = append(r.faults, v)
	case replaySession:
		if v.Pauses > 0 {
			r.rows = append(r.rows, &v)
		}
	case replayTotal:
		_, err := io.WriteString(r.w, r.total(v))
		if err == nil {
			r.showFaults()
		}
		return err
	}
	return nil
}

// showFaults shows the faults, once.
func (r *replayTable) showFaults() {
	for _, f := range r.faults[:min(len(r.faults), maxFaults)] {
		complain(r.errs, "sidecoach: "+f.File+": "+f.Fault)
	}
	if n := len(r.faults) - maxFaults; n > 0 {
		complain(r.errs, fmt.Sprintf("sidecoach: and %s more with a fault; --json names each", plural(n, "file")))
	}
	r.faults = nil
}

const (
	replayColumns = "%-9s %7s %9s %7s %8s %7s  %s\n"
	leastColumns  = 76 // of a terminal that shows a table; a narrower one gets a list
)

func (r *replayTable) row(p *page, s replaySession, where string) {
	n := []any{thousands(s.Continued), thousands(s.Agrees), thousands(s.Against), thousands(s.Missed)}
	if r.width > 0 && r.width < leastColumns {
		said := fmt.Sprintf("  "+plural(s.Pauses, "pause")+", %s continued, %s agree, %s against, %s missed", n...)
		p.printf("%s\n%s\n", p.paint(bold, where), strings.Join(wrap(said, r.width), "\n"))
		return
	}
	p.printf(replayColumns, append(append([]any{s.Agent, thousands(s.Pauses)}, n...), where)...)
}

// where names a session by its file, and by its own name where the file does not have it.
func (r *replayTable) where(s replaySession) string {
	name := s.File
	if s.Session != s.File && !strings.Contains(filepath.Base(s.File), s.Session) {
		name += "#" + s.Session
	}
	room := r.width
	if r.width >= leastColumns {
		room -= len(fmt.Sprintf(replayColumns, "", "", "", "", "", "", "")) - 1
	}
	return lastColumns(visible(name), room)
}

// table prints the rows.
func (r *replayTable) table(p *page) {
	if r.width == 0 || r.width >= leastColumns {
		head := fmt.Sprintf(replayColumns, "agent", "pauses", "continues", "agrees", "against", "missed", "session")
		p.printf("%s\n", p.paint(dim, strings.TrimSuffix(head, "\n")))
	}
	ranked := slices.SortedStableFunc(slices.Values(r.rows), func(a, b *replaySession) int {
		return cmp.Or(cmp.Compare(b.Agrees+b.Against+b.Missed, a.Agrees+a.Against+a.Missed),
			cmp.Compare(b.Continued, a.Continued), cmp.Compare(b.Pauses, a.Pauses))
	})
	shown := ranked[:min(len(ranked), maxSessionRows)]
	var rest replaySession
	for _, s := range r.rows {
		if r.every || slices.Contains(shown, s) {
			r.row(p, *s, r.where(*s))
			continue
		}
		rest.Pauses += s.Pauses
		rest.Continued += s.Continued
		rest.Agrees += s.Agrees
		rest.Against += s.Against
		rest.Missed += s.Missed
	}
	if hidden := len(r.rows) - len(shown); hidden > 0 && !r.every {
		r.row(p, rest, thousands(hidden)+" more: see --all")
	}
	p.printf("\n")
}

// total returns all that is printed.
func (r *replayTable) total(t replayTotal) string {
	p := page{terminal: r.terminal}
	if len(r.rows) > 0 {
		r.table(&p)
		p.say(dim, "agrees: you then continued the agent yourself · against: you answered, or said no · "+
			"missed: it would have stopped, and you continued the agent")
	}
	if t.LLM != nil {
		p.sayLLM(t)
	}
	if t.LongLines > 0 {
		p.say("", plural(t.LongLines, "line")+" longer than 4 MiB left out")
	}
	if t.Others > 0 {
		p.say("", "not a transcript, left out: "+plural(t.Others, "file"))
	}
	if t.Files == 0 {
		return p.String()
	}
	p.row("continued", reasonsInWords(t.byAction[autocontinue.Continue]))
	p.row("stopped", reasonsInWords(t.byAction[autocontinue.Deliver]))
	p.row("dropped", reasonsInWords(t.byAction[autocontinue.Suppress]))
	if t.Interrupted {
		p.say(yellow, "interrupted: this is what was read until then")
	}
	said := t.sentences()
	for i, sentence := range said {
		style := style("")
		if i == len(said)-1 {
			style = bold
		}
		p.say(style, sentence)
	}
	return p.String()
}

// replayJSON returns a function that prints JSON, one object a line.
func replayJSON(w, errs io.Writer) func(any) error {
	faults := 0
	return func(v any) error {
		kind := "total"
		switch v := v.(type) {
		case replayPause:
			kind = "pause"
		case replaySession:
			kind = "session"
		case replayFault:
			kind = "fault"
			if faults++; faults <= maxFaults {
				complain(errs, "sidecoach: "+v.File+": "+v.Fault)
			}
		}
		return writeJSON(w, map[string]any{kind: v})
	}
}

// labelled are pauses that the human's words label: a nudge follows a status, and an answer follows a question.
type labelled struct {
	judged []evaluate.Judged
	names  map[string]int // how many are on a line: a whole session may stand on one
}

func (l *labelled) add(p replayPause, m hook.Moment) {
	if l == nil || len(l.judged) == maxLabelled {
		return
	}
	// The words do not tell which of the two kinds of status it was, so the verdict decides that.
	want := evaluate.Want{Type: classify.Status, WasRejectedCompletion: p.Rejected}
	if p.Asked {
		want = evaluate.Want{Type: classify.Question}
	}
	name := fmt.Sprintf("%s:%d", p.File, p.Line)
	if l.names == nil {
		l.names = make(map[string]int)
	}
	if l.names[name]++; l.names[name] > 1 {
		name += fmt.Sprintf("#%d", l.names[name])
	}
	clip := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxShown)], "") }
	out := m.Output
	in := classify.Input{
		Text: clip(out.Text), Request: clip(out.Request), Evidence: out.Evidence, Work: out.Work, Coached: out.Continues,
	}
	meta := map[string]any{"sure": false, "agent": p.Agent, "session": p.Session, "decision": string(p.Reason)}
	l.judged = append(l.judged, evaluate.Judged{
		Case: evaluate.Case{Name: name, Input: in, Want: want, Meta: meta}, Result: m.Decision.Result,
	})
}

// report is the content of the page.
func (l *labelled) report(name string, threshold float64, total replayTotal) (evaluate.Report, error) {
	if len(l.judged) == 0 {
		return evaluate.Report{}, badInput("without --html the table shows what was decided",
			"there is nothing to show on a page: your words label no pause")
	}
	about := append(total.sentences(), "Below are the pauses that your words label: a status where you continued "+
		"the agent, a question where you answered one.")
	if total.labels > len(l.judged) {
		about = append(about, fmt.Sprintf("These are the first %s of %s such pauses.",
			thousands(len(l.judged)), thousands(total.labels)))
	}
	return evaluate.Record(l.judged, evaluate.Options{Threshold: threshold, Name: name, About: about})
}
