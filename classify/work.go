package classify

import "slices"

// Work is what the agent did, as the host saw it in the agent's own record: which files it edited and what it ran after
// that. The zero value says that nothing is known. Facts of a turn outweigh the agent's words about it.
type Work struct {
	// Edited says what kind of files was edited since the last successful check, in this turn or before it. An edit of
	// an earlier turn counts as long as the human only told the agent to go on.
	Edited Edited `json:"edited,omitempty"`
	// Session says what kind of files was edited in the whole session, checked or not.
	Session Edited `json:"session,omitempty"`
	// Files names the files behind Edited, the last edited last, at most 20. A path in the project is relative to it.
	Files []string `json:"files,omitempty"`
	// Checks lists what ran after the last edit, in order of time, at most 20, the last ones.
	Checks []Check `json:"checks,omitempty"`
	// Ran lists the commands that tested, built or linted earlier in the session, each once, at most 5, the last one last.
	// It is empty unless code was edited and nothing ran after that.
	Ran []string `json:"ran,omitempty"`
}

// Edited says what kind of files was edited. The greatest kind counts: code beside documents is code.
type Edited string

// The kinds of edited files. A file that is neither known to be code nor a document, such as a configuration, is code.
const (
	EditedUnknown Edited = ""     // the host cannot tell
	EditedNone    Edited = "none" // no file was edited
	EditedDocs    Edited = "docs" // only documents: Markdown, plain text and the like
	EditedCode    Edited = "code" // something that can be run, built, loaded or tested
)

// Check is one command that the agent ran, or a tool that did the same.
type Check struct {
	Command string       `json:"command,omitempty"` // for people, on one line, at most 200 characters
	Kind    CheckKind    `json:"kind"`
	Outcome CheckOutcome `json:"outcome,omitempty"`
}

// CheckKind says what a command checks. Reading a file checks nothing and is no check.
type CheckKind string

// The kinds of checks.
const (
	CheckTest   CheckKind = "test"         // a test runner
	CheckBuild  CheckKind = "build"        // a compiler or bundler; a type checker
	CheckLint   CheckKind = "lint"         // a linter, formatter or parser that only looks
	CheckRun    CheckKind = "run"          // the program itself, a request to it, a script
	CheckCommit CheckKind = "commit"       // a commit: it supports a claim of a commit, and nothing else
	CheckPush   CheckKind = "push"         // a push: supports a claim of a push, and nothing else
	CheckPull   CheckKind = "pull_request" // a pull request: likewise
)

// CheckOutcome says how a check ended.
type CheckOutcome string

// The outcomes of a check.
const (
	OutcomeUnknown CheckOutcome = ""       // it still runs, or its status was hidden: "go test | tail"
	OutcomePassed  CheckOutcome = "passed" // it succeeded, and its output shows no failure
	OutcomeFailed  CheckOutcome = "failed" // it failed, or its output shows a failure
)

// Weigh corrects a verdict on words by what the agent did. It is pure: the same result and work give the same
// answer. The heuristic applies it; a classifier that judges words alone passes its verdict through it.
//
// A claim is a completion or a rejected completion. Words alone decide about everything else: such a result is returned
// as it is. For a claim the first rule that holds wins:
//
//  1. A claimed check failed when it last ran, or did not run after the last edit: rejected. If the text reports the
//     failure, it is an error. Counted test results are rejected too if nothing was edited or run in the session.
//  2. No file was edited in the session and nothing was run, but the text claims a change, begins with a claim to be
//     done, or hedges such a claim: rejected.
//  3. No file was edited since the last successful check: delivered.
//  4. Only documents were edited since then: delivered.
//  5. Code was edited, and a check passed after the last edit: delivered.
//  6. Code was edited, nothing was run after that, and the text says that the agent could not, and why: delivered.
//  7. Code was edited, and nothing was run after that: rejected.
//  8. Code was edited, and each check after that failed: an error if the text reports the failure, else rejected.
//  9. Otherwise the facts are unknown: the result is returned as it is.
//
// Rules 3 to 6 need each claimed check to have passed; if it is unknown how one ended, rule 9 holds. "Rejected" is a
// status with WasRejectedCompletion, "delivered" a completion. Either is as certain as the result was, and at least
// 0.9.
//
// Which check a claim is about is in [Signal.Name]; counted test results are a claim of tests. A claim of a build is
// also served by a test or a run of what was built, one of types by a build or a linter, and one of a commit by a push
// or a pull request. A check of another kind does not serve.
func (w Work) Weigh(r Result) Result {
	if r.Type != Completion && !r.WasRejectedCompletion {
		return r
	}
	if f := w.byFacts(r.Signals); f.typ != "" {
		r.become(f.typ, max(r.Confidence, leastFactConfidence), f.reason)
	}
	return r
}

// leastFactConfidence is how certain a verdict on facts is at least: they settle the doubt whether a claim is shown.
const leastFactConfidence = 0.9

// finding is what the facts say about a claim. Without a type they say nothing.
type finding struct {
	typ       OutputType
	reason    string
	unchecked bool // code was edited, nothing was run after that, and no check is claimed
	failed    bool // the check failed
}

// become makes r, a claim, a verdict of another type. A status is a rejected completion.
func (r *Result) become(t OutputType, confidence float64, reason string) {
	r.Type, r.WasRejectedCompletion, r.Confidence, r.Reason = t, t == Status, confidence, reason
	if t != Status {
		r.CoachingMessage = ""
	}
}

