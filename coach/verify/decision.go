package verify

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

type verdict string // what a decision says

// The verdicts. Anything else counts as Feedback.
const (
	Approve  verdict = "approve"
	Feedback verdict = "feedback"
)

// Decision is a coach's decision about a report: a check by someone other than the agent.
// [ParseDecision] reads one, and [Review.Record] lowers it to what the facts allow.
type Decision struct {
	Verdict      verdict            `json:"decision"`
	TaskID       string             `json:"task_id"`
	Requirements []RequirementCheck `json:"requirements_verified"`
	Tests        testsCheck         `json:"tests_verified"`
	Items        []Item             `json:"feedback_items"`
	Rationale    string             `json:"rationale"`
	Contracts    contracts          `json:"contracts_honored"` // computed by [Review.Record], never read
}

// RequirementCheck is what was found about one requirement.
type RequirementCheck struct {
	ID          string `json:"id,omitempty"` // of the task's requirement; empty: Requirement is its ID or its words
	Requirement string `json:"requirement"`
	Status      Status `json:"status"`
	Evidence    string `json:"evidence,omitempty"` // what was seen that shows it; without it nothing is met
	Issue       string `json:"issue,omitempty"`    // what is wrong
}

// TestsCheck is what is known of the tests.
type testsCheck struct {
	Status   Status   `json:"status"` // computed by [Review.Record]
	Total    int      `json:"total"`
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Failures []string `json:"failures"`
	Missing  []string `json:"missing"` // tests that should exist and do not
}

type priority string // how much an item of feedback matters

// The priorities. Anything else counts as High. Only High blocks.
const (
	high   priority = "high"
	medium priority = "medium"
	low    priority = "low"
)

// rank is 0 for High and for anything that is not a priority.
func (p priority) rank() int { return max(0, slices.Index(priorities, p)) }

var priorities = []priority{high, medium, low}

// Item is one piece of feedback.
type Item struct {
	Severity   priority `json:"severity"`
	File       string   `json:"file,omitempty"`
	Line       int      `json:"line,omitempty"` // from 1; 0 is the whole file
	Issue      string   `json:"issue"`
	Suggestion string   `json:"suggestion,omitempty"`
}

// Contracts says which parts of the procedure were kept.
type contracts struct {
	Validated   bool `json:"validate_implementation_called"` // the review was opened by [Begin]
	Recorded    bool `json:"record_decision_called"`         // the decision went through [Review.Record]
	Independent bool `json:"independent_verification"`       // witnesses saw something
}

// MarshalJSON writes empty lists as [], never as null.
func (d Decision) MarshalJSON() ([]byte, error) {
	type plain Decision
	d.Requirements, d.Items = some(d.Requirements), some(d.Items)
	d.Tests.Failures, d.Tests.Missing = some(d.Tests.Failures), some(d.Tests.Missing)
	return json.Marshal(plain(d))
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ordered returns items worst first, those of one priority in their order. An item without a known priority is High.
func ordered(items []Item) []Item {
	items = slices.Clone(items)
	for i, it := range items {
		items[i].Severity = priorities[it.Severity.rank()]
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
	return items
}

// String is the item on one line: "auth.go:12: what is wrong. What to do."
func (it Item) String() string {
	s := clean(it.Issue)
	if it.File != "" {
		where := clean(it.File)
		if it.Line > 0 {
			where += fmt.Sprintf(":%d", it.Line)
		}
		s = where + ": " + s
	}
	if more := clean(it.Suggestion); more != "" {
		s = strings.TrimSuffix(s, ".") + ". " + more
	}
	return s
}

//go:embed agent/autobuild-coach.md
var agent string

// Agent returns the instructions of a coach that is an agent itself: Markdown with front matter.
func Agent() string { return agent }

const minIssue = 11 // characters of an issue that can say something

// Lint returns what makes feedback useless to the agent that gets it, a sentence each. Known are the requirements of
// the task. Lint finds
//
//   - feedback without an item,
//   - an issue that is vague ("the code has issues", "something is off here") or shorter than 11 characters,
//   - an item that names no place: not a file, a test, a requirement by its ID or its words, or anything in code
//     quotes,
//   - an item that is there twice.
func Lint(d Decision, known ...Requirement) []string {
	var list []string
	if d.Verdict != Approve && len(d.Items) == 0 {
		list = append(list, "it gives feedback without an item: say what is wrong, where, and what to do")
	}
	seen := map[string]int{}
	for i, it := range d.Items {
		problem := func(format string, args ...any) {
			list = append(list, fmt.Sprintf("item %d: ", i+1)+fmt.Sprintf(format, args...))
		}
		issue := strings.TrimSpace(it.Issue)
		switch {
		case utf8.RuneCountInString(issue) < minIssue:
			problem("the issue is too short to say something: name what is wrong")
		case vague(issue):
			problem("the issue is vague: name what is wrong, where, and how it shows")
		}
		said := it.Issue + " " + it.Suggestion
		if strings.TrimSpace(it.File) == "" && !lex("Names").Match(said) && !namesOne(said, d, known) {
			problem("it names neither a file nor a test nor a requirement: say where")
		}
		key := it.File + "\x00" + fold(strings.Trim(issue, ".!"))
		if first, ok := seen[key]; ok {
			problem("it says the same as item %d: leave it out", first+1)
		} else {
			seen[key] = i
		}
	}
	return list
}

func vague(issue string) bool {
	list := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(issue, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'`_-.", r)
	})
	return !slices.ContainsFunc(list, func(w string) bool {
		w = strings.Trim(w, "'.-")
		return w != "" && !lex("Vague").Has(w)
	})
}

// namesOne reports whether a text names a missing test or a requirement.
func namesOne(said string, d Decision, known []Requirement) bool {
	list := slices.Clone(d.Tests.Missing)
	for _, q := range known {
		list = append(list, q.ID, q.Text)
	}
	said = fold(said)
	return slices.ContainsFunc(list, func(s string) bool { s = fold(s); return s != "" && strings.Contains(said, s) })
}
