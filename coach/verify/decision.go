package verify

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Verdict is what a decision says.
type verdict string

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

// Priority is how much an item of feedback matters.
type priority string

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

// lines returns items for the agent, one a line, worst first.
func lines(items []Item) string {
	var b strings.Builder
	for _, it := range ordered(items) {
		b.WriteString(it.String() + "\n")
	}
	return b.String()
}

//go:embed agent/autobuild-coach.md
var agent string

// Agent returns the instructions of a coach that is an agent itself: Markdown with front matter.
func Agent() string { return agent }
