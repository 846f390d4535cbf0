package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

const (
	maxTold        = 20 // faults that are told one by one
	maxSessionRows = 20 // sessions that have a row of their own
	maxLabelled    = 1000
	maxShown       = 32 << 10 // bytes of an output on a page
)

// replayTable prints a row a session, and the total. Of many sessions those with most to say have a row, and the others share
// one.
type replayTable struct {
	terminal
	w, errs io.Writer
	every   bool // each session has a row
	faults  []replayFault
	rows    []replaySession
}

func (r *replayTable) pause(replayPause) error { return nil }

// fault keeps the faults for the end, where the table does not push them off the screen.
func (r *replayTable) fault(f replayFault) error {
	r.faults = append(r.faults, f)
	return nil
}

// tellFaults tells the faults, once.
func (r *replayTable) tellFaults() error {
	for _, f := range r.faults[:min(len(r.faults), maxTold)] {
		complain(r.errs, "sidecoach: "+f.File+": "+f.Fault)
	}
	if n := len(r.faults) - maxTold; n > 0 {
		complain(r.errs, fmt.Sprintf("sidecoach: and %s more with a fault; --json names each", plural(n, "file")))
	}
	r.faults = nil
	return nil
}

func (r *replayTable) session(s replaySession) error {
	if s.Pauses > 0 {
		r.rows = append(r.rows, s)
	}
	return nil
}

const (
	replayColumns = "%-9s %7s %9s %7s %8s %7s  %s\n"
	leastColumns  = 76 // of a terminal that shows a table; a narrower one gets a list
)

func (r *replayTable) row(p *page, s replaySession, where string) {
	if r.width > 0 && r.width < leastColumns {
		p.printf("%s\n", p.paint(bold, where))
		said := fmt.Sprintf("  %s, %s continued, %s agree, %s against, %s missed",
			plural(s.Pauses, "pause"), thousands(s.Continued), thousands(s.Agrees), thousands(s.Against), thousands(s.Missed))
		p.printf("%s\n", strings.Join(wrap(said, r.width), "\n"))
		return
	}
	p.printf(replayColumns, s.Agent, thousands(s.Pauses), thousands(s.Continued), thousands(s.Agrees), thousands(s.Against), thousands(s.Missed), where)
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
	if len(r.rows) == 0 {
		return
	}
	if r.width == 0 || r.width >= leastColumns {
		head := fmt.Sprintf(replayColumns, "agent", "pauses", "continues", "agrees", "against", "missed", "session")
		p.printf("%s\n", p.paint(dim, strings.TrimSuffix(head, "\n")))
	}
	least := func(s replaySession) []int { return []int{-s.Agrees - s.Against - s.Missed, -s.Continued, -s.Pauses} }
	order := slices.Clone(r.rows)
	slices.SortStableFunc(order, func(a, b replaySession) int { return slices.Compare(least(a), least(b)) })
	shown := make(map[string]bool)
	for _, s := range order[:min(len(order), maxSessionRows)] {
		shown[s.File+"\x00"+s.Session] = true
	}
	var rest replaySession
	folded := 0
	for _, s := range r.rows {
		if r.every || shown[s.File+"\x00"+s.Session] {
			r.row(p, s, r.where(s))
			continue
		}
		rest.add(s.replayCounts)
		folded++
	}
	if folded > 0 {
		r.row(p, rest, thousands(folded)+" more: see --all")
	}
	p.printf("\n")
}

