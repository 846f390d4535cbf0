// Package testoutput answers how many tests passed, failed and were skipped, by what a test runner printed or wrote.
//
// [Read] reads what a runner printed, also in the Test Anything Protocol, and [Counts.ReadJUnit] JUnit XML. What a
// program prints is believed. A runner whose summary is not in the table of this package has no counts.
package testoutput

import (
	"cmp"
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// Counts is what a runner said.
type Counts struct {
	Passed, Failed, Skipped int
	Failures                []string // names of tests that failed, the first 200
	Passes                  []string // names of tests that passed, where the runner names all of them; the first 20,000
	// More is how many tests more the runner counts itself, such as the tests that hold subtests.
	More int
	// Partial says that only failures are known: Passed and Skipped mean nothing.
	Partial bool
	// Broken says why the report cannot be believed, such as a plan that was not kept. Empty: it can.
	Broken string
}

// Total returns how many tests there are.
func (c Counts) Total() int { return c.Passed + c.Failed + c.Skipped }

const (
	maxFailures = 200
	maxPasses   = 20_000
	maxName     = 200 // characters
)

func (c *Counts) fail(name string) {
	c.Failed++
	c.failed(name)
}

func (c *Counts) failed(name string) {
	if len(c.Failures) < maxFailures {
		c.Failures = append(c.Failures, plaintext.MaskedLine(name, maxName))
	}
}

func (c *Counts) pass(name string) {
	c.Passed++
	if len(c.Passes) < maxPasses {
		c.Passes = append(c.Passes, plaintext.MaskedLine(name, maxName))
	}
}

// flaw notes the first reason not to believe the report.
func (c *Counts) flaw(why string) {
	if c.Broken == "" {
		c.Broken = why
	}
}

// Read returns the counts in the output of a test runner. The second result says whether there are any: it is true for
// a runner that says that it ran no test.
func Read(output string) (Counts, bool) {
	text := strings.ReplaceAll(plaintext.StripEscapes(output), "\r\n", "\n")
	for _, r := range runners() {
		read := r.summary
		if r["plan"] != nil {
			read = r.tap
		} else if r["result"] != nil {
			read = r.goTest
		}
		if c, ok := read(text); ok {
			return c, true
		}
	}
	return Counts{}, false
}

const maxLine = 4096 // bytes of a line that a runner prints of its own

// ShortLines returns text without its long lines, such as those of binary data: they take long to read.
func ShortLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if len(line) <= maxLine {
			b.WriteString(line)
		}
	}
	return b.String()
}

// LastName returns the name of a test without its package, class and file.
func LastName(name string) string {
	name, _, _ = strings.Cut(name, " (")
	return name[strings.LastIndexAny(name, ".:")+1:]
}

// What stands around a name: groups before it, subtests and parameters behind it.
var around = lazy.New(`^.* [>›] |[/\[].*$`)

// ShortName returns the name of a test without its package, class and file: a word to look for.
func ShortName(name string) string { return around.Replace(LastName(name), "") }

//go:embed runners.txt
var runnersText string

// runner has the patterns of a test runner, or of a format, by their names in runners.txt.
type runner map[string]*lazy.Entry

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

func (r runner) summary(text string) (c Counts, ok bool) {
	summary := cmp.Or(r["summaries"], r["summary"])
	found := summary.FindAll(text)
	if len(found) == 0 {
		return Counts{}, r["zero"] != nil && r["zero"].Match(text)
	}
	if r["summaries"] == nil {
		found = found[len(found)-1:]
	}
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

func matches(expr *lazy.Entry, text string) []string {
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

// goTest reads what go test prints without -json. Without -v only failures are named, so that nothing can be counted,
// unless there is nothing to count. Subtests are not counted beside their tests.
func (r runner) goTest(text string) (Counts, bool) {
	var c Counts
	for _, m := range r["result"].FindAll(text) {
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
	for _, line := range r["ran"].Regexp().FindAllString(text, -1) {
		ran = ran || !r["empty"].Match(line)
	}
	c.Partial = c.Failed > 0
	return c, c.Partial || !ran && r["empty"].Match(text)
}

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
