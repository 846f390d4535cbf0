package testoutput

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tap reads a report in the Test Anything Protocol, versions 12 to 14. A test that holds subtests is not counted
// itself: its subtests are. A test with the directive TODO or SKIP counts as skipped. The second result says whether
// the text is such a report, which has a version or a plan.
func (r runner) tap(text string) (c Counts, known bool) {
	var open []string       // tests that are followed by their subtests in braces
	failed := map[int]int{} // how many tests had failed after the last test of an indentation
	before, top := 0, 0     // the indentation of the test before, and how many tests the top has
	planned, plans := 0, 0  // of the top
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimRight(line, " \t\r\n")
		if test, opens := strings.CutSuffix(line, " {"); opens && r["test"].Match(test) {
			open = append(open, test)
			continue
		}
		if n := len(open); n > 0 && strings.TrimSpace(line) == "}" {
			line, open = open[n-1], open[:n-1]
		}
		if r["bail"].Match(line) {
			c.flaw("it bailed out")
			known = true
			break
		}
		known = known || strings.HasPrefix(line, "TAP version 1")
		if m := r["plan"].Find(line); m != nil {
			planned, _ = strconv.Atoi(m[1])
			plans++
			continue
		}
		m := r["test"].Find(line)
		if m == nil {
			continue
		}
		indent, ok := len(m[1]), m[2] == ""
		name := r["time"].Replace(strings.TrimPrefix(m[3], "- "), "")
		holds := before > indent
		before = indent
		if indent == 0 {
			top++
		}
		switch {
		case r["directive"].Match(name):
			if !holds {
				c.Skipped++
			}
		case !ok && (!holds || c.Failed == failed[indent]):
			c.fail(cmp.Or(name, "test "+strconv.Itoa(c.Total()+1)))
		case ok && !holds && !(indent == 0 && r["file"].Match(name)): // a file that has no tests is not a test
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
	if m := r["passed"].FindAll(text); len(m) > 0 {
		said, _ := strconv.Atoi(m[len(m)-1][1])
		c.More = max(0, said-c.Passed)
	}
	return c, true
}

const maxReport = 16 << 20 // bytes of a JUnit report

// junitSuite is a testsuites or testsuite element; each may hold others.
type junitSuite struct {
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
	Cases    []junitCase  `xml:"testcase"`
	Failure  []struct{}   `xml:"failure"`
	Error    []struct{}   `xml:"error"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Status  string     `xml:"status,attr"`
	Failure []struct{} `xml:"failure"`
	Error   []struct{} `xml:"error"`
	Skipped []struct{} `xml:"skipped"`
}

var notRun = []string{"notrun", "disabled", "skipped"} // a status of a case

// ReadJUnit adds the counts of a report in the XML that JUnit's Ant task introduced: testsuites, testsuite, testcase.
// A case has failed if it holds a failure or an error. It is skipped if it holds skipped or its status says so. A
// report is broken if a case has no name, a suite promises more tests or failures than it holds, or a suite fails
// outside its cases.
//
// The error says that r is not such a report, not in UTF-8, or larger than 16 MiB.
func (c *Counts) ReadJUnit(r io.Reader) error {
	limited := &io.LimitedReader{R: r, N: maxReport + 1}
	var root struct {
		XMLName xml.Name
		junitSuite
	}
	err := xml.NewDecoder(limited).Decode(&root)
	switch {
	case limited.N <= 0:
		return fmt.Errorf("its JUnit report is larger than %d MiB", maxReport>>20)
	case err != nil:
		return errors.New("its JUnit report cannot be read")
	case root.XMLName.Local != "testsuites" && root.XMLName.Local != "testsuite":
		return errors.New("its report is not a JUnit report")
	}
	c.suite(root.junitSuite)
	return nil
}

// suite adds the cases of a suite and returns how many there are, and how many of them failed.
func (c *Counts) suite(s junitSuite) (all, failed int) {
	for _, inner := range s.Suites {
		a, f := c.suite(inner)
		all, failed = all+a, failed+f
	}
	for _, t := range s.Cases {
		all++
		name := t.Name
		if t.Class != "" {
			name = t.Class + "." + name
		}
		switch {
		case strings.TrimSpace(t.Name) == "":
			c.flaw("a test case has no name")
		case len(t.Failure)+len(t.Error) > 0:
			failed++
			c.fail(name)
		case len(t.Skipped) > 0 || slices.Contains(notRun, strings.ToLower(t.Status)):
			c.Skipped++
		default:
			c.pass(name)
		}
	}
	switch {
	case len(s.Failure)+len(s.Error) > 0:
		c.flaw("a suite has failed outside its test cases")
	case s.Tests > all:
		c.flaw(fmt.Sprintf("a suite says that it has %d tests, and holds %d", s.Tests, all))
	case s.Failures+s.Errors > 0 && failed == 0:
		c.flaw("a suite says that tests failed, and shows none")
	}
	return all, failed
}
