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
func render(d autocontinue.Decision, text string) string {
	rows, more := signals(d.Result, text)
	return view("decision", map[string]any{"Decision": d, "Signals": rows, "More": more})
}

// verdictInWords is the type of the output, "" if nobody read it.
func verdictInWords(d autocontinue.Decision) string {
	switch {
	case d.Result.WasRejectedCompletion:
		return "rejected completion"
	case d.Reason == "empty":
		return "empty output"
	}
	return string(d.Result.Type)
}

// headline is "continue · rejected completion · tier rejection · 0.91". Nothing in it reaches the terminal unescaped: a
// journal may hold anything.
func headline(d autocontinue.Decision) string {
	verdict := visible(verdictInWords(d))
	colour := cmp.Or(map[autocontinue.Action]style{autocontinue.Continue: cyan, autocontinue.Suppress: dim}[d.Action],
		map[autocontinue.Outcome]style{"completed": green, "failed": red}[d.Outcome],
		yellow)
	parts := []string{paint(colour, d.Action.String())}
	if verdict != "" {
		parts = append(parts, paint(bold, verdict))
	}
	if d.Tier != "" {
		parts = append(parts, "tier "+visible(string(d.Tier)))
	} else if reason := words(string(d.Reason)); reason != verdict {
		parts = append(parts, visible(reason))
	}
	if d.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", d.Attempt))
	}
	if verdict != "" {
		parts = append(parts, fmt.Sprintf("%.2f", d.Result.Confidence))
	}
	return strings.Join(parts, paint(dim, " · "))
}

// signals returns the strongest signals, in the order in which they stand in the text, and how many more there are.
func signals(r classify.Result, text string) (rows []string, more int) {
	shown := slices.DeleteFunc(slices.Clone(r.Signals), func(s classify.Signal) bool {
		return s.Start < 0 || s.End > len(text) || s.Start >= s.End // another classifier's may be wrong
	})
	total := len(shown) + r.SignalsDropped
	slices.SortStableFunc(shown, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	shown = shown[:min(len(shown), maxRows)]
	slices.SortStableFunc(shown, func(a, b classify.Signal) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range shown {
		rows = append(rows, fmt.Sprintf("%s\t%-5s %s", visible(string(s.Kind)), position(text, s.Start),
			quote(text[s.Start:s.End], maxQuote)))
	}
	return rows, total - len(shown)
}

// position is line and column of a byte offset, both from 1. The column is in characters, as an editor counts them.
func position(text string, offset int) string {
	before := strings.TrimPrefix(text[:offset], "\ufeff")
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("%d:%d", 1+strings.Count(before, "\n"), 1+column)
}

// evidenceInWords is "test output, PR link". If all kinds are missing, any of them will do: "one of …".
func evidenceInWords(kinds []classify.EvidenceKind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, strings.Replace(words(string(k)), "pull request", "PR link", 1))
	}
	text := strings.Join(names, ", ")
	if len(kinds) >= 4 {
		text = "one of " + text
	}
	return text
}
