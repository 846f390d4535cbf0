package cmdwitness

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The bounds of a TAP report.
const (
	maxLine  = 64 << 10 // bytes of a line that are read
	maxTests = 200_000  // numbers of tests
)

// TAP reads a report in the Test Anything Protocol, versions 12 to 14 (testanything.org), as it is written to it: it is an
// [io.Writer] for [Command].Stdout, and never fails. Lines that are no part of the protocol are passed over, and so are subtests,
// which are indented: the test that they belong to counts for them. A test with the directive TODO or SKIP counts as skipped,
// whether it is ok or not.
//
// A report is broken when it has no plan, two, or one that it does not keep, when a number comes twice or lies outside the
// plan, when it bails out, or when a line of it is longer than 64 KiB.
type TAP struct {
	lines  *Lines
	counts Counts
	line   int

	planned int  // -1: no plan yet
	ended   bool // the plan stood behind tests: no more may follow
	last    int  // the number of the last test
	tests   int
	highest int
	seen    map[int]bool
	version bool // it says that it is TAP
	bailed  bool
}

// NewTAP returns a reader of one report.
func NewTAP() *TAP {
	t := &TAP{planned: -1, seen: make(map[int]bool)}
	t.lines = NewLines(maxLine, t.read)
	return t
}

// ReadTAP reads a report from r. An error is one of r.
func ReadTAP(r io.Reader) (Counts, error) {
	t := NewTAP()
	if _, err := io.Copy(t.lines, r); err != nil {
		return Counts{}, fmt.Errorf("cmdwitness: TAP report: %w", err)
	}
	return t.Counts(), nil
}

// Write takes a part of the report.
func (t *TAP) Write(p []byte) (int, error) { return t.lines.Write(p) }

var (
	tapPlan = compiled(`^1\.\.([0-9]+)[ \t]*(?:#.*)?$`)
	tapTest = compiled(`^(not )?ok(?:[ \t]+([0-9]+))?(?:[ \t]+(.*))?$`)
	tapBail = compiled(`^(?i:bail out!)`)
	// A "#" before which an odd number of backslashes stands is none; the word may go on, as in "# TODO: later" and "#skip".
	tapDirective = compiled(`(?i)(?:^|[^\\])(?:\\\\)*#[ \t]*(?:todo|skip\S*)(?:[ \t:]|$)`)
)

func (t *TAP) read(line []byte, long bool) {
	t.line++
	if long {
		t.counts.flaw("line %d is longer than 64 KiB", t.line)
		return
	}
	if t.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	text := strings.TrimRight(string(line), " \t\r")
	if t.bailed {
		return
	}
	if tapBail().MatchString(text) {
		t.bailed = true
		t.counts.flaw("it bailed out")
		return
	}
	if strings.HasPrefix(text, "TAP version 1") {
		t.version = true
	} else if m := tapPlan().FindStringSubmatch(text); m != nil {
		t.plan(m[1])
	} else if m := tapTest().FindStringSubmatch(text); m != nil {
		t.test(m[1] == "", m[2], m[3])
	}
}

func (t *TAP) plan(count string) {
	n, err := strconv.Atoi(count)
	switch {
	case t.planned >= 0:
		t.counts.flaw("line %d is a second plan", t.line)
	case err != nil || n > maxTests:
		t.planned = 0
		t.counts.flaw("the plan in line %d is for more than %d tests", t.line, maxTests)
	default:
		t.planned, t.ended = n, t.tests > 0
	}
}

func (t *TAP) test(ok bool, number, description string) {
	if t.ended {
		t.counts.flaw("line %d is a test after the plan that ends the report", t.line)
	}
	n := t.last + 1
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 1 || n > maxTests {
			t.counts.flaw("the test in line %d has an impossible number", t.line)
			n = t.last + 1
		}
	}
	if t.tests++; t.tests > maxTests {
		t.counts.flaw("there are more than %d tests", maxTests)
		return
	}
	if t.seen[n] {
		t.counts.flaw("line %d is test %d once more", t.line, n)
	}
	t.seen[n], t.last, t.highest = true, n, max(t.highest, n)
	name := strings.TrimSpace(strings.TrimPrefix(description, "- "))
	switch {
	case tapDirective().MatchString(description):
		t.counts.Skipped++
	case ok:
		t.counts.Passed++
	case name == "":
		t.counts.fail("test " + strconv.Itoa(n))
	default:
		t.counts.fail(name)
	}
}

// Counts ends the report and returns what it says.
func (t *TAP) Counts() Counts {
	_ = t.lines.Close()
	c := t.counts
	switch {
	case c.Broken != "":
	case t.planned < 0:
		c.flaw("it has no plan")
	case t.tests != t.planned:
		c.flaw("the plan is for %d tests, and there are %d", t.planned, t.tests)
	case t.highest > t.planned:
		c.flaw("test %d is not in the plan", t.highest)
	}
	return c
}
