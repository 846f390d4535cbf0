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

// about adds the rows below a decision.
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
	p.row("goal", d.Goal)
	p.rows("degraded", d.Degraded)
	p.row("judge", judgeInWords(d.Result.Usage))
	p.row("error", e.Err)
	p.row("facts", e.Transcript)
}

// judgeInWords is "gpt-4.1-mini, 1,234 tokens in, 56 out, 0.8 s"; nothing for a verdict that cost nothing.
func judgeInWords(u *classify.Usage) string {
	if u == nil {
		return ""
	}
	text := fmt.Sprintf("%s, %s tokens in, %s out, %.1f s", u.Model, thousands(u.PromptTokens),
		thousands(u.CompletionTokens), u.Latency.Seconds())
	if u.CostUSD > 0 {
		text += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	return strings.TrimPrefix(text, ", ")
}
