package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

const (
	shortID   = 8   // characters of a decision's ID that are shown
	logQuote  = 100 // characters of an output that are shown
	logIndent = "  "
	logTime   = "2006-01-02 15:04:05"
)

// logPage writes journal entries for a person, under a line for each session.
type logPage struct {
	terminal
	session string // the line of the session before
}

// entry is one entry: when, the decision's ID, the decision, then what there is to say about it. The row "result" is
// what the totals count.
func (l *logPage) entry(e entry, result string) string {
	p := page{terminal: l.terminal}
	session := p.paint(bold, visible(cmp.Or(e.Session, "no session")))
	if e.Host != "" {
		session += p.paint(dim, " ("+visible(e.Host)+")")
	}
	if session != l.session {
		if l.session != "" {
			p.printf("\n")
		}
		p.printf("%s\n", session)
		l.session = session
	}
	rows := page{terminal: l.terminal} // they stand below the decision, further in
	if rows.width > 0 {
		rows.width = max(1, rows.width-len(logIndent))
	}
	p.printf("%s%s  ", logIndent, p.paint(dim, e.Time.Local().Format(logTime)))
	if e.Notice != "" {
		p.printf("%s\n", p.paint(yellow, "notice"))
		rows.row("", e.Notice)
	} else {
		p.printf("%s\n", l.decision(e))
		rows.about(e)
		rows.row("result", result)
	}
	for line := range strings.Lines(rows.String()) {
		p.WriteString(logIndent + line)
	}
	return p.String()
}

// decision is the decision's ID and what was decided. A journal is a file, and may hold anything: nothing in it reaches
// the terminal unescaped.
func (l *logPage) decision(e entry) string {
	d := e.Decision
	d.Reason, d.Tier = autocontinue.Reason(visible(string(d.Reason))), coach.Tier(visible(string(d.Tier)))
	head := func(t terminal) string {
		text := t.headline(d, visible(verdictInWords(d)))
		if d.Replayed {
			text += t.paint(dim, " · replayed")
		}
		if e.Shadow {
			text += t.paint(dim, " · shadow: not continued")
		}
		return text
	}
	id := fmt.Sprintf("%-*.*s", shortID, shortID, visible(d.ID))
	gap := "  "
	if l.width > 0 && len(logIndent+logTime+"  "+id+gap)+utf8.RuneCountInString(head(terminal{})) > l.width {
		gap = "\n" + logIndent + "  " // where the rows below begin
	}
	return l.paint(dim, id) + gap + head(l.terminal)
}

func (p *page) about(e entry) {
	d := e.Decision
	if e.Preview != "" {
		p.row("output", quote(e.Preview, p.room(logQuote, labelWidth+4)))
	}
	// The notes of other reasons say no more than the reasons do.
	if d.Verified == autocontinue.Unverified || d.Goal != "" || slices.Contains([]autocontinue.Reason{
		autocontinue.ReasonHold, autocontinue.ReasonLowConfidence, autocontinue.ReasonRepeat, autocontinue.ReasonCap,
	}, d.Reason) {
		p.row("note", d.Note)
	}
	p.view("entry", e)
}

type totals struct {
	Decisions  int            `json:"decisions"` // replays, which repeat one, not counted
	Sessions   int            `json:"sessions"`
	Continued  map[string]int `json:"continued"` // how often for each reason
	Stopped    map[string]int `json:"stopped"`
	Suppressed map[string]int `json:"suppressed"`
	Continues  outcomes       `json:"continues"`
	Judge      judgeTotals    `json:"judge"`
	Fallbacks  int            `json:"fallbacks"` // verdicts that were to be another classifier's
	Degraded   int            `json:"degraded"`  // decisions that something could not be used for
	Replayed   int            `json:"replayed"`
	Shadowed   int            `json:"shadowed"` // would have been continued
	Notices    int            `json:"notices"`
	Unreadable int            `json:"unreadable"` // lines, of whatever session

	chains map[[2]string]*chain
}

