package classify

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

// Evidence is something the host itself saw, such as the result of a tool call of this turn.
type Evidence struct {
	Kind   EvidenceKind `json:"kind"`
	Text   string       `json:"text,omitempty"`   // a few words for people: "go test ./...: 42 passed"
	Failed bool         `json:"failed,omitempty"` // it shows a failure: a non-zero exit status, a failing test
}

// general is what a bare claim lacks: any one of these would have served.
var general = [...]EvidenceKind{EvidenceTests, EvidenceExitCode, EvidenceCommit, EvidencePullRequest}

// Shown returns the kinds of evidence there are, without duplicates, in the order of the constants: those among the
// result's signals and those the host saw succeed.
func (r Result) Shown(host []Evidence) []EvidenceKind {
	have := r.shown(host)
	var kinds []EvidenceKind
	for _, k := range [...]EvidenceKind{EvidenceTests, EvidenceExitCode, EvidenceOutput, EvidenceCommit, EvidencePullRequest} {
		if have[k] {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func (r Result) shown(host []Evidence) map[EvidenceKind]bool {
	have := make(map[EvidenceKind]bool)
	for _, s := range r.Signals {
		if s.Kind == SignalEvidence {
			have[EvidenceKind(s.Name)] = true
		}
	}
	for _, e := range host {
		if !e.Failed {
			have[e.Kind] = true
		}
	}
	return have
}

// Missing returns the kinds of evidence that a rejected completion lacks, in the order of the constants. A claim of a
// certain thing lacks the evidence of that thing ("all tests pass" lacks test output); a bare claim, or a report without
// any claim that could be pinned down, lacks test output, exit code, commit and pull request, any of which would do.
// It is empty for a result that is no rejected completion, and for one that was rejected for other reasons than missing
// evidence (a hedge beside a test run).
func (r Result) Missing(host []Evidence) []EvidenceKind {
	if !r.WasRejectedCompletion {
		return nil
	}
	have := r.shown(host)
	lacks := make(map[EvidenceKind]bool)
	for _, s := range r.Signals {
		if s.Kind != SignalClaim {
			continue
		}
		switch s.Name {
		case "tests":
			if !have[EvidenceTests] && !have[EvidenceExitCode] {
				lacks[EvidenceTests] = true
			}
		case "build":
			if !have[EvidenceExitCode] && !have[EvidenceOutput] {
				lacks[EvidenceExitCode] = true
			}
		case "commit":
			if !have[EvidenceCommit] && !have[EvidencePullRequest] {
				lacks[EvidenceCommit] = true
			}
		case "pull_request":
			if !have[EvidencePullRequest] {
				lacks[EvidencePullRequest] = true
			}
		}
	}
	var kinds []EvidenceKind
	for _, k := range general {
		if lacks[k] || len(lacks) == 0 && len(have) == 0 {
			kinds = append(kinds, k)
		}
	}
	return kinds
}
