package classify

// SignalKind says what a [Signal] is a sign of.
type SignalKind string

// The kinds of signals.
const (
	SignalClaim    SignalKind = "claim"    // says that work is done; Name is a claim name below
	SignalHedge    SignalKind = "hedge"    // weakens a claim: "should work now"
	SignalEvidence SignalKind = "evidence" // shows that work was done; Name is an [EvidenceKind]
	SignalPromise  SignalKind = "promise"  // announces instead of doing: "will report back"
	SignalQuestion SignalKind = "question" // puts something to the human; Name "approval" for an approval request
	SignalOffer    SignalKind = "offer"    // a courtesy or further offer: "let me know if you need anything else"
	SignalBlocker  SignalKind = "blocker"  // needs something from outside, or refuses
	SignalFailure  SignalKind = "failure"  // a crash, a failed command, an API error
	SignalGap      SignalKind = "gap"      // admits that something is missing or unfinished
	SignalProgress SignalKind = "progress" // is at work or names the next step
	SignalAnswer   SignalKind = "answer"   // answers what was asked
)

// The names of claims that say which check or act they are about. Other claims say only that work was done: "edit" and
// "past" name a change ("Fixed the header"), "submit" and others are signs for the verdict.
const (
	ClaimDone        = "done"         // the work as a whole
	ClaimEdit        = "edit"         // a change of files
	ClaimTests       = "tests"        // tests pass
	ClaimChecked     = "checked"      // it was verified, no matter how
	ClaimBuild       = "build"        // it compiles or builds
	ClaimLint        = "lint"         // a linter finds nothing
	ClaimTypes       = "types"        // a type checker finds nothing
	ClaimRun         = "run"          // the program was run, or runs
	ClaimCommit      = "commit"       // it is committed or merged
	ClaimPush        = "push"         // it is pushed
	ClaimPullRequest = "pull_request" // a pull request is open
)

// HedgeCannotCheck is the name of a hedge that says why nothing was run: "couldn't run the tests, npm is not
// installed".
const HedgeCannotCheck = "cannot_check"

// Signal is one thing found in an output. Start and End are byte offsets into [Input.Text], at rune boundaries,
// Start < End; text[Start:End] is what was found.
type Signal struct {
	Kind   SignalKind `json:"kind"`
	Name   string     `json:"name,omitempty"` // which one of its kind
	Start  int        `json:"start"`
	End    int        `json:"end"`
	Weight float64    `json:"weight"` // how much it counted, above 0; the end of an output weighs most
}