// byFacts finds the rule of [Work.Weigh] that holds for a claim with these signals.
func (w Work) byFacts(signals []Signal) finding {
	has := func(k SignalKind, names ...string) bool {
		return slices.ContainsFunc(signals, func(s Signal) bool {
			return s.Kind == k && (len(names) == 0 || slices.Contains(names, s.Name))
		})
	}
	changed := w.Edited == EditedCode || w.Edited == EditedDocs || w.Session == EditedCode || w.Session == EditedDocs
	unclear := false
	for _, c := range claims {
		counts := c.name == ClaimTests && has(SignalEvidence, string(EvidenceTests))
		if c.checks == nil || !has(SignalClaim, c.name) && !counts {
			continue
		}
		switch outcome, ran := w.Outcome(c.name); {
		case ran && outcome == OutcomeFailed && has(SignalFailure):
			return finding{typ: Error, reason: "reports that its check failed"}
		case ran && outcome == OutcomeFailed:
			return finding{typ: Status, reason: "claims " + c.noun + ", but it failed when it last ran", failed: true}
		case ran && outcome == OutcomePassed:
		case !ran && w.Edited != EditedUnknown && changed:
			return finding{typ: Status, reason: "claims " + c.noun + ", but it did not run after the last edit"}
		case w.idle() && has(SignalEvidence, string(EvidenceTests)):
			return finding{typ: Status, reason: "shows a test run, but nothing was run in the session"}
		default:
			unclear = true
		}
	}
	passed, failed, unknown := w.outcomes()
	switch {
	case w.idle() && (has(SignalClaim, ClaimEdit) || claimsDone(signals)):
		return finding{typ: Status, reason: "claims a change, but no file was edited in the session"}
	case unclear || w.Edited == EditedUnknown:
		return finding{}
	case w.Edited == EditedNone:
		return finding{typ: Completion, reason: "no file is edited and unchecked"}
	case w.Edited == EditedDocs:
		return finding{typ: Completion, reason: "only documents were edited"}
	case passed:
		return finding{typ: Completion, reason: "a check passed after the last edit"}
	case !failed && !unknown && has(SignalHedge, hedgeCannotCheck):
		return finding{typ: Completion, reason: "says that it could not check its edits, and why"}
	case !failed && !unknown:
		return finding{typ: Status, reason: "edited code, and ran no check after that", unchecked: true}
	case failed && !unknown && has(SignalFailure):
		return finding{typ: Error, reason: "reports that its check failed"}
	case failed && !unknown:
		return finding{typ: Status, reason: "edited code, and the check after that failed", failed: true}
	}
	return finding{}
}

// claimsDone reports whether the text begins with a claim to be done, or has such a claim and a hedge.
func claimsDone(signals []Signal) bool {
	hedged := slices.ContainsFunc(signals, func(s Signal) bool { return s.Kind == SignalHedge })
	return slices.ContainsFunc(signals, func(s Signal) bool {
		return s.Kind == SignalClaim && s.Name == claimDone && (hedged || s.Start == 0)
	})
}

// claims are the claims of something certain, in the order in which they are looked at: the evidence that each calls
// for, and the checks that serve it.
var claims = [...]struct {
	name     string
	evidence EvidenceKind
	noun     string
	checks   []CheckKind
}{
	{ClaimTests, EvidenceTests, "a test run", []CheckKind{CheckTest}},
	{ClaimBuild, EvidenceExitCode, "a build", []CheckKind{CheckBuild, CheckTest, CheckRun}},
	{ClaimTypes, EvidenceExitCode, "a type check", []CheckKind{CheckBuild, CheckLint}},
	{ClaimLint, EvidenceExitCode, "a lint run", []CheckKind{CheckLint}},
	{ClaimPullRequest, EvidencePullRequest, "a pull request", []CheckKind{CheckPull}},
	{ClaimPush, EvidenceCommit, "a push", []CheckKind{CheckPush}},
	{ClaimCommit, EvidenceCommit, "a commit", []CheckKind{CheckCommit, CheckPush, CheckPull}},
	{name: ClaimChecked, evidence: EvidenceTests},
}

// idle reports whether nothing at all was edited or run in the session.
func (w Work) idle() bool {
	return w.Session == EditedNone && w.Edited == EditedNone && len(w.Checks) == 0
}

// Outcome returns how the checks ended that a claim is about, by its [Signal.Name], and whether one ran at all. Of
// each kind of check the last one counts. Passed beats unknown, and unknown beats failed.
func (w Work) Outcome(claim string) (outcome CheckOutcome, ran bool) {
	var kinds []CheckKind
	for _, c := range claims {
		if c.name == claim {
			kinds = c.checks
		}
	}
	for _, kind := range kinds {
		o, ok := w.last(kind)
		if !ok {
			continue
		}
		if !ran || o == OutcomePassed || o == OutcomeUnknown && outcome == OutcomeFailed {
			outcome = o
		}
		ran = true
	}
	return outcome, ran
}

// last returns how the last check of a kind ended, and whether there is one.
func (w Work) last(kind CheckKind) (CheckOutcome, bool) {
	for _, c := range slices.Backward(w.Checks) {
		if c.Kind == kind {
			return c.Outcome, true
		}
	}
	return OutcomeUnknown, false
}

// outcomes reports which outcomes the last checks of code have, of each kind.
func (w Work) outcomes() (passed, failed, unknown bool) {
	for _, kind := range [...]CheckKind{CheckTest, CheckBuild, CheckLint, CheckRun} {
		if o, ok := w.last(kind); ok {
			passed = passed || o == OutcomePassed
			failed = failed || o == OutcomeFailed
			unknown = unknown || o == OutcomeUnknown
		}
	}
	return passed, failed, unknown
}
