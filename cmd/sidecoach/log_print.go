package main

import (
	"cmp"
	"fmt"
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
	begun   bool
	session [2]string // host and session of the entry before
}

// entry is how one entry looks: when, the decision's ID, the decision, then what there is to say about it. The row
// "result" is what the totals count.
func (l *logPage) entry(e entry, result string) string {
	p := page{terminal: l.terminal}
	if session := [2]string{e.Host, e.Session}; !l.begun || session != l.session {
		if l.begun {
			p.printf("\n")
		}
		p.printf("%s\n", l.sessionInWords(e))
		l.session, l.begun = session, true
	}
	rows := page{terminal: l.terminal} // they stand below the decision, further in
	if rows.width > 0 {
		rows.width = max(1, rows.width-len(logIndent))
	}
	p.printf("%s%s  ", logIndent, p.paint(dim, e.Time.Local().Format(logTime)))
	if e.Notice != "" {
		p.printf("%s", p.paint(yellow, "notice"))
		rows.row("", e.Notice)
	} else {
		p.printf("%s", l.decision(e))
		l.about(&rows, e)
		rows.row("result", result)
	}
	p.printf("\n")
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

// about writes the rows below a decision.
func (l *logPage) about(p *page, e entry) {
	d := e.Decision
	if e.Preview != "" {
		limit := logQuote
		if p.width > 0 {
			limit = max(12, min(limit, p.width-labelWidth-4))
		}
		p.row("output", quote(e.Preview, limit))
	}
	if explains(d.Reason) || d.Verified == autocontinue.Unverified || d.Goal != "" {
		p.row("note", d.Note)
	}
	p.row("goal", d.Goal)
	for _, why := range d.Degraded {
		p.row("degraded", why)
	}
	p.row("judge", judgeInWords(d.Result.Usage))
	p.row("error", e.Err)
	p.row("facts", e.Transcript)
}

func (l *logPage) sessionInWords(e entry) string {
	name := visible(cmp.Or(e.Session, "no session"))
	if e.Host != "" {
		return l.paint(bold, name) + l.paint(dim, " ("+visible(e.Host)+")")
	}
	return l.paint(bold, name)
}

// explains reports whether the note that goes with a reason says more than the reason does.
func explains(r autocontinue.Reason) bool {
	return slices.Contains([]autocontinue.Reason{autocontinue.ReasonHold, autocontinue.ReasonLowConfidence,
		autocontinue.ReasonRepeat, autocontinue.ReasonCap}, r)
}

// judgeInWords is "gpt-4.1-mini, 1,234 tokens in, 56 out, 0.8 s"; nothing for a verdict that cost nothing.
func judgeInWords(u *classify.Usage) string {
	if u == nil {
		return ""
	}
	parts := []string{thousands(u.PromptTokens) + " tokens in", thousands(u.CompletionTokens) + " out",
		fmt.Sprintf("%.1f s", u.Latency.Seconds())}
	if u.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", u.CostUSD))
	}
	if u.Model != "" {
		parts = append([]string{u.Model}, parts...)
	}
	return strings.Join(parts, ", ")
}

// thousands is 1,234,567.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural is "1 line" or "2 lines".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}
