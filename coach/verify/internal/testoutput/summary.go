package testoutput

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

//go:embed runners.txt
var runnersText string

// runner has the patterns of a test runner by their names in runners.txt.
type runner map[string]*lazy.Pattern

// runners returns the test runners. The first call reads the file.
var runners = sync.OnceValue(func() (all []runner) {
	last := ""
	for entry, expr := range lazy.Entries(runnersText) {
		name, pattern, _ := strings.Cut(entry, " ")
		if name != last {
			all, last = append(all, runner{}), name
		}
		all[len(all)-1][pattern] = lazy.New(strings.ReplaceAll(expr, "\n", ""))
	}
	return all
})

// readSummary reads the summary of a runner.
func readSummary(text string) (Counts, bool) {
	for _, r := range runners() {
		if r["test"] != nil {
			if c, ok := readGo(text); ok {
				return c, true
			}
			continue
		}
		summary := cmp.Or(r["summaries"], r["summary"])
		found := summary.FindAll(text)
		if len(found) == 0 {
			if r["zero"] != nil && r["zero"].Match(text) {
				return Counts{}, true
			}
			continue
		}
		if r["summaries"] == nil {
			found = found[len(found)-1:]
		}
		var c Counts
		for _, m := range found {
			c.sum(summary.Regexp(), m)
		}
		for _, m := range matches(r["failure"], text) {
			c.failed(m)
		}
		c.Failures = slices.Compact(c.Failures)
		if c.Passes = matches(r["pass"], text); len(c.Passes) > maxPasses {
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

var (
	listed = lazy.New(`(\d+) (\w+)|(\w[\w ]*)=(\d+)`) // "3 passed, 1 skipped", "failures=1, expected failures=1"
	words  = map[string]string{                       // in a list
		"passed": "passed", "xpassed": "passed",
		"failed": "failed", "error": "failed", "errors": "failed", "failures": "failed", "unexpected successes": "failed",
		"skipped": "skipped", "todo": "skipped", "xfailed": "skipped", "expected": "skipped", "expected failures": "skipped",
	}
)

// sum adds the numbers of a summary.
func (c *Counts) sum(expr *regexp.Regexp, m []string) {
	n := map[string]int{}
	add := func(kind, number string) {
		i, _ := strconv.Atoi(number)
		n[kind] += i
	}
	for i, name := range expr.SubexpNames() {
		switch name = strings.TrimRight(name, "2"); {
		case m[i] == "":
		case name == "list":
			for _, part := range listed.FindAll(m[i]) {
				add(words[part[2]+part[3]], part[1]+part[4])
			}
		default:
			add(name, m[i])
		}
	}
	if _, ok := n["passed"]; !ok {
		n["passed"] = max(0, n["total"]-n["failed"]-n["skipped"])
	}
	c.Passed, c.Failed, c.Skipped = c.Passed+n["passed"], c.Failed+n["failed"], c.Skipped+n["skipped"]
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
