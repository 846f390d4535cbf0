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
func EvidenceKinds() []EvidenceKind { return slices.Clone(kindsOfEvidence[:]) }

// Valid reports whether k is one of the constants. Evidence of other kinds counts for nothing.
func (k EvidenceKind) Valid() bool { return slices.Contains(kindsOfEvidence[:], k) }

// Evidence is something the host itself saw, such as the result of a tool call of this turn.
type Evidence struct {
	Kind   EvidenceKind `json:"kind"`
	Text   string       `json:"text,omitempty"`   // a few words for people: "go test ./...: 42 passed"
	Failed bool         `json:"failed,omitempty"` // it shows a failure: a non-zero exit status, a failing test
}

// kindsOfEvidence lists the kinds in the order of the constants.
var kindsOfEvidence = [...]EvidenceKind{EvidenceTests, EvidenceExitCode, EvidenceOutput, EvidenceCommit, EvidencePullRequest}

// Latest returns the last piece of evidence of each kind, in the order of the constants: a test run that failed and then
// passed has passed. Kinds that are none of the constants are left out.
func Latest(host []Evidence) []Evidence {
	var list []Evidence
	for _, k := range kindsOfEvidence {
		for i := len(host) - 1; i >= 0; i-- {
			if host[i].Kind == k {
				list = append(list, host[i])
				break
			}
		}
	}
	return list
}

// Shown returns the kinds of evidence there are, without duplicates, in the order of the constants: those among the
// result's signals and those the host saw succeed last. What the host saw fail last is not shown, whatever the text says.
func (r Result) Shown(host []Evidence) []EvidenceKind {
	have := r.shown(host)
	var kinds []EvidenceKind
	for _, k := range kindsOfEvidence {
		if have[k] {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func (r Result) shown(host []Evidence) map[EvidenceKind]bool {
	have := make(map[EvidenceKind]bool, len(kindsOfEvidence))
	for _, s := range r.Signals {
		if s.Kind == SignalEvidence {
			have[EvidenceKind(s.Name)] = true
		}
	}
	for _, e := range Latest(host) {
		have[e.Kind] = !e.Failed
	}
	return have
}

// claimed are the claims of something certain, by their names, and the evidence that each calls for.
var claimed = map[string]EvidenceKind{
	"tests":        EvidenceTests,
	"build":        EvidenceExitCode,
	"commit":       EvidenceCommit,
	"pull_request": EvidencePullRequest,
}

// servesFor is another kind of evidence that does as well.
var servesFor = map[EvidenceKind]EvidenceKind{EvidenceExitCode: EvidenceOutput, EvidenceCommit: EvidencePullRequest}

// CallsFor returns the kind of evidence that s calls for: "all tests pass" calls for test output. It is empty for a claim of
// nothing certain ("done") and for a signal that is no claim.
func (s Signal) CallsFor() EvidenceKind {
	if s.Kind != SignalClaim {
		return ""
	}
	return claimed[s.Name]
}

// Missing returns the kinds of evidence that a rejected completion lacks, in the order of the constants. A claim of a
// certain thing lacks the evidence of that thing ("all tests pass" lacks test output), and so does one that the host saw
// fail; a bare claim, or a report without any claim that could be pinned down, lacks test output, exit code, commit and
// pull request, any of which would do. It is empty for a result that is no rejected completion, and for one that was rejected
// for other reasons than missing evidence (a hedge beside a test run).
func (r Result) Missing(host []Evidence) []EvidenceKind {
	if !r.WasRejectedCompletion {
		return nil
	}
	have := r.shown(host)
	lacks := make(map[EvidenceKind]bool)
	for _, s := range r.Signals {
		if k := s.CallsFor(); k != "" {
			other, serves := servesFor[k]
			lacks[k] = !have[k] && !(serves && have[other])
		}
	}
	for _, e := range Latest(host) {
		lacks[e.Kind] = lacks[e.Kind] || e.Failed
	}
	bare := true
	for _, k := range kindsOfEvidence {
		bare = bare && !lacks[k] && !have[k]
	}
	var kinds []EvidenceKind
	for _, k := range kindsOfEvidence {
		if lacks[k] || bare && k != EvidenceOutput {
			kinds = append(kinds, k)
		}
	}
	return kinds
}
