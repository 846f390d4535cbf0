// Package skills answers one question: which way of working did the human ask for? Planning, building, testing,
// documenting?
//
// Build a registry with [NewRegistry] and ask it with [Registry.Detect]. [Builtin] returns the four skills of a
// software development cycle. A [Skill] says what evidence its result needs, and coaching asks for that. A host adds
// a skill as a value, or its own rule as another [Detector]:
//
//	reg := skills.NewRegistry(append(skills.Builtin(),
//		skills.Skill{Name: "/deploy", Trigger: "/deploy", Phase: "deploy", EvidenceHint: "the URL of the release"},
//		mine)...)
//
// [FromFS] reads the skills that agents keep in folders with a SKILL.md, such as .claude/skills.
//
// # Limits
//
// Only the words of the human count: not code, quotes and comments, see [Skill.Detect]. The package does not read
// meaning: "don't run /do-build yet" asks for /do-build. In a script without spaces between words, a trigger needs
// white space or punctuation around it.
//
// # Errors
//
// A request is never an error. [FromFS] skips and names the files that it cannot use. Time is linear in the length of a
// text.
package skills

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Skill is a way of working that an agent was asked for. It is its own [Detector].
type Skill struct {
	Name         string // what people call it, as shown in messages
	Trigger      string // the word in a request that asks for it; if empty, only the phase does
	Phase        string // the phase of a workflow that it belongs to; if empty, only the trigger counts
	Description  string // what the agent is doing, to follow "You are"
	EvidenceHint string // what shows that it was done, to follow "show"
}

// Query is what is known about a turn. Either field may be empty.
type Query struct {
	Text  string // the human's request; need not be valid UTF-8
	Phase string // the phase the host's workflow is in
}

// Detector recognises a skill. It must be safe for concurrent use and must give the same answer to the same query.
type Detector interface {
	Detect(q Query) (Skill, bool)
}

// Detect returns s if the text asks for it or the phase is its own.
//
// The text asks for s if it contains s.Trigger as a word, in any case:
//
//   - The beginning or white space is before the word; the end or white space is after it. Punctuation may stand
//     between, as in ("/do-build") or **/do-build**: opening brackets, quotes and emphasis before it, closing ones
//     and . : ! ? after.
//   - A comma or semicolon after it, and a dash (not a hyphen) on either side, need no white space.
//   - So the word is not found in /do-builder, docs/do-build, ./do-build/x, /do-build.md, /do-build:12, [x](/do-build),
//     https://example.com/do-build.
//   - Detect skips fenced code (to its closing fence, or to the end), inline code, lines quoted with > and HTML
//     comments that begin a line.
//
// Detect compares phases in any case, without the white space around them.
func (s Skill) Detect(q Query) (Skill, bool) {
	phase := strings.TrimSpace(s.Phase)
	isPhase := phase != "" && strings.EqualFold(phase, strings.TrimSpace(q.Phase))
	if isPhase || mentions(q.Text, strings.TrimSpace(s.Trigger)) {
		return s, true
	}
	return Skill{}, false
}

// Registry asks several detectors in order. It never changes, and it is safe for concurrent use if its detectors are.
// The zero value and nil recognise nothing. A registry is a [Detector] itself.
type Registry struct{ detectors []Detector }

// NewRegistry returns a registry of ds in their order.
func NewRegistry(ds ...Detector) *Registry { return &Registry{slices.Clone(ds)} }

// Detect asks all detectors with the text alone, then all with the phase alone. So an explicit trigger beats the phase.
// In each pass the first detector that recognises a skill wins, wherever its trigger is in the text.
func (r *Registry) Detect(q Query) (Skill, bool) {
	if r == nil {
		return Skill{}, false
	}
	for _, part := range [...]Query{{Text: q.Text}, {Phase: q.Phase}} {
		for _, d := range r.detectors {
			if s, ok := d.Detect(part); ok {
				return s, true
			}
		}
	}
	return Skill{}, false
}

// Builtin returns the skills of a software development cycle, fresh, in its order: /do-plan, /do-build, /do-test and
// /do-docs, with the phases plan, build, test and document.
func Builtin() []Detector {
	return []Detector{
		Skill{"/do-plan", "/do-plan", "plan", "writing the plan for a piece of work",
			"a finalized plan doc with all required sections"},
		Skill{"/do-build", "/do-build", "build", "implementing the plan",
			"passing tests, commit hashes, and a PR link"},
		Skill{"/do-test", "/do-test", "test", "running the test suites and reporting what they say",
			"test output with pass/fail counts and coverage"},
		Skill{"/do-docs", "/do-docs", "document", "bringing the documentation up to date with the work",
			"created/updated doc file paths and an index entry"},
	}
}

// What may stand around a word: white space, or a full stop, comma or dash outside ASCII; between it and the word,
// marks that open or close.
const (
	separator = `[\s\v\x{200b}\x{feff}]|[^\x00-\x7f\pL\pM\pN\pS\pC\p{Pc}\p{Ps}\p{Pe}\p{Pi}\p{Pf}]`
	before    = `(?:^|` + separator + `)["'*_\p{Ps}\p{Pi}\p{Pf}]*`
	after     = `["'*_.:!?\p{Pe}\p{Pi}\p{Pf}]*(?:$|[,;]|` + separator + `)`
)

// mentions reports whether word stands in the human's own words of text, as a word of its own.
func mentions(text, word string) bool {
	if word == "" || !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
		return false // most texts: their structure need not be read
	}
	mention, err := regexp.Compile(`(?i)` + before + regexp.QuoteMeta(word) + after)
	if err != nil {
		return false // a word that is not UTF-8
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return mention.MatchString(notOwn().ReplaceAllString(text, "x"))
}

// compiled returns a function that compiles expr when a text first needs it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// notOwn matches what is not the human's own words: fenced code, quoted lines and HTML comments that begin a line, and
// inline code. It is more lenient than CommonMark, because people type a request: a fence counts at any indentation,
// and each line of a quote needs its own >. A fence of four marks or more may hold one of three.
var notOwn = sync.OnceValue(func() *regexp.Regexp {
	fence := func(open, mark string) string { return open + `$(?s:.*?)(?:^[ \t]*` + mark + `[ \t]*$|\z)` }
	atLineStart := []string{
		`>.*`, `<!--(?:-?>|(?s:.*?)(?:-->|\z))`,
		fence("```[^`\n]*", "`{3,}"), fence("`{4,}[^`\n]*", "`{4,}"),
		fence("~~~(?:[^~\n].*)?", "~{3,}"), fence("~{4,}.*", "~{4,}"),
	}
	return regexp.MustCompile(`(?m)^[ \t]*(?:(?:[-+*]|\d+[.)])[ \t]+)*(?:` + strings.Join(atLineStart, "|") + ")" +
		"|``+(?s:.+?)``+|`[^`\n]*(?:\n[^`\n#>*+-][^`\n]*)*`" + // code within a paragraph
		"|" + `\\[\\` + "`]")
})
