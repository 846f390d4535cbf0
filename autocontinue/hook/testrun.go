package hook

import (
	"slices"
	"strings"
)

// Tests says what a transcript shows of test runs since the last edit of this turn.
//
// A run counts as passed when its command is known to run tests, its exit status is that of the tests and is 0, and its
// output shows no failing test; or when its exit status is lost in a pipe or a list of commands, and its output counts
// passing tests and no failing one. An edit is a tool that changes a file, or a command that is known to; edits of prose
// (Markdown, reStructuredText, AsciiDoc), of temporary files and of files outside of the repository, or without one the
// folder, that the agent works in are none. A failed run counts until the same command or a wider one passes.
// Runs that were interrupted, denied or left in the background, and runs with their status thrown away ("|| true"), show
// nothing; one that went on in the background counts as what the agent later saw of it.
type Tests string

// What is known of tests.
const (
	TestsUnknown Tests = ""       // it cannot be told
	TestsPassed  Tests = "passed" // the last run passed
	TestsFailed  Tests = "failed" // the last run failed
	TestsNone    Tests = "none"   // there is none that counts, and the transcript would show it
)

// verdict is what one run of tests came to.
type verdict uint8

const (
	ranUnseen verdict = iota // it does not count
	ranPassed
	ranFailed
)

// judgeRun says what a run came to, and in a few words why it does not count.
func judgeRun(p parsedCommand, o outcome, answered bool) (verdict, string) {
	switch {
	case o.running != "":
		return ranUnseen, "the test run was left in the background"
	case !answered:
		return ranUnseen, "the test run has no result"
	case o.stopped != "":
		return ranUnseen, "the test run was " + o.stopped
	}
	if p.mask == thrown && strings.HasSuffix(p.why, "background") {
		return ranUnseen, p.why
	}
	r := readReport(o.output())
	switch {
	case p.mask == thrown:
		if r.failed {
			return ranFailed, ""
		}
		return ranUnseen, p.why
	case p.mask == lost || !o.known && !o.failed:
		switch {
		case r.failed:
			return ranFailed, ""
		case r.passed && !o.failed:
			return ranPassed, ""
		}
		return ranUnseen, "the status of the test run was lost, and its output shows no result"
	case o.known && o.exit == 0:
		switch {
		case r.failed:
			return ranFailed, ""
		case r.empty:
			return ranUnseen, "the test run found no tests"
		}
		return ranPassed, ""
	case o.known && (o.exit == 126 || o.exit == 127):
		return ranUnseen, "the test command could not be run"
	case o.known && o.exit == 124 || o.exit > 128:
		return ranUnseen, "the test run was interrupted"
	}
	return ranFailed, ""
}

// testRun is a run of tests since the last edit.
type testRun struct {
	words  []string // the command without what does not change which tests run
	name   string   // for people
	failed bool
}

// standing returns what runs, the latest first, leave: a failure that no later run of the same tests made good, else the latest pass.
func standing(runs []testRun) (Tests, string) {
	for i, r := range runs {
		if r.failed && !slices.ContainsFunc(runs[:i], func(later testRun) bool { return !later.failed && later.covers(r) }) {
			return TestsFailed, r.name + ": failed"
		}
	}
	for _, r := range runs {
		if !r.failed {
			return TestsPassed, r.name + ": passed"
		}
	}
	return TestsUnknown, ""
}

// covers reports whether r ran all tests that other did: it has no word, to choose tests by, that other has not.
func (r testRun) covers(other testRun) bool {
	for _, w := range r.words {
		if !slices.Contains(other.words, w) {
			return false
		}
	}
	return true
}
