package classifytest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// wrong returns everything in which a verdict is not what its case wants, and not what a verdict may be.
func (o options) wrong(c evaluate.Case, r classify.Result, err error) []string {
	if err != nil {
		return []string{"no verdict: " + err.Error()}
	}
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if !r.Type.Valid() {
		add("%.20q is none of the five types", string(r.Type))
	}
	if !(r.Confidence >= 0 && r.Confidence <= 1) {
		add("the confidence %v is not a number from 0 to 1", r.Confidence)
	}
	if r.Type != classify.Status && r.WasRejectedCompletion {
		add("a %s is called a rejected completion; only a status can be", r.Type)
	}
	for _, s := range r.Signals {
		if !within(s, c.Input.Text) {
			add("the signal %s is outside of the text: bytes %d to %d of %d", s.Kind, s.Start, s.End, len(c.Input.Text))
		}
	}
	if len(all) > 0 {
		return all
	}
	switch want := c.Want; {
	case r.Type != want.Type || r.WasRejectedCompletion != want.WasRejectedCompletion:
		add("type: got %s, want %s", kind(r.Type, r.WasRejectedCompletion), kind(want.Type, want.WasRejectedCompletion))
	case o.action(r) != wanted(want):
		add("action: got %s, want %s; the confidence is %.2f, the threshold %.2f", o.action(r), wanted(want), r.Confidence, max(o.threshold, 0))
	}
	if co := c.Want.Coaching; co != nil {
		all = append(all, co.Check(r.CoachingMessage)...)
	}
	return all
}

func (o options) action(r classify.Result) evaluate.Action {
	if r.Type == classify.Status && r.Confidence >= o.threshold {
		return evaluate.Continue
	}
	return evaluate.Deliver
}

// wanted is what a label asks for: by default what its type calls for.
func wanted(w evaluate.Want) evaluate.Action {
	switch {
	case w.Action != "":
		return w.Action
	case w.Type == classify.Status:
		return evaluate.Continue
	}
	return evaluate.Deliver
}

// kind names a type, and of a status which of the two.
func kind(t classify.OutputType, rejected bool) string {
	switch {
	case rejected:
		return string(t) + " (rejected completion)"
	case t == classify.Status:
		return string(t) + " (progress)"
	}
	return string(t)
}

// describe sets a wrong verdict against what was wanted, with what led to it.
func (o options) describe(c evaluate.Case, r classify.Result, wrong []string) string {
	var b strings.Builder
	for _, w := range wrong {
		b.WriteString(w + "\n")
	}
	row := func(name, want, got string) { fmt.Fprintf(&b, "  %-11s %-30s %s\n", name, want, got) }
	row("", "want", "got")
	row("type", kind(c.Want.Type, c.Want.WasRejectedCompletion), kind(r.Type, r.WasRejectedCompletion))
	row("action", string(wanted(c.Want)), string(o.action(r)))
	row("confidence", fmt.Sprintf("(continues from %.2f)", max(o.threshold, 0)), fmt.Sprintf("%.2f", r.Confidence))
	fact := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-11s %s\n", name, text)
		}
	}
	fact("source", r.Source)
	fact("fallback", clip(oneLine(r.Fallback), 0))
	fact("reason", clip(oneLine(r.Reason), 0))
	if r.CoachingMessage != "" {
		fact("coaching", quote(r.CoachingMessage, 300))
	}
	fact("request", preview(c.Input.Request))
	fact("text", preview(c.Input.Text))
	for i, s := range strongest(r.Signals, c.Input.Text) {
		name := ""
		if i == 0 {
			name = "signals"
		}
		fact(name, strings.TrimSuffix(fmt.Sprintf("%-9s %5.2f %s %s", s.Kind, s.Weight, quote(c.Input.Text[s.Start:s.End], 60), s.Name), " "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxSignals is how many signals a failure lists.
const maxSignals = 10

// within reports whether a signal is a part of the text.
func within(s classify.Signal, text string) bool {
	return s.Start >= 0 && s.Start < s.End && s.End <= len(text)
}

// strongest returns the signals that count most, in the order of the text.
func strongest(all []classify.Signal, text string) []classify.Signal {
	list := slices.DeleteFunc(slices.Clone(all), func(s classify.Signal) bool { return !within(s, text) })
	slices.SortStableFunc(list, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	list = list[:min(len(list), maxSignals)]
	slices.SortStableFunc(list, func(a, b classify.Signal) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

func preview(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return quote(text, 200)
}

// quote puts a text on one line, at most n characters of it, with everything that is not printable escaped.
func quote(text string, n int) string {
	text = oneLine(text[:min(len(text), 8*n)])
	if r := []rune(text); len(r) > n {
		text = string(r[:n]) + "…"
	}
	return strconv.Quote(text)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
