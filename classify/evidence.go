package classify

import "slices"

// EvidenceKind is a kind of evidence that work was done.
type EvidenceKind string

// The kinds of evidence.
const (
	EvidenceTests       EvidenceKind = "test_output"    // counted results of a test run
	EvidenceExitCode    EvidenceKind = "exit_code"      // a command's exit status
	EvidenceOutput      EvidenceKind = "command_output" // pasted output of a build, a linter, a program; an observed value
	EvidenceCommit      EvidenceKind = "commit"         // a commit hash
	EvidencePullRequest EvidenceKind = "pull_request"   // a link to a pull or merge request
)

// EvidenceKinds returns the kinds of evidence, fresh, in the order of the constants.
func EvidenceKinds() []EvidenceKind {
	return []EvidenceKind{EvidenceTests, EvidenceExitCode, EvidenceOutput, EvidenceCommit, EvidencePullRequest}
}

// Valid reports whether k is one of the constants. Evidence of other kinds counts for nothing.
func (k EvidenceKind) Valid() bool { return slices.Contains(EvidenceKinds(), k) }

// Evidence is something the host itself saw, such as the result of a tool call of this turn, or looked for and did
// not see.
type Evidence struct {
	Kind   EvidenceKind `json:"kind"`
	Text   string       `json:"text,omitempty"`   // a few words for people: "go test ./...: 42 passed"
	Failed bool         `json:"failed,omitempty"` // it shows a failure: a non-zero exit status, a failing test
	// Absent says that the host looked where it would have been and saw none: no test run in the whole transcript. It
	// refutes a claim like a failure, and is worded as what it is; Failed beside it says nothing. A host that could not
	// look gives no Evidence.
	Absent bool `json:"absent,omitempty"`
}

// shown reports whether e shows that something succeeded: it was seen, and did not fail.
func (e Evidence) shown() bool { return !e.Failed && !e.Absent }

// Latest returns the last piece of evidence of each kind, in the order of the constants: a test run that failed and
// then passed has passed. Kinds that are none of the constants are left out.
func Latest(host []Evidence) (list []Evidence) {
	for _, k := range EvidenceKinds() {
		if i := last(host, k); i >= 0 {
			list = append(list, host[i])
		}
	}
	return list
}

// last returns the index of the last piece of evidence of a kind, or -1.
func last(host []Evidence, k EvidenceKind) int {
	for i := len(host) - 1; i >= 0; i-- {
		if host[i].Kind == k {
			return i
		}
	}
	return -1
}

// Shown returns the kinds of evidence there are, without duplicates, in the order of the constants: those among the
// result's signals and those the host saw succeed last. What the host saw fail last, or did not see, is not shown,
// whatever the text says.
func (r Result) Shown(host []Evidence) []EvidenceKind {
	return kindsThat(func(k EvidenceKind) bool {
		if n := last(host, k); n >= 0 {
			return host[n].shown()
		}
		return slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.Kind == SignalEvidence && s.Name == string(k) })
	})
}

// kindsThat returns the kinds that hold, in the order of the constants.
func kindsThat(hold func(EvidenceKind) bool) (kinds []EvidenceKind) {
	for _, k := range EvidenceKinds() {
		if hold(k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// servesFor is another kind of evidence that does as well.
var servesFor = map[EvidenceKind]EvidenceKind{EvidenceExitCode: EvidenceOutput, EvidenceCommit: EvidencePullRequest}

// CallsFor returns the kind of evidence that s calls for: "all tests pass" calls for test output. It is empty for a
// claim of nothing certain ("done") and for a signal that is no claim.
func (s Signal) CallsFor() EvidenceKind {
	for _, c := range claims {
		if s.Kind == SignalClaim && s.Name == c.name {
			return c.evidence
		}
	}
	return ""
}

// Missing returns the kinds of evidence that a rejected completion lacks, in the order of the constants. A claim of a
// certain thing lacks the evidence of that thing ("all tests pass" lacks test output), and so does one that the host
// saw fail or did not see; a bare claim, or a report without any claim that could be pinned down, lacks test output,
// exit code, commit and pull request, any of which would do. It is empty for a result that is no rejected completion,
// and for one that was rejected for other reasons than missing evidence (a hedge beside a test run).
func (r Result) Missing(host []Evidence) []EvidenceKind {
	if !r.WasRejectedCompletion {
		return nil
	}
	have := r.Shown(host)
	lacks := kindsThat(func(k EvidenceKind) bool {
		if n := last(host, k); n >= 0 && !host[n].shown() {
			return true
		}
		return !slices.Contains(have, k) && !slices.Contains(have, servesFor[k]) &&
			slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.CallsFor() == k })
	})
	if len(lacks) == 0 && len(have) == 0 { // any of these would do
		return kindsThat(func(k EvidenceKind) bool { return k != EvidenceOutput })
	}
	return lacks
}
