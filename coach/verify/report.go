package verify

// Report is what an agent says it did: claims to test. The zero value claims nothing. [ParseReport] reads one.
type Report struct {
	Text    string      `json:"text,omitempty"`    // its words, as they came
	Files   []FileClaim `json:"files,omitempty"`   // in the order of the text, each path once
	Tests   []TestClaim `json:"tests,omitempty"`   // that tests, a build or a linter were run
	Commits []string    `json:"commits,omitempty"` // that there are commits of these names
}

// FileClaim is that a file was changed.
type FileClaim struct {
	Path string     `json:"path"`           // as written, without quotes and line numbers
	Kind ChangeKind `json:"kind,omitempty"` // empty: changed in some way
}

// TestClaim is that something was run and how it went.
type TestClaim struct {
	Kind    RunKind `json:"kind"`
	Command string  `json:"command,omitempty"` // as written; never run
	// Result is Met for a claim of success, NotMet for an admitted failure, Unverified when neither is said.
	Result Status `json:"result"`
	// What was counted; nil is not said.
	Total   *int `json:"total,omitempty"`
	Passed  *int `json:"passed,omitempty"`
	Failed  *int `json:"failed,omitempty"`
	Skipped *int `json:"skipped,omitempty"`
}

// RunKind is what was run.
type RunKind string

// The kinds of a run.
const (
	RunTests RunKind = "tests"
	RunBuild RunKind = "build"
	RunLint  RunKind = "lint"
)
