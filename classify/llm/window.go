package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

// maxWindow is how many bytes of an output the judge sees. Four bytes take about a token, in every script.
const maxWindow = 3600

// The parts of a text that is too long: its head, its end, and between them the lines with the weightiest signals.
const (
	headShare = maxWindow * 15 / 100
	tailShare = maxWindow * 45 / 100
	maxAround = 300 // bytes of one line around a signal
	maxGap    = 80  // bytes between two shown parts that are shown as well
)

// span is a part of a text, in bytes.
type span struct{ from, to int }

// window returns what the judge sees of a cleaned text: all of it, if it fits. Of a longer text it sees the head, the
// end, and the lines in which signals are: evidence, questions, claims, blockers, failures and gaps, the weightiest
// first. Each part that is left out is marked.
func window(text string, find func(string) []classify.Signal) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxWindow {
		return text
	}
	head, tail := headShare, len(text)-tailShare
	if i := strings.LastIndexByte(text[:head], '\n'); i >= head/2 {
		head = i // a whole line, if its end is near
	}
	if i := strings.IndexByte(text[tail:], '\n'); i >= 0 && i < tailShare/3 {
		tail += i + 1
	}
	shown := []span{{0, head}, {tail, len(text)}}
	left := maxWindow - head - (len(text) - tail)
	for _, s := range ranked(find(text), text) {
		part := around(text, s)
		if slices.ContainsFunc(shown, func(k span) bool { return k.from <= part.from && part.to <= k.to }) {
			continue
		}
		if n := part.to - part.from; n <= left {
			left -= n
			shown = append(shown, part)
		}
	}
	return joined(text, shown)
}

// ranked orders the signals that a judge needs: each kind's weightiest before any second one, so that many of one kind
// hide no other.
func ranked(signals []classify.Signal, text string) (list []classify.Signal) {
	kinds := make(map[classify.SignalKind][]classify.Signal)
	for _, s := range signals {
		if s.Start >= 0 && s.Start < s.End && s.End <= len(text) && !slices.Contains(kinds[s.Kind], s) {
			kinds[s.Kind] = append(kinds[s.Kind], s)
		}
	}
	for _, of := range kinds {
		slices.SortStableFunc(of, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	}
	for n := range len(signals) {
		for _, kind := range []classify.SignalKind{
			classify.SignalEvidence, classify.SignalQuestion, classify.SignalBlocker, classify.SignalFailure,
			classify.SignalClaim, classify.SignalGap, classify.SignalHedge, classify.SignalProgress,
		} {
			if of := kinds[kind]; n < len(of) {
				list = append(list, of[n])
			}
		}
	}
	return list
}

// around returns the line of a signal, or what is near it in a very long line.
func around(text string, s classify.Signal) span {
	from := strings.LastIndexByte(text[:s.Start], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[s.End:], '\n'); i >= 0 {
		to = s.End + i
	}
	if to-from > maxAround {
		from, to = max(from, s.Start-maxAround/3), min(to, s.Start+maxAround*2/3)
	}
	return span{from, to}
}

// joined writes the parts in order, with a mark for each part that is left out.
func joined(text string, shown []span) string {
	slices.SortFunc(shown, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	merged := shown[:1]
	for _, s := range shown[1:] {
		if last := &merged[len(merged)-1]; s.from <= last.to+maxGap {
			last.to = max(last.to, s.to)
		} else {
			merged = append(merged, s)
		}
	}
	var b strings.Builder
	for i, s := range merged {
		if i > 0 {
			n := utf8.RuneCountInString(text[merged[i-1].to:s.from])
			fmt.Fprintf(&b, "\n[… %d characters left out …]\n", n)
		}
		b.WriteString(strings.Trim(strings.ToValidUTF8(text[s.from:s.to], ""), "\n"))
	}
	return b.String()
}
