package testoutput

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// runner is how a test runner words its summary. The groups of a pattern are numbers by their names: passed, failed,
// skipped, total. Groups that count together have a digit behind their name: failed2.
type runner struct {
	name    string
	summary *lazy.Pattern
	all     bool          // every summary of the output counts, not the last alone: one for each program or module
	zero    *lazy.Pattern // says that no test ran; nil: nothing does
	failure *lazy.Pattern // names a failed test in its first group
	pass    *lazy.Pattern // names a passed test, where all of them are named
}

// runners in the order in which they are tried: the more special before the more general.
var runners = []runner{
	{name: "cargo", all: true,
		summary: lazy.New(`(?m)^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<skipped>\d+) ignored`),
		failure: lazy.New(`(?m)^test (\S+)(?: - .*)? \.\.\. FAILED`), pass: lazy.New(`(?m)^test (\S+)(?: - .*)? \.\.\. ok$`)},
	{name: "unittest",
		summary: lazy.New(`(?m)^Ran (?P<total>\d+) tests? in .*\n+(?:OK|FAILED|NO TESTS RAN)(?: \((?P<list>[^)]*)\))?`),
		failure: lazy.New(`(?m)^(?:FAIL|ERROR): (\S+(?: \(\S+\))?)`)},
	{name: "pytest",
		summary: lazy.New(`(?m)^(?:=+ )?(?P<list>(?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|` +
			`warnings?|rerun)(?:, )?)+) in [\d.]+`),
		zero: lazy.New(`(?m)^(?:=+ )?no tests (?:ran|collected)`), failure: lazy.New(`(?m)^(?:FAILED|` +
			`ERROR) (\S+(?:\[.*\])?)`)},
	{name: "vitest",
		summary: lazy.New(`(?m)^\s+Tests\s+(?P<list>(?:\d+ (?:failed|passed|skipped|todo|expected fail)(?: \|` +
			` )?)+)\s*\(\d+\)`),
		zero: lazy.New(`(?m)^No test files found|^\s+Tests\s+no tests`), failure: lazy.New(`(?m)^\s*(?:FAIL|` +
			`×)\s+(\S.*?)(?:\s+\d+ms)?$`)},
	{name: "jest",
		summary: lazy.New(`(?m)^Tests:\s+(?P<list>(?:\d+ (?:failed|skipped|todo|passed)(?:, )?)+)\s*(?:, )?\d+ total`),
		zero:    lazy.New(`(?m)^No tests found|^Tests:\s+0 total`), failure: lazy.New(`(?m)^  ● (.+ › .+|\S.*)$`)},
	{name: "node",
		summary: lazy.New(`(?m)^(?:ℹ|#) tests \d+\n(?:(?:ℹ|#) suites \d+\n)?(?:ℹ|#) pass (?P<passed>\d+)\n(?:ℹ|` +
			`#) fail (?P<failed>\d+)\n(?:ℹ|#) cancelled (?P<failed2>\d+)\n(?:ℹ|#) skipped (?P<skipped>\d+)\n(?:ℹ|` +
			`#) todo (?P<skipped2>\d+)`),
		failure: lazy.New(`(?m)^\s*✖ (.+?[^:\n])(?: \([\d.]+m?s\))?$`)},
	{name: "mocha",
		summary: lazy.New(
			`(?m)^\s+(?P<passed>\d+) passing\b.*(?:\n+\s+(?P<skipped>\d+) pending)?(?:\n+\s+(?P<failed>\d+) failing)?`),
		failure: lazy.New(`(?m)^  \d+\) (\S.*(?:\n {7}\S.*)*):$`)},
	{name: "maven", all: true,
		summary: lazy.New(
			`(?m)^(?:\[\w+\] )?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), Errors: (?P<failed2>\d+), Skipped: ` +
				`(?P<skipped>\d+)\s*$`,
		),
		zero: lazy.New(
			`(?m)^(?:\[INFO\] )?No tests to run\.`), failure: lazy.New(`(?m)^\[ERROR\]\s+(\w[\w$]*\.\w+)(?::\d+|»| )`)},
	{name: "gradle",
		summary: lazy.New(`(?m)^(?P<total>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?`),
		failure: lazy.New(`(?m)^(\S.* > .*) FAILED$`)},
	{name: "dotnet", all: true,
		summary: lazy.New(`(?m)^\s*(?:Passed|` +
			`Failed)!\s+- Failed:\s+(?P<failed>\d+), Passed:\s+(?P<passed>\d+), Skipped:\s+(?P<skipped>\d+)`)},
	{name: "rspec and exunit", failure: lazy.New(`(?m)^rspec (\S+)`),
		summary: lazy.New(`(?m)^(?P<total>\d+) (?:examples?|` +
			`tests?), (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) (?:pending|skipped|excluded))?`)},
	{name: "minitest",
		summary: lazy.New(`(?m)^(?P<total>\d+) (?:runs|` +
			`tests), \d+ assertions, (?P<failed>\d+) failures, (?P<failed2>\d+) errors, (?P<skipped>\d+) (?:skips|omissions)`)},
	{name: "phpunit",
		summary: lazy.New(`(?m)^(?:OK \((?P<total>\d+) tests?, |` +
			`Tests: (?P<total2>\d+), Assertions: \d+(?:, Errors: (?P<failed>\d+))?(?:, Failures: (?P<failed2>\d+))?.*?(?:, ` +
			`Skipped: (?P<skipped>\d+))?\.$)`),
		zero: lazy.New(`(?m)^No tests executed!`)},
	{name: "swift", summary: lazy.New(`(?m)^\s*Executed (?P<total>\d+) tests?, with (?P<failed>\d+) failures?`)},
	{name: "ctest", summary: lazy.New(`(?m)^\d+% tests passed, (?P<failed>\d+) tests failed out of (?P<total>\d+)`)},
	{name: "deno", summary: lazy.New(`(?m)^\w+ \| (?P<passed>\d+) passed(?: \(\d+ steps?\))? \| (?P<failed>\d+) failed`)},
	{name: "bun", summary: lazy.New(`(?m)^ *(?P<passed>\d+) pass\n(?: *(?P<skipped>\d+) skip\n)? *(?P<failed>\d+) fail$`)},
	{name: "go test -v", all: true, summary: nil},
	{name: "any",
		summary: lazy.New(`(?im)^[^\n]*?\b(?P<passed>\d+) (?:tests? )?pass(?:ed|ing)\b(?:[,;|` +
			`]? *(?:and )?(?P<failed>\d+) (?:tests? )?fail(?:ed|ing|ures?)\b)?(?:[,;|` +
			`]? *(?:and )?(?P<skipped>\d+) (?:tests? )?(?:skipped|ignored|pending)\b)?`)},
}

