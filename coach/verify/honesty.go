package verify

import "encoding/json"

// Severity is how much a discrepancy matters. Only Critical blocks.
type Severity string

// The severities.
const (
	Critical  Severity = "critical"   // the claim is not so
	ShouldFix Severity = "should_fix" // the report or the work should be put right
	Info      Severity = "info"       // worth knowing, nothing to hold against the report
)

// DiscrepancyKind is what a discrepancy is about.
type DiscrepancyKind string

// The kinds of discrepancy.
const (
	TestResult        DiscrepancyKind = "test_result"        // success was claimed, failure was seen; also of a build or a linter
	TestCount         DiscrepancyKind = "test_count"         // more was claimed to pass than did
	FileMissing       DiscrepancyKind = "file_missing"       // there is no such file
	FileUnchanged     DiscrepancyKind = "file_unchanged"     // it is as it was at the baseline
	FilePresent       DiscrepancyKind = "file_present"       // it was claimed to be removed
	FileIgnored       DiscrepancyKind = "file_ignored"       // it is there, but version control ignores it
	FileOutside       DiscrepancyKind = "file_outside"       // it is not in the tree, so it is no part of the work
	FileSpelling      DiscrepancyKind = "file_spelling"      // it is spelled otherwise
	CommitMissing     DiscrepancyKind = "commit_missing"     // there is no such commit
	CommitUnreachable DiscrepancyKind = "commit_unreachable" // it is not part of what is checked out
	TestsTampered     DiscrepancyKind = "tests_tampered"     // tests were changed or removed, and the report does not say so
)

// Discrepancy is a difference between what a report claims and what was seen.
type Discrepancy struct {
	Kind     DiscrepancyKind `json:"kind"`
	Severity Severity        `json:"severity"`
	Subject  string          `json:"subject,omitempty"` // the path, commit or command
	Claimed  string          `json:"claimed"`
	Found    string          `json:"found"`
	Fix      string          `json:"fix"` // what to do about it
}

// Honesty is how a report compares with the facts.
type Honesty struct {
	// Score is the part of the checked claims that held, 0 to 1; nil when none could be checked.
	Score         *float64      `json:"score"`
	Claims        int           `json:"claims"`
	Checked       int           `json:"checked"`
	Discrepancies []Discrepancy `json:"discrepancies"`       // worst first, then in the order of the report
	Unchecked     []string      `json:"unchecked,omitempty"` // which claims could not be checked and why, a sentence each
}

// Critical returns the discrepancies that block, in order.
func (h Honesty) Critical() []Discrepancy {
	var worst []Discrepancy
	for _, d := range h.Discrepancies {
		if d.Severity == Critical {
			worst = append(worst, d)
		}
	}
	return worst
}

// MarshalJSON writes an empty list of discrepancies as such.
func (h Honesty) MarshalJSON() ([]byte, error) {
	type plain Honesty
	h.Discrepancies = some(h.Discrepancies)
	return json.Marshal(plain(h))
}
