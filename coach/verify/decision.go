package verify

import "encoding/json"

// Verdict is what a decision says.
type Verdict string

// The verdicts. Anything else counts as Feedback.
const (
	Approve  Verdict = "approve"
	Feedback Verdict = "feedback"
)

// Decision is a coach's decision about a report: what somebody who is not the agent found. [ParseDecision] reads one,
// [Review.Record] says what it is allowed to be.
type Decision struct {
	Verdict      Verdict            `json:"decision"`
	TaskID       string             `json:"task_id"`
	Requirements []RequirementCheck `json:"requirements_verified"`
	Tests        TestsCheck         `json:"tests_verified"`
	Items        []Item             `json:"feedback_items"`
	Rationale    string             `json:"rationale"`
	Contracts    Contracts          `json:"contracts_honored"` // computed by [Review.Record], never read
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
type TestsCheck struct {
	Status   Status   `json:"status"` // computed by [Review.Record]
	Total    int      `json:"total"`
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Failures []string `json:"failures"`
	Missing  []string `json:"missing"` // tests that there should be and are not
}

// Priority is how much an item of feedback matters.
type Priority string

// The priorities. Anything else counts as High. Only High blocks.
const (
	High   Priority = "high"
	Medium Priority = "medium"
	Low    Priority = "low"
)

// Item is one piece of feedback.
type Item struct {
	Severity   Priority `json:"severity"`
	File       string   `json:"file,omitempty"`
	Line       int      `json:"line,omitempty"` // from 1; 0 is the whole file
	Issue      string   `json:"issue"`
	Suggestion string   `json:"suggestion,omitempty"`
}

// Contracts says which parts of the procedure were kept. A decision's own word for it is never taken.
type Contracts struct {
	Validated   bool `json:"validate_implementation_called"` // the review was opened by [Begin]
	Recorded    bool `json:"record_decision_called"`         // the decision went through [Review.Record]
	Independent bool `json:"independent_verification"`       // witnesses saw something
}

// MarshalJSON writes lists that are empty as such: no reader has to know null.
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