// readSummary reads the summary of a runner.
func readSummary(text string) (Counts, bool) {
	for _, r := range runners {
		if r.summary == nil {
			if c, ok := readGo(text); ok {
				return c, true
			}
			continue
		}
		found := r.summary.FindAll(text)
		if len(found) == 0 {
			if r.zero != nil && r.zero.Match(text) {
				return Counts{}, true
			}
			continue
		}
		if !r.all {
			found = found[len(found)-1:]
		}
		var c Counts
		for _, m := range found {
			c.sum(r.summary.Regexp(), m)
		}
		for _, m := range matches(r.failure, text) {
			c.failed(m)
		}
		c.Failures = slices.Compact(c.Failures)
		c.Passes = matches(r.pass, text)
		if len(c.Passes) > maxPasses {
			c.Passes = nil
		}
		return c, true
	}
	return Counts{}, false
}

// matches returns the first group of each match.
func matches(expr *lazy.Pattern, text string) []string {
	if expr == nil {
		return nil
	}
	var list []string
	for _, m := range expr.FindAll(text) {
		list = append(list, strings.Join(strings.Fields(m[1]), " "))
	}
	return list
}

var listed = lazy.New(`(\d+) (\w+)|(\w[\w ]*)=(\d+)`)

// sum adds the numbers of a summary.
func (c *Counts) sum(expr *regexp.Regexp, m []string) {
	total, passed, failed, skipped := -1, -1, 0, 0
	for i, name := range expr.SubexpNames() {
		if m[i] == "" || name == "" {
			continue
		}
		n, _ := strconv.Atoi(m[i])
		switch strings.TrimRight(name, "2") {
		case "total":
			total = n
		case "passed":
			passed = n
		case "failed":
			failed += n
		case "skipped":
			skipped += n
		case "list": // "3 passed, 1 skipped", "failures=1, expected failures=1"
			for _, part := range listed.FindAll(m[i]) {
				n, _ := strconv.Atoi(part[1] + part[4])
				switch word := part[2] + part[3]; word {
				case "passed", "xpassed":
					passed = max(0, passed) + n
				case "failed", "error", "errors", "failures", "unexpected successes":
					failed += n
				case "skipped", "todo", "xfailed", "expected", "expected failures":
					skipped += n
				}
			}
		}
	}
	if passed < 0 && total >= 0 {
		passed = total - failed - skipped
	}
	c.Passed, c.Failed, c.Skipped = c.Passed+max(0, passed), c.Failed+failed, c.Skipped+skipped
}

var (
	goResult = lazy.New(`(?m)^( *)--- (PASS|FAIL|SKIP): (\S+)`)
	goEmpty  = lazy.New(`(?m)^(?:\?|ok) .*\[no test(?:s to run| files)\]`)
	goRan    = lazy.New(`(?m)^(?:ok  ?|FAIL)\t.*$`)
)

// readGo reads what go test prints without -json. Without -v only failures are named, so that nothing can be counted,
// unless there is nothing to count. Subtests are not counted beside their tests.
func readGo(text string) (Counts, bool) {
	var c Counts
	for _, m := range goResult.FindAll(text) {
		switch {
		case m[2] == "FAIL" && m[1] == "":
			c.fail(m[3])
		case m[2] == "FAIL":
			c.failed(m[3])
		case m[1] != "":
		case m[2] == "PASS":
			c.pass(m[3])
		default:
			c.Skipped++
		}
	}
	if c.Passed > 0 {
		return c, true
	}
	ran := false
	for _, line := range goRan.Regexp().FindAllString(text, -1) {
		ran = ran || !goEmpty.Match(line)
	}
	c.Partial = c.Failed > 0
	return c, c.Partial || !ran && goEmpty.Match(text)
}
