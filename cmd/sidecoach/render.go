package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
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
	if missing := d.Result.Missing(nil); len(missing) > 0 {
		p.row("missing", evidenceInWords(missing))
	}
	if d.Result.Reason != verdict {
		p.row("why", d.Result.Reason)
	}
	p.row("note", d.Note)
	for _, why := range d.Degraded {
		p.row("degraded", why)
	}
	if d.Action == autocontinue.Continue {
		p.printf("%s\n", p.paint(bold, "send to the agent:"))
		p.paragraphs(d.Message)
	}
	return p.String()
}

// page is a decision being written.
type page struct {
	terminal
	strings.Builder
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

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
	places := make([]string, len(shown))
	widest := 0
	for i, s := range shown {
		line, column := position(text, s.Start)
		places[i] = fmt.Sprintf("%d:%d", line, column)
		widest = max(widest, len(places[i]))
	}
	limit := maxQuote
	if p.width > 0 {
		limit = max(12, min(limit, p.width-labelWidth-widest-6))
	}
	for i, s := range shown {
		place := fmt.Sprintf("%-*s", widest, places[i])
		p.printf("%s%s  %s\n", p.label(string(s.Kind)), p.paint(dim, place), quote(text[s.Start:s.End], limit))
	}
	if more := total - len(shown); more > 0 {
		p.row("", fmt.Sprintf("… and %d more", more))
	}
}

const labelWidth = 10

func (p *page) label(name string) string {
	return "  " + p.paint(dim, fmt.Sprintf("%-*s", labelWidth, name))
}

// row is a label and a text beside it, wrapped on a terminal. An empty text makes no row.
func (p *page) row(label, text string) {
	if text == "" {
		return
	}
	for i, line := range wrap(visible(strings.Join(strings.Fields(text), " ")), p.width-labelWidth-2) {
		if i > 0 {
			label = ""
		}
		p.printf("%s%s\n", p.label(label), line)
	}
}

// paragraphs is indented text that keeps its lines.
func (p *page) paragraphs(text string) {
	for line := range strings.Lines(text) {
		for _, part := range wrap(visible(strings.TrimRight(line, "\r\n")), p.width-2) {
			p.printf("%s\n", strings.TrimRight("  "+part, " "))
		}
	}
}

// evidenceInWords is "test output, exit code, commit or PR link". If all kinds are missing, any of them will do. If
// some are missing, all of them are needed.
func evidenceInWords(kinds []classify.EvidenceKind) string {
	var names []string
	for _, k := range kinds {
		if k == classify.EvidencePullRequest {
			names = append(names, "PR link")
		} else {
			names = append(names, words(string(k)))
		}
	}
	join := " and "
	if len(kinds) >= 4 {
		join = " or "
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + join + names[last]
}

func words(code string) string { return strings.ReplaceAll(code, "_", " ") }

// writeJSON writes v as one line of JSON in which a terminal finds nothing to act on.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("cannot write JSON: %w", err)
	}
	_, err := io.WriteString(w, harmless(b.String()))
	return err
}

// harmless escapes in JSON what a terminal would act on. Outside of strings JSON has no such character.
func harmless(json string) string {
	return plaintext.ReplaceHidden(json, func(raw string) string {
		var escaped strings.Builder
		r, _ := utf8.DecodeRuneInString(raw)
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&escaped, `\u%04x`, unit)
		}
		return escaped.String()
	})
}