func (r *replayTable) total(t replayTotal) error {
	p := page{terminal: r.terminal}
	say := func(s style, format string, args ...any) {
		for _, line := range wrap(fmt.Sprintf(format, args...), r.width) {
			if s != "" {
				line = p.paint(s, line)
			}
			p.printf("%s\n", line)
		}
	}
	r.table(&p)
	if len(r.rows) > 0 {
		say(dim, "agrees: you then continued the agent yourself · against: you answered, or said no · "+
			"missed: it would have stopped, and you continued the agent")
	}
	if t.LLM != nil {
		t.sayLLM(say)
	}
	if t.LongLines > 0 {
		say("", "%s longer than 4 MiB left out", plural(t.LongLines, "line"))
	}
	if t.Others > 0 {
		say("", "not a transcript, left out: %s", plural(t.Others, "file"))
	}
	if t.Files > 0 {
		p.row("continued", reasonsInWords(t.byAction[autocontinue.Continue]))
		p.row("stopped", reasonsInWords(t.byAction[autocontinue.Deliver]))
		p.row("dropped", reasonsInWords(t.byAction[autocontinue.Suppress]))
		if t.Interrupted {
			say(yellow, "interrupted: this is what was read until then")
		}
		said := t.sentences()
		for i, sentence := range said {
			s := style("")
			if i == len(said)-1 {
				s = bold
			}
			say(s, "%s", sentence)
		}
	}
	if _, err := io.WriteString(r.w, p.String()); err != nil {
		return err
	}
	return r.tellFaults()
}

// sayLLM says what became of asking the LLM.
func (t replayTotal) sayLLM(say func(s style, format string, args ...any)) {
	l := t.LLM
	if l.Answered > 0 {
		said := fmt.Sprintf("%s judged %s: it read %s", l.Model, plural(l.Answered, "output"), plural(l.PromptTokens, "token"))
		if l.CachedTokens > 0 {
			said += fmt.Sprintf(" (%s of them cached)", thousands(l.CachedTokens))
		}
		said += fmt.Sprintf(" and wrote %s", thousands(l.CompletionTokens))
		if l.Repeated > 0 {
			said += fmt.Sprintf("; %s the same as before and not sent", plural(l.Repeated, "output"))
		}
		say("", "%s", visible(said))
	}
	if t.Fallbacks > 0 {
		say(yellow, "the LLM had no answer for %s of %s; the heuristic decided:", thousands(t.Fallbacks), plural(t.Judged, "output"))
		for _, why := range slices.SortedFunc(maps.Keys(l.Failed), func(a, b string) int {
			return cmp.Or(cmp.Compare(l.Failed[b], l.Failed[a]), cmp.Compare(a, b))
		}) {
			say("", "  %s  %s", thousands(l.Failed[why]), visible(why))
		}
	}
}

// replayJSON prints JSON, one object a line.
type replayJSON struct {
	w, errs io.Writer
	told    int
}

func (r *replayJSON) pause(p replayPause) error     { return r.line("pause", p) }
func (r *replayJSON) session(s replaySession) error { return r.line("session", s) }
func (r *replayJSON) total(t replayTotal) error     { return r.line("total", t) }

func (r *replayJSON) fault(f replayFault) error {
	if r.told++; r.told <= maxTold {
		complain(r.errs, "sidecoach: "+f.File+": "+f.Fault)
	}
	return r.line("fault", f)
}

func (r *replayJSON) line(kind string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{kind: v}); err != nil {
		return err
	}
	_, err := io.WriteString(r.w, harmless(b.String()))
	return err
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
	l.judged = append(l.judged, evaluate.Judged{
		Case: evaluate.Case{
			Name: name,
			Input: classify.Input{
				Text: clip(out.Text), Request: clip(out.Request), Evidence: out.Evidence, Work: out.Work, Coached: out.Continues,
			},
			Want: want,
			Meta: map[string]any{"sure": false, "agent": p.Agent, "session": p.Session, "decision": string(p.Reason)},
		},
		Result: m.Decision.Result,
	})
}

// report writes the page.
func (l *labelled) report(name string, threshold float64, total replayTotal) (func(io.Writer) error, error) {
	if len(l.judged) == 0 {
		return nil, badInput("without --html the table shows what was decided", "there is nothing to show on a page: your words label no pause")
	}
	about := append(total.sentences(), "Below are the pauses that your words label: a status where you continued the agent, a question where you answered one.")
	if total.labels > len(l.judged) {
		about = append(about, fmt.Sprintf("These are the first %s of %s such pauses.", thousands(len(l.judged)), thousands(total.labels)))
	}
	report, err := evaluate.Record(l.judged, evaluate.Options{Threshold: threshold, Name: name, About: about})
	return func(w io.Writer) error { return evaluate.HTML(w, evaluate.Run{Report: report}) }, err
}
