package autocontinue

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// gap is what one output left open.
type gap struct {
	Text     digest                  `json:"text"`               // fingerprint of the output
	Rejected bool                    `json:"rejected,omitempty"` // it was a rejected completion
	Feedback digest                  `json:"feedback,omitzero"`  // worst item of a verifier's feedback about it
	Missing  []classify.EvidenceKind `json:"missing,omitempty"`  // the kinds of evidence that it lacked
	Shown    []classify.EvidenceKind `json:"shown,omitempty"`    // the kinds of evidence that there were
	Goal     digest                  `json:"goal,omitzero"`      // what the checks of the session's goal saw
}

// gapOf returns what an output with result r leaves open. Feedback is a verifier's, the worst item in its first line.
func gapOf(o Output, r classify.Result, feedback string, goal Goal) gap {
	g := gap{Text: fingerprint(o.Text), Rejected: r.WasRejectedCompletion, Shown: r.Shown(o.seen())}
	if goal.Results != "" {
		g.Goal = fingerprint(goal.Results)
	}
	if g.isBlank() {
		return gap{Text: g.Text, Goal: g.Goal} // a blank output claims nothing
	}
	if !g.Rejected {
		return g
	}
	g.Missing = r.Missing(o.seen())
	if worst, _, _ := strings.Cut(strings.TrimSpace(feedback), "\n"); worst != "" {
		g.Feedback = fingerprint(worst)
	}
	return g
}

// evidenceOf is the evidence that a passed check is, if it is more than an exit code.
var evidenceOf = map[classify.CheckKind]classify.EvidenceKind{
	classify.CheckTest: classify.EvidenceTests, classify.CheckCommit: classify.EvidenceCommit,
	classify.CheckPull: classify.EvidencePullRequest,
}

// seen returns the evidence that the host saw: its own, and the checks of Work that passed after the last edit.
func (o Output) seen() []classify.Evidence {
	all := slices.Clone(o.Evidence)
	for _, c := range o.Work.Checks {
		if c.Outcome == classify.OutcomePassed {
			kind := cmp.Or(evidenceOf[c.Kind], classify.EvidenceExitCode)
			all = append(all, classify.Evidence{Kind: kind, Text: c.Command})
		}
	}
	return all
}

func (g gap) isBlank() bool { return g.Text == blankFingerprint }

// same reports whether g and old are the same gap.
func (g gap) same(old gap) bool {
	if g.Goal != 0 || old.Goal != 0 {
		return g.Goal == old.Goal
	}
	return g.Text == old.Text || g.Rejected && old.Rejected &&
		(len(g.Missing) > 0 && slices.Equal(g.Missing, old.Missing) || g.Feedback != 0 && g.Feedback == old.Feedback)
}

// seen returns how often outputs of this turn left the gap g open.
func (s State) seen(g gap) (times int) {
	for _, old := range s.history.Gaps {
		if g.same(old) {
			times++
		}
	}
	return times
}

// wasRejected reports whether the claim of o, a completion, was rejected in this turn and has no new evidence now.
func (s State) wasRejected(o Output, r classify.Result) bool {
	text, shown := fingerprint(o.Text), r.Shown(o.seen())
	r.WasRejectedCompletion = true // as if: what would it lack?
	complete := len(r.Missing(o.seen())) == 0
	return slices.ContainsFunc(s.history.Gaps, func(g gap) bool {
		// Evidence is new to a rejection if it asked for this kind, or if it did not have this kind and asked for none, or
		// if the claim is complete now.
		isNew := func(k classify.EvidenceKind) bool {
			return slices.Contains(g.Missing, k) || (len(g.Missing) == 0 || complete) && !slices.Contains(g.Shown, k)
		}
		return g.Rejected && g.Text == text && !slices.ContainsFunc(shown, isNew)
	})
}

// blankFingerprint is that of every blank output.
var blankFingerprint = digestOf("blank", "")

// maxFolded is how many bytes of a text count for its fingerprint, half of them at either end.
const maxFolded = 256 << 10

// fingerprint folds text, to recognise the same output at a later pause though some details differ:
//
//   - white space, punctuation and invisible characters only separate words;
//   - case is ignored;
//   - dates, times of day and durations ("12:30:05", "3.2s", "5 minutes"), hashes, line numbers ("parser.go:12:3",
//     "line 12") and generated IDs (UUIDs, "req_8f3kq2", 12 or more digits) each become a mark that only says that there
//     was one.
//
// All other numbers are kept: "3 of 10" and "4 of 10" differ.
func fingerprint(text string) digest {
	if len(text) > maxFolded {
		text = text[:maxFolded/2] + " " + text[len(text)-maxFolded/2:]
		text = strings.ToValidUTF8(text, "") // half of a character
	}
	if plaintext.IsBlank(text) {
		return blankFingerprint
	}
	text = strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, plaintext.Clean(text)) // ς is σ
	text = lineNumbers().ReplaceAllString(text, "$1$2 "+mark+" ")
	text = volatile().ReplaceAllString(text, " "+mark+" ")
	var words []string
	for _, w := range wordOrSign().FindAllString(text, -1) {
		if w = strings.Trim(w, "_"); isGenerated(w) {
			w = mark
		}
		if w != "" {
			words = append(words, w)
		}
	}
	return digestOf("fingerprint", strings.Join(words, " "))
}

// mark stands for what differs each time an output is printed. No word has it: it is a control character.
const mark = "\x01"

// They match text in lower case. A sign counts as a word: "✅" and "❌" say different things.
var (
	wordOrSign = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[\pL\pN\pM_` + mark + `]+|[^\x00-\x7f\pL\pN\pM\pP\pZ\x{85}\x{2800}]`)
	})
	lineNumbers = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\w\.[a-z]\w{0,4})(?::\d+(?::\d+)?\b|\(\d+(?:,\d+)?\)|#l\d+\b)|` +
			`\b(line|ln|col|column)\s+\d+(?:[-–]\d+)?\b`)
	})
	volatile = sync.OnceValue(func() *regexp.Regexp {
		const (
			uuid  = `(?:[a-z]+_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
			clock = `\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:z|\s?[ap]m|[+-]\d\d:?\d\d)?|\d{1,2}[ap]m`
			date  = `(?:\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d|\d{1,2}/\d{1,2}/\d{4})(?:[t\s](?:` + clock + `))?`
			units = `nanoseconds?|microseconds?|milliseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|[nµμm]?s|h`
			took  = `(?:\d+[hm]\s?)*\d+(?:[.,]\d+)?[\s-]?(?:` + units + `)|\d+h\s?\d+m`
		)
		return regexp.MustCompile(`\b(?:` + uuid + `|` + date + `|` + clock + `|` + took + `)\b`)
	})
	mixed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\d+\D+){2}\d|^(?:\D+\d+){2}\D`) })
)

// isGenerated reports whether a word is a hash or a generated ID: many digits, or mixed as nobody names a thing.
func isGenerated(w string) bool {
	const digits = "0123456789"
	switch {
	case strings.Trim(w, digits) == "":
		return len(w) >= 12
	case !strings.ContainsAny(w, digits):
		return false
	}
	isHex := strings.Trim(strings.TrimPrefix(w, "0x"), digits+"abcdef") == ""
	return isHex && len(w) >= 7 || len(w) >= 6 && mixed().MatchString(w)
}
