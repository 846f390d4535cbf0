package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

const (
	maxRows  = 8  // signals shown
	maxQuote = 60 // characters of the agent's words in one row
)

// render writes a decision for a person: one line with the action and why, the agent's words that led to it, and the
// message to the agent or the note for the human.
func render(d autocontinue.Decision, text string, t terminal) string {
	p := page{terminal: t}
	verdict := verdictInWords(d)
	p.printf("%s\n", p.headline(d, verdict))
	p.signals(d.Result, text)
	p.row("missing", evidenceInWords(d.Result.Missing(nil)))
	if d.Result.Reason != verdict {
		p.row("why", d.Result.Reason)
	}
	p.row("note", d.Note)
	p.rows("degraded", d.Degraded)
	if d.Action == autocontinue.Continue {
		p.printf("%s\n", p.paint(bold, "send to the agent:"))
		for line := range strings.Lines(d.Message) {
			for _, part := range wrap(visible(strings.TrimRight(line, "\r\n")), p.width-2) {
				p.printf("%s\n", strings.TrimRight("  "+part, " "))
			}
		}
	}
	return p.String()
}

// verdictInWords is the type of the output, "" if nobody read it.
func verdictInWords(d autocontinue.Decision) string {
	switch {
	case d.Result.WasRejectedCompletion:
		return "rejected completion"
	case d.Reason == autocontinue.ReasonEmpty:
		return "empty output"
	}
	return string(d.Result.Type)
}

// headline is "continue · rejected completion · tier rejection · 0.91".
func (t terminal) headline(d autocontinue.Decision, verdict string) string {
	parts := []string{t.paint(actionStyle(d), d.Action.String())}
	if verdict != "" {
		parts = append(parts, t.paint(bold, verdict))
	}
	if d.Tier != "" {
		parts = append(parts, "tier "+string(d.Tier))
	} else if reason := words(string(d.Reason)); reason != verdict {
		parts = append(parts, reason)
	}
	if d.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", d.Attempt))
	}
	if verdict != "" {
		parts = append(parts, fmt.Sprintf("%.2f", d.Result.Confidence))
	}
	return strings.Join(parts, t.paint(dim, " · "))
}

func actionStyle(d autocontinue.Decision) style {
	switch {
	case d.Action == autocontinue.Continue:
		return cyan
	case d.Action == autocontinue.Suppress:
		return dim
	case d.Outcome == autocontinue.OutcomeCompleted:
		return green
	case d.Outcome == autocontinue.OutcomeFailed:
		return red
	}
	return yellow
}

// signals lists the strongest signals in the order in which they stand in the text.
func (p *page) signals(r classify.Result, text string) {
	shown := slices.DeleteFunc(slices.Clone(r.Signals), func(s classify.Signal) bool {
		return s.Start < 0 || s.End > len(text) || s.Start >= s.End // another classifier's may be wrong
	})
	total := len(shown) + r.SignalsDropped
	slices.SortStableFunc(shown, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	shown = shown[:min(len(shown), maxRows)]
	slices.SortStableFunc(shown, func(a, b classify.Signal) int { return cmp.Compare(a.Start, b.Start) })
	positions, widest := make([]string, len(shown)), 0
	for i, s := range shown {
		positions[i] = position(text, s.Start)
		widest = max(widest, len(positions[i]))
	}
	limit := p.room(maxQuote, labelWidth+widest+6)
	for i, s := range shown {
		at := p.paint(dim, fmt.Sprintf("%-*s", widest, positions[i]))
		p.printf("%s%s  %s\n", p.label(string(s.Kind)), at, quote(text[s.Start:s.End], limit))
	}
	if more := total - len(shown); more > 0 {
		p.row("", fmt.Sprintf("… and %d more", more))
	}
}

// room returns how many characters of at most limit fit beside the used columns of a terminal; at least 12.
func (t terminal) room(limit, used int) int {
	if t.width > 0 {
		limit = max(12, min(limit, t.width-used))
	}
	return limit
}

// position is line and column of a byte offset, both from 1. The column is in characters, as an editor counts them,
// without a byte order mark.
func position(text string, offset int) string {
	before := strings.TrimPrefix(text[:offset], "\ufeff")
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("%d:%d", 1+strings.Count(before, "\n"), 1+column)
}

// evidenceInWords is "test output, exit code, commit or PR link". If all kinds are missing, any of them will do. If
// some are missing, all of them are needed.
func evidenceInWords(kinds []classify.EvidenceKind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, strings.Replace(words(string(k)), "pull request", "PR link", 1))
	}
	join := " and "
	if len(kinds) >= 4 {
		join = " or "
	}
	text := strings.Join(names, ", ")
	if i := strings.LastIndex(text, ", "); i > 0 {
		text = text[:i] + join + text[i+len(", "):]
	}
	return text
}
