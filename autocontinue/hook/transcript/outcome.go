package transcript

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// result is what became of a call.
type result struct {
	id      string // of the call
	exit    int    // exit status, when known
	known   bool   // the exit status is known
	failed  bool   // the host calls it a failure
	stopped bool   // it was interrupted
	denied  bool   // it did not run
	running string // it goes on in the background, under this name
	task    bool   // the host will tell the agent when that ends
	ended   string // it is the end of the background command of this name
	output  string
}

func (r *result) status(n int) { r.exit, r.known, r.failed = n, true, n != 0 }

// readStatus sets the exit status with which a text begins. It reports false where there is none.
func (r *result) readStatus(text string) bool {
	text = strings.TrimLeft(text, " -")
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	if digits != "" {
		r.status(number(digits))
	}
	return digits != ""
}

// ran reports whether the command or tool did its work, as far as the host says.
func (r result) ran() bool { return !r.stopped && !r.denied && (!r.failed || r.known) }

// outcome says how a check ended. It reports false for a check that did not take place.
func (e effect) outcome(r result) (classify.CheckOutcome, bool) {
	if r.running != "" || r.stopped {
		return classify.OutcomeUnknown, true
	}
	output := r.output[max(0, len(r.output)-maxOutput):]
	st := e.Status
	if e.Printed != "" && st != statusHidden {
		st = statusLost
		if n, ok := e.printedStatus(output); ok {
			r.status(n)
			st = statusKept
		}
	}
	if !r.known && !r.failed {
		st = max(st, statusLost)
	}
	if st == statusKept && r.known && (r.exit == 126 || r.exit == 127) {
		return "", false // there is no such program
	}
	isTest, rep := e.Check == classify.CheckTest, report{}
	if isTest {
		rep = readReport(output)
	}
	switch {
	case rep.failed: // that outweighs the exit status
		return classify.OutcomeFailed, true
	case st == statusHidden:
	case isTest && (st == statusLost || e.Chained && r.failed):
		if rep.passed && (!r.failed || e.Chained || r.known) {
			return classify.OutcomePassed, true
		}
	case st == statusLost:
		return e.seen(r, output), true
	case !r.failed:
		return e.shown(output), !rep.empty
	case r.exit == 124, r.exit > 128: // it was ended
	case e.Chained:
		return "", false // another check may be the one that failed
	default:
		return classify.OutcomeFailed, true
	}
	return classify.OutcomeUnknown, true
}

// shown says how a check ended whose exit status is 0. Some tools only print what is wrong.
func (e effect) shown(output string) classify.CheckOutcome {
	lists := e.Check == classify.CheckLint && strings.Contains(e.Name, " -l")
	if lists && pattern("unformatted").MatchString(output) ||
		e.Check == classify.CheckRun && pattern("run-failed").MatchString(output) {
		return classify.OutcomeFailed
	}
	return classify.OutcomePassed
}

// seen says how a check ended whose exit status is lost, by its output.
func (e effect) seen(r result, output string) classify.CheckOutcome {
	quiet, blank := e.quiet(), true
	for line := range strings.Lines(output) {
		line = plaintext.Redact(strings.TrimSpace(line)) + "\n"
		printed := func(echo string) bool { return strings.HasPrefix(line, echo) }
		blank = blank && (plaintext.IsBlank(line) || slices.ContainsFunc(e.Echoes, printed))
	}
	bad, good := problems(output)
	switch {
	case bad:
		return classify.OutcomeFailed
	case good,
		quiet && blank && (!r.failed || r.known && r.exit == 1), // a "grep" found nothing
		!quiet && !blank && !r.failed && e.Check == classify.CheckRun,
		e.Check == classify.CheckCommit && pattern("committed").MatchString(output):
		return classify.OutcomePassed
	}
	return classify.OutcomeUnknown
}

// problems reports whether an output shows problems, and whether it says that there are none.
func problems(output string) (bad, good bool) {
	output = strings.ToLower(plaintext.StripEscapes(output))
	has := func(w string) bool { return strings.Contains(output, w) }
	bad = pattern("some-problems").MatchString(output) || slices.ContainsFunc(phrases()["bad"], has)
	good = pattern("no-problems").MatchString(output) || slices.ContainsFunc(phrases()["good"], has)
	return bad, good && !bad
}

// printedStatus returns the exit status that the script printed on one line. Two such lines tell none.
func (e effect) printedStatus(output string) (n int, ok bool) {
	before := regexp.QuoteMeta(strings.TrimSuffix(e.Printed, "$"))
	line := regexp.MustCompile(`(?m)^[ \t]*` + before + `[ \t]*([0-9]{1,3})(?:[^0-9\n].*)?$`)
	all := line.FindAllStringSubmatch(plaintext.StripEscapes(output), 2)
	if len(all) != 1 {
		return 0, false
	}
	return number(all[0][1]), true
}

// maxOutput is how many bytes of a command's output are read, from its end: that is where test runners sum up.
const maxOutput = 64 << 10

type report struct {
	passed bool // it counts tests that passed, or a package that did
	failed bool // it counts or names tests that failed
	empty  bool // it says that there were none
}

func readReport(output string) (r report) {
	ran, ok := false, false
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(plaintext.StripEscapes(line))
		is := func(name string) bool { return pattern(name).MatchString(line) }
		switch {
		case line == "":
		case is("fails"):
			r.failed = true
		case is("none"):
			r.empty = true
		case is("passes"): // the name of a test may count things, too
			r.passed = true
		case line == "OK":
			ok = true
		case len(line) <= 300 && strings.ContainsAny(line, "0123456789"):
			ran = r.count(line) || ran
		}
	}
	r.passed = r.passed || ok && ran
	r.empty = r.empty && !r.passed && !ran
	return r
}

// count takes in what a line counts, and reports whether it says that there were tests.
func (r *report) count(line string) (ran bool) {
	counts := pattern("labels").FindAllString(line, -1)
	rest := pattern("labels").ReplaceAllString(line, " ")
	others := pattern("word").FindAllString(pattern("pairs").ReplaceAllString(rest, " "), 6)
	if strings.HasPrefix(line, "test result: ") || len(others) <= 5 { // not a sentence
		counts = append(counts, pattern("pairs").FindAllString(rest, -1)...)
	}
	unfailed, failed := false, false
	for _, c := range counts {
		some := strings.ContainsAny(c, "123456789")
		switch {
		case pattern("count-failed").MatchString(c):
			failed, unfailed = failed || some, unfailed || !some
		case pattern("count-passed").MatchString(c):
			r.passed = r.passed || some
		default:
			ran = ran || some
		}
	}
	r.failed = r.failed || failed
	r.passed = r.passed || unfailed && !failed && ran
	return ran
}

// number reads decimal digits, at most six of them.
func number(digits string) int {
	n, _ := strconv.Atoi(digits[:min(len(digits), 6)])
	return n
}
