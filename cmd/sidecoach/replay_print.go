package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// maxTold is how many faults are told one by one, and maxRows how many sessions have a row of their own, unless all are wanted.
const (
	maxTold        = 20
	maxSessionRows = 20
)

// replayTable prints a row a session, and the total. Of many sessions those with most to say have one, and the others one together.
type replayTable struct {
	terminal
	w      io.Writer
	faults faultLines
	faulty []replayFault // not told yet
	every  bool          // session has a row
	headed bool
	rows   []replayRow
	rest   replaySession // of those without a row
	folded int
}

// replayRow is a session that may have a row; no is when it came.
type replayRow struct {
	replaySession
	no int
}

func (r *replayTable) pause(replayPause) error { return nil }

// fault keeps the faults for the end, where the table does not push them off the screen.
func (r *replayTable) fault(f replayFault) error {
	r.faulty = append(r.faulty, f)
	return nil
}

// tellFaults tells those that were kept, once.
func (r *replayTable) tellFaults() error {
	if len(r.faulty) == 0 {
		return nil
	}
	for _, f := range r.faulty {
		if err := r.faults.tell(f); err != nil {
			return err
		}
	}
	r.faulty = nil
	return r.faults.end()
}

func (r *replayTable) session(s replaySession) error {
	if s.Pauses == 0 {
		return nil
	}
	if r.every {
		return r.row(s, r.where(s))
	}
	r.rows = append(r.rows, replayRow{s, len(r.rows) + r.folded})
	if len(r.rows) > 10*maxSessionRows {
		r.fold()
	}
	return nil
}

// fold keeps the sessions with most to say and adds up the others.
func (r *replayTable) fold() {
	if len(r.rows) <= maxSessionRows {
		return
	}
	weight := func(s replayRow) int { return s.Agrees + s.Against + s.Missed }
	slices.SortFunc(r.rows, func(a, b replayRow) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(b.GoesOn, a.GoesOn), cmp.Compare(b.Pauses, a.Pauses), cmp.Compare(a.no, b.no))
	})
	for _, row := range r.rows[maxSessionRows:] {
		r.folded++
		r.rest.Pauses += row.Pauses
		r.rest.GoesOn += row.GoesOn
		r.rest.Agrees += row.Agrees
		r.rest.Against += row.Against
		r.rest.Missed += row.Missed
	}
	r.rows = r.rows[:maxSessionRows]
}

const (
	replayColumns = "%-9s %7s %9s %7s %8s %7s  %s\n"
	leastColumns  = 76 // of a terminal that shows a table; a narrower one gets a list
)

func (r *replayTable) row(s replaySession, where string) error {
	var b strings.Builder
	if r.width > 0 && r.width < leastColumns {
		fmt.Fprintf(&b, "%s\n", r.paint(bold, where))
		said := fmt.Sprintf("  %s, %s continued, %s agree, %s against, %s missed", plural(s.Pauses, "pause"), thousands(s.GoesOn), thousands(s.Agrees), thousands(s.Against), thousands(s.Missed))
		for _, line := range wrap(said, r.width) {
			fmt.Fprintf(&b, "%s\n", line)
		}
	} else {
		if !r.headed {
			b.WriteString(r.paint(dim, strings.TrimSuffix(fmt.Sprintf(replayColumns, "agent", "pauses", "continues", "agrees", "against", "missed", "session"), "\n")) + "\n")
		}
		fmt.Fprintf(&b, replayColumns, s.Agent, thousands(s.Pauses), thousands(s.GoesOn), thousands(s.Agrees), thousands(s.Against), thousands(s.Missed), where)
	}
	r.headed = true
	_, err := io.WriteString(r.w, b.String())
	return err
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

func (r *replayTable) total(t replayTotal) error {
	r.fold()
	slices.SortFunc(r.rows, func(a, b replayRow) int { return cmp.Compare(a.no, b.no) })
	for _, row := range r.rows {
		if err := r.row(row.replaySession, r.where(row.replaySession)); err != nil {
			return err
		}
	}
	if r.folded > 0 {
		if err := r.row(r.rest, thousands(r.folded)+" more: see --all"); err != nil {
			return err
		}
	}
	p := page{terminal: r.terminal}
	say := func(s style, format string, args ...any) {
		for _, line := range wrap(fmt.Sprintf(format, args...), r.width) {
			if s != "" {
				line = p.paint(s, line)
			}
			p.printf("%s\n", line)
		}
	}
	if r.headed {
		p.printf("\n")
		say(dim, "agrees: you then sent the agent on yourself · against: you answered, or said no · missed: it would have stopped, and you sent the agent on")
	}
	if t.LLM != nil {
		r.llm(t, say)
	}
	if t.LongLines > 0 {
		say("", "%s longer than 4 MiB left out", plural(t.LongLines, "line"))
	}
	if t.Others > 0 {
		say("", "left out, as no transcript: %s", plural(t.Others, "file"))
	}
	if t.Files > 0 {
		for _, row := range []struct {
			label string
			by    map[string]int
		}{{"continued", t.acts[autocontinue.Continue]}, {"stopped", t.acts[autocontinue.Deliver]}, {"dropped", t.acts[autocontinue.Suppress]}} {
			p.row(row.label, reasonsInWords(row.by))
		}
		if t.Interrupted {
			say(yellow, "interrupted: this is what was read until then")
		}
		said := t.sentences()
		for _, sentence := range said[:len(said)-1] {
			say("", "%s", sentence)
		}
		say(bold, "%s", said[len(said)-1])
	}
	if _, err := io.WriteString(r.w, p.String()); err != nil {
		return err
	}
	return r.tellFaults()
}

// llm says what became of asking the LLM.
func (r *replayTable) llm(t replayTotal, say func(s style, format string, args ...any)) {
	l := t.LLM
	if l.Answered > 0 {
		said := fmt.Sprintf("%s judged %s: %s to it", l.Model, plural(l.Answered, "output"), plural(l.PromptTokens, "token"))
		if l.CachedTokens > 0 {
			said += fmt.Sprintf(" (%s of them cached)", thousands(l.CachedTokens))
		}
		said += fmt.Sprintf(" and %s back", thousands(l.CompletionTokens))
		if l.Cost != nil {
			said += ", " + money(*l.Cost) + " by --price"
		}
		if l.Repeated > 0 {
			said += fmt.Sprintf("; %s the same as before and not sent", plural(l.Repeated, "output"))
		}
		say("", "%s", visible(said))
	}
	if t.Fallbacks > 0 {
		say(yellow, "the LLM had no answer for %s of %s; the heuristic decided:", thousands(t.Fallbacks), plural(t.Asked, "output"))
		for _, why := range slices.SortedFunc(maps.Keys(l.Failed), func(a, b string) int { return cmp.Or(cmp.Compare(l.Failed[b], l.Failed[a]), cmp.Compare(a, b)) }) {
			say("", "  %s  %s", thousands(l.Failed[why]), visible(why))
		}
	}
}

// faultLines tells faults on standard error, the first ones of many.
type faultLines struct {
	w    io.Writer
	told int
}

func (f *faultLines) tell(fault replayFault) error {
	if f.told++; f.told <= maxTold {
		complain(f.w, "sidecoach: "+fault.File+": "+fault.Fault)
	}
	return nil
}

func (f *faultLines) end() error {
	if n := f.told - maxTold; n > 0 {
		complain(f.w, fmt.Sprintf("sidecoach: and %s more with a fault; --json names each", plural(n, "file")))
	}
	return nil
}
