package classify

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