// counts is "3: rejected completion 2, progress 1".
func counts(of map[string]int) string {
	mostFrequent := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
	})
	sum, reasons := 0, make([]string, len(mostFrequent))
	for i, reason := range mostFrequent {
		reasons[i] = visible(words(reason)) + " " + thousands(of[reason])
		sum += of[reason]
	}
	return thousands(sum) + ": " + strings.Join(reasons, ", ")
}

// outcomes says what the continuations led to: the turn ended with an accepted completion, or with anything else.
type outcomes struct {
	Accepted    int `json:"accepted"`
	NotAccepted int `json:"not_accepted"`
	Open        int `json:"open"`
}

// judgeTotals are the verdicts of an LLM, and what they cost together.
type judgeTotals struct {
	Verdicts int `json:"verdicts"`
	classify.Usage
}

// chain is the continuations of a session's current turn that have no result yet. The link between them is
// [autocontinue.Decision].Continues, which counts within the turn: the hosts' names of turns change when a hook
// continues.
type chain struct {
	open int
	last int // Continues of the last one
}

func newTotals() totals {
	return totals{Continued: map[string]int{}, Stopped: map[string]int{}, Suppressed: map[string]int{},
		chains: map[[2]string]*chain{}}
}

// add counts an entry and says what it shows about the continuations before it; "" is nothing. The entries of a session
// come in the order of their decisions.
func (t *totals) add(e entry) (result string) {
	d := e.Decision
	switch {
	case e.Notice != "":
		t.Notices++
		return ""
	case d.Replayed:
		t.Replayed++
		return ""
	}
	t.Decisions++
	if len(d.Degraded) > 0 {
		t.Degraded++
	}
	if d.Result.Fallback != "" {
		t.Fallbacks++
	}
	t.Judge.add(d.Result.Usage)
	session := [2]string{e.Host, e.Session}
	c := t.chains[session]
	if c == nil {
		c = &chain{}
		t.chains[session] = c
		t.Sessions++
	}
	if e.Shadow && d.Action == autocontinue.Continue {
		t.Shadowed++ // not continued
		return ""
	}
	switch d.Action {
	case autocontinue.Suppress:
		t.Suppressed[string(d.Reason)]++
	case autocontinue.Continue:
		t.Continued[string(d.Reason)]++
		if d.Continues <= c.last {
			result = t.close(c, false, true)
		}
		c.open, c.last = c.open+1, d.Continues
		t.Continues.Open++
	case autocontinue.Deliver:
		t.Stopped[string(d.Reason)]++
		before := d.Continues < c.last
		if d.Reason == autocontinue.ReasonSuperseded && !before {
			return "" // it belongs to an older turn, and says nothing about the current one
		}
		result = t.close(c, d.Reason == autocontinue.ReasonCompletion && !before, before)
	}
	return result
}

// close ends the chain of a turn: the current one, or the one before. It says what that shows.
func (t *totals) close(c *chain, accepted, before bool) string {
	n := c.open
	*c = chain{}
	if n == 0 {
		return ""
	}
	t.Continues.Open -= n
	text := plural(n, "continue")
	if before {
		text += " of the turn before"
	}
	if accepted {
		t.Continues.Accepted += n
		return text + " accepted"
	}
	t.Continues.NotAccepted += n
	return text + " not accepted"
}

func (j *judgeTotals) add(u *classify.Usage) {
	if u == nil {
		return
	}
	j.Verdicts++
	j.Attempts += u.Attempts
	j.PromptTokens += u.PromptTokens
	j.CachedTokens += u.CachedTokens
	j.CompletionTokens += u.CompletionTokens
	j.CostUSD += u.CostUSD
	j.Latency += u.Latency
}

func (t *totals) table(to terminal) string {
	p := page{terminal: to}
	p.printf("\n%s\n", p.paint(bold, plural(t.Decisions, "decision")+" in "+plural(t.Sessions, "session")))
	p.view("totals", t)
	return p.String()
}
