package coach

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

// kinds says how each kind of evidence is called, in the order in which they are asked for.
var kinds = [...]struct {
	kind  classify.EvidenceKind
	lacks string // after "showed no"
	proof string // after "show"
	fails string // what the host saw when it gives no words
	none  string // what it did not see, then
}{
	{classify.EvidenceTests, "test output", "the test command with its pass and fail counts", "a failing test run", "no test run"},
	{classify.EvidenceExitCode, "exit code", "the command you ran with its exit code", "a command that failed", "no such command"},
	{classify.EvidenceOutput, "command output", "the output of the command you ran", "a command that failed", "no such command"},
	{classify.EvidenceCommit, "commit", "the commit hash", "a commit that failed", "no commit"},
	{classify.EvidencePullRequest, "PR link", "the PR link", "a pull request that failed", "no pull request"},
}

// rejection fills the fields that say why a completion was not accepted.
func (f *fields) rejection(r classify.Result, in Context) {
	missing := r.Missing(in.Evidence)
	f.Claim = strongest(r, in.Text, classify.SignalClaim, func(s classify.Signal) bool { return slices.Contains(missing, s.CallsFor()) })
	if f.Claim == "" {
		f.Claim = strongest(r, in.Text, classify.SignalClaim, nil)
	}
	f.Hedge = strongest(r, in.Text, classify.SignalHedge, nil)
	f.Gap = strongest(r, in.Text, classify.SignalGap, nil)
	if f.Gap == "" {
		f.Gap = strongest(r, in.Text, classify.SignalFailure, nil)
	}
	f.Promise = strongest(r, in.Text, classify.SignalPromise, nil)
	f.distinct()
	f.Failed, f.Absent = failure(in.Evidence), absence(in.Evidence)

	var lacks, proofs [len(kinds)]string
	n := 0
	for _, k := range kinds {
		if slices.Contains(missing, k.kind) {
			lacks[n], proofs[n] = k.lacks, k.proof
			n++
		}
	}
	f.Lacks = join(lacks[:n], " or ", "")
	switch {
	case n == 0:
		f.Proof = "a check that settles it, with its command and output"
	case n >= 4: // all that a bare claim lacks
		f.Proof = join(proofs[:n], " or ", " (any one of them will do)")
	default:
		f.Proof = join(proofs[:n], " and ", "")
	}
}

// strongest quotes the words of the weightiest signal of a kind among those wanted, the first among equals. Signals without
// words are passed over.
func strongest(r classify.Result, text string, kind classify.SignalKind, wanted func(classify.Signal) bool) string {
	for wordless := -1; ; {
		best := -1
		for i, s := range r.Signals {
			if s.Kind != kind || wanted != nil && !wanted(s) || wordless >= 0 && !stronger(r.Signals, wordless, i) {
				continue
			}
			if best < 0 || stronger(r.Signals, i, best) {
				best = i
			}
		}
		if best < 0 {
			return ""
		}
		if words := excerpt(text, r.Signals[best].Start, r.Signals[best].End); words != "" {
			return words
		}
		wordless = best
	}
}

// stronger reports whether signal i is quoted rather than signal j.
func stronger(signals []classify.Signal, i, j int) bool {
	a, b := signals[i], signals[j]
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Start, b.Start), cmp.Compare(i, j)) < 0
}

// excerpt returns text[start:end], if there is such a thing, in the form in which it is quoted: without the marks of
// lists and emphasis around it.
func excerpt(text string, start, end int) string {
	if start < 0 || end > len(text) || start >= end {
		return ""
	}
	for start < end && !utf8.RuneStart(text[start]) {
		start++
	}
	for end > start && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	words := strings.ReplaceAll(quotable(text[start:end], 2*maxQuote), "**", "")
	words = strings.TrimRight(strings.TrimLeft(words, "#>*_-• "), ".,;:!*_ ")
	if len(words) > 1 && words[0] == '\'' && words[len(words)-1] == '\'' {
		words = words[1 : len(words)-1]
	}
	return Clean(words, maxQuote)
}

// distinct drops quotes that are part of another one.
func (f *fields) distinct() {
	quotes := []*string{&f.Claim, &f.Hedge, &f.Gap, &f.Promise}
	for i, q := range quotes {
		for j, other := range quotes {
			if i != j && (i > j || *q != *other) && strings.Contains(*other, *q) {
				*q = ""
			}
		}
	}
}

// failure names what the host saw fail and not succeed later.
func failure(evidence []classify.Evidence) string {
	for _, e := range classify.Latest(evidence) {
		if !e.Failed || e.Absent {
			continue
		}
		if words := quotable(e.Text, maxQuote); words != "" {
			return words
		}
		for _, k := range kinds {
			if k.kind == e.Kind {
				return k.fails
			}
		}
	}
	return ""
}

// absence names what the host looked for and did not see, nor saw later.
func absence(evidence []classify.Evidence) string {
	for _, e := range classify.Latest(evidence) {
		if !e.Absent {
			continue
		}
		if words := quotable(e.Text, maxQuote); words != "" {
			return words
		}
		for _, k := range kinds {
			if k.kind == e.Kind {
				return k.none
			}
		}
	}
	return ""
}

// join lists words, with last before the last one and after behind it: "a, b or c".
func join(words []string, last, after string) string {
	if len(words) < 2 {
		return strings.Join(words, "") + after
	}
	var b strings.Builder
	b.Grow(256)
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(last)
		default:
			b.WriteString(", ")
		}
		b.WriteString(w)
	}
	b.WriteString(after)
	return b.String()
}
