package testoutput

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

var (
	tapPlan = lazy.New(`^1\.\.([0-9]+)(?:[ \t]*#.*)?$`)
	tapTest = lazy.New(`^( *)(not )?ok\b(?:[ \t]+[0-9]+)?(?:[ \t]+(.*))?$`)
	tapBail = lazy.New(`^(?i:bail out!)`)
	// A "#" behind a backslash is part of the name.
	tapDirective = lazy.New(`(?i)(?:^|[^\\])#[ \t]*(?:todo|skip\S*)(?:[ \t:]|$)`)
	tapTime      = lazy.New(`(?i)[ \t]*# time=.*$|[ \t]*\([0-9.]+ ?m?s\)$`)
	tapPassed    = lazy.New(`(?m)^# pass(?:ed)? +([0-9]+)$`)
	tapFile      = lazy.New(`^(?:\S*[/\\])?[\w.-]+\.[cm]?[jt]sx?$`)
)

// readTAP reads a report in the Test Anything Protocol, versions 12 to 14. A test that holds subtests is not counted
// itself: its subtests are. A test with the directive TODO or SKIP counts as skipped. The second result says whether
// the text is such a report, which has a version or a plan.
func readTAP(text string) (c Counts, known bool) {
	var open []string       // tests that are followed by their subtests in braces
	failed := map[int]int{} // how many tests had failed after the last test of an indentation
	before, top := 0, 0     // the indentation of the test before, and how many tests the top has
	planned, plans := 0, 0  // of the top
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimRight(line, " \t\r\n")
		if test, opens := strings.CutSuffix(line, " {"); opens && tapTest.Match(test) {
			open = append(open, test)
			continue
		}
		if n := len(open); n > 0 && strings.TrimSpace(line) == "}" {
			line, open = open[n-1], open[:n-1]
		}
		if tapBail.Match(line) {
			c.flaw("it bailed out")
			known = true
			break
		}
		known = known || strings.HasPrefix(line, "TAP version 1")
		if m := tapPlan.Find(line); m != nil {
			planned, _ = strconv.Atoi(m[1])
			plans++
			continue
		}
		m := tapTest.Find(line)
		if m == nil {
			continue
		}
		indent, ok := len(m[1]), m[2] == ""
		name := tapTime.Replace(strings.TrimPrefix(m[3], "- "), "")
		holds := before > indent
		before = indent
		if indent == 0 {
			top++
		}
		switch {
		case tapDirective.Match(name):
			if !holds {
				c.Skipped++
			}
		case !ok && (!holds || c.Failed == failed[indent]):
			c.fail(cmp.Or(name, "test "+strconv.Itoa(c.Total()+1)))
		case ok && !holds && !(indent == 0 && tapFile.Match(name)): // a file that has no tests is not a test
			c.pass(cmp.Or(name, "test "+strconv.Itoa(c.Total()+1)))
		}
		maps.DeleteFunc(failed, func(deep, _ int) bool { return deep > indent })
		failed[indent] = c.Failed
	}
	switch known = known || plans > 0; {
	case !known:
		return Counts{}, false
	case plans != 1:
		c.flaw(fmt.Sprintf("it has %d plans", plans))
	case top != planned:
		c.flaw(fmt.Sprintf("the plan is for %d tests, and there are %d", planned, top))
	}
	if m := tapPassed.FindAll(text); len(m) > 0 {
		said, _ := strconv.Atoi(m[len(m)-1][1])
		c.More = max(0, said-c.Passed)
	}
	return c, true
}
