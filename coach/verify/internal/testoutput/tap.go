package testoutput

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

var (
	tapPlan = lazy.New(`^( *)1\.\.([0-9]+)(?:[ \t]*#.*)?$`)
	tapTest = lazy.New(`^( *)(not )?ok\b(?:[ \t]+[0-9]+)?(?:[ \t]+(.*))?$`)
	tapBail = lazy.New(`^(?i:bail out!)`)
	// A "#" behind a backslash is part of the name.
	tapDirective = lazy.New(`(?i)(?:^|[^\\])#[ \t]*(?:todo|skip\S*)(?:[ \t:]|$)`)
	tapTime      = lazy.New(`(?i)[ \t]*# time=.*$|[ \t]*\([0-9.]+ ?m?s\)$`)
	tapPassed    = lazy.New(`(?m)^# pass(?:ed)? +([0-9]+)$`)
	tapFile      = lazy.New(`^(?:\S*[/\\])?[\w.-]+\.[cm]?[jt]sx?$`)
)

// ReadTAP reads a report in the Test Anything Protocol, versions 12 to 14. A test that holds subtests is not counted
// itself: its subtests are. A test with the directive TODO or SKIP counts as skipped. The second result says whether
// the text is such a report, which has a version or a plan.
func ReadTAP(text string) (Counts, bool) {
	var c Counts
	type group struct {
		indent, failed int
		name           string
	}
	var open []group            // tests that are followed by their subtests in braces
	failed := map[int]int{}     // how many tests had failed after the last test of an indentation
	known, planned := false, -1 // of the top
	before, top := 0, 0         // the indentation of the test before, and how many tests the top has
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimRight(line, " \t\r\n")
		if tapBail.Match(line) {
			c.flaw("it bailed out")
			known = true
			break
		}
		if strings.HasPrefix(line, "TAP version 1") {
			known = true
			continue
		}
		if m := tapPlan.Find(line); m != nil {
			if m[1] == "" {
				if planned >= 0 {
					c.flaw("it has two plans")
				}
				known = true
				planned, _ = strconv.Atoi(m[2])
			}
			continue
		}
		if strings.TrimSpace(line) == "}" && len(open) > 0 {
			g := open[len(open)-1]
			open = open[:len(open)-1]
			if g.name != "" && c.Failed == g.failed {
				c.fail(g.name)
			}
			before = g.indent
			continue
		}
		m := tapTest.Find(line)
		if m == nil {
			continue
		}
		indent, ok, rest := len(m[1]), m[2] == "", strings.TrimPrefix(strings.TrimSpace(m[3]), "- ")
		rest, opens := strings.CutSuffix(rest, "{")
		rest = tapTime.Replace(strings.TrimSpace(rest), "")
		holds := opens || before > indent
		before = indent
		if indent == 0 {
			top++
		}
		name := rest
		if name == "" {
			name = "test " + strconv.Itoa(c.Total()+1)
		}
		switch {
		case opens && ok:
			open = append(open, group{indent: indent})
		case opens:
			open = append(open, group{indent, c.Failed, name})
		case tapDirective.Match(rest):
			if !holds {
				c.Skipped++
			}
		case !ok && (!holds || c.Failed == failed[indent]):
			c.fail(name)
		case ok && !holds && !(indent == 0 && tapFile.Match(name)): // a file that has no tests is not a test
			c.pass(name)
		}
		for deep := range failed {
			if deep > indent {
				delete(failed, deep)
			}
		}
		failed[indent] = c.Failed
	}
	switch {
	case !known:
		return Counts{}, false
	case planned < 0:
		c.flaw("it has no plan")
	case top != planned:
		c.flaw(fmt.Sprintf("the plan is for %d tests, and there are %d", planned, top))
	}
	if m := tapPassed.FindAll(text); len(m) > 0 {
		said, _ := strconv.Atoi(m[len(m)-1][1])
		c.More = max(0, said-c.Passed)
	}
	return c, true
}
