package cmdwitness

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The bounds of a JUnit report.
const (
	maxReport = 16 << 20 // bytes
	maxDepth  = 100      // elements inside one another
)

// junit is where a reader is in a JUnit report.
type junit struct {
	Counts
	open    []string // the elements that are open
	suites  []suite
	test    string // the name of the test that is open
	outcome string // failure, error, skipped: the worst so far
}

// suite is what a testsuites or testsuite element promises in its attributes, and what was found in it.
type suite struct {
	tests, failures    int // -1: not said
	foundAll, foundBad int
}

// ReadJUnit reads a report in the XML that JUnit's Ant task introduced and most test runners can write: testsuites and
// testsuite, nested as deep as you like, with testcase elements. A test case has failed if it holds a failure or an error, is
// skipped if it holds skipped or has status="notrun" or "disabled", and has passed otherwise; flakyFailure and rerunFailure
// alone change nothing. A test case without a name is not counted and makes the report a broken one, as do sums
// (tests, failures, errors) that promise more than the suite holds, and an error that stands in no test case.
//
// The error is a [FormatError] for what is no such report, breaks off, is not UTF-8, is larger than 16 MiB, nests deeper
// than 100, or has a document type: those are for entities, which no report needs. An error of r is wrapped.
func ReadJUnit(r io.Reader) (Counts, error) { return readJUnit(r, maxReport) }

// readJUnit is ReadJUnit for reports of at most max bytes.
func readJUnit(r io.Reader, max int64) (Counts, error) {
	limited := &io.LimitedReader{R: r, N: max + 1}
	dec := xml.NewDecoder(limited)
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // refused below
	var j junit
	fault := func(reason string) (Counts, error) {
		line, _ := dec.InputPos()
		return Counts{}, &FormatError{"JUnit", line, reason}
	}
	for roots := 0; ; {
		token, err := dec.RawToken()
		if limited.N <= 0 {
			return fault(fmt.Sprintf("it is larger than %d MiB", max>>20))
		}
		if errors.Is(err, io.EOF) {
			if len(j.open) > 0 {
				return fault("it breaks off")
			}
			if roots == 0 {
				return fault("it is empty")
			}
			return j.Counts, nil
		}
		if syntax := (*xml.SyntaxError)(nil); errors.As(err, &syntax) {
			return fault("it is not well-formed XML")
		} else if err != nil {
			return Counts{}, fmt.Errorf("cmdwitness: JUnit report: %w", err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return fault("it has a document type")
		case xml.ProcInst:
			if t.Target == "xml" && foreign(string(t.Inst)) {
				return fault("it is not in UTF-8")
			}
		case xml.StartElement:
			if len(j.open) == 0 {
				if roots++; roots > 1 {
					return fault("it has a second root element")
				}
				if n := t.Name.Local; n != "testsuites" && n != "testsuite" {
					return fault("its root is neither testsuites nor testsuite")
				}
			}
			if len(j.open) == maxDepth {
				return fault("its elements nest deeper than " + strconv.Itoa(maxDepth))
			}
			j.start(t)
		case xml.EndElement:
			if len(j.open) == 0 || j.open[len(j.open)-1] != full(t.Name) {
				return fault("it is not well-formed XML")
			}
			j.end()
		case xml.CharData:
			if len(j.open) == 0 && strings.TrimSpace(strings.TrimPrefix(string(t), "\ufeff")) != "" {
				return fault("there is text outside its root")
			}
		}
	}
}

// foreign reports whether an XML declaration names an encoding that is not UTF-8.
func foreign(declaration string) bool {
	_, rest, ok := strings.Cut(declaration, "encoding=")
	if !ok || len(rest) < 2 {
		return false
	}
	name, _, _ := strings.Cut(rest[1:], rest[:1])
	return !strings.EqualFold(name, "utf-8") && !strings.EqualFold(name, "us-ascii")
}

func full(n xml.Name) string { return n.Space + ":" + n.Local }

// parent returns the local name of the element that is open.
func (j *junit) parent() string {
	if len(j.open) == 0 {
		return ""
	}
	_, local, _ := strings.Cut(j.open[len(j.open)-1], ":")
	return local
}

func (j *junit) start(e xml.StartElement) {
	parent := j.parent()
	j.open = append(j.open, full(e.Name))
	suites := parent == "" || parent == "testsuites" || parent == "testsuite"
	switch e.Name.Local {
	case "testsuites", "testsuite":
		if !suites {
			j.flaw("a suite stands inside a %s", cut(parent, 40))
		}
		s := suite{tests: number(e, "tests"), failures: number(e, "failures")}
		if n := number(e, "errors"); n > 0 {
			s.failures = max(0, s.failures) + n
		}
		j.suites = append(j.suites, s)
	case "testcase":
		if !suites {
			j.flaw("a test case stands inside a %s", cut(parent, 40))
		}
		j.test, j.outcome = value(e, "name"), ""
		if c := value(e, "classname"); c != "" && strings.TrimSpace(j.test) != "" {
			j.test = c + "." + j.test
		}
		if s := value(e, "status"); s == "notrun" || s == "disabled" || s == "skipped" {
			j.outcome = "skipped"
		}
	case "failure", "error":
		if parent == "testcase" {
			j.outcome = "failed"
		} else if suites {
			j.flaw("a suite has failed outside its test cases")
		}
	case "skipped":
		if parent == "testcase" && j.outcome == "" {
			j.outcome = "skipped"
		}
	}
}

func (j *junit) end() {
	local := j.parent()
	j.open = j.open[:len(j.open)-1]
	switch local {
	case "testcase":
		if strings.TrimSpace(j.test) == "" {
			j.flaw("a test case has no name")
			return
		}
		bad := 0
		switch j.outcome {
		case "failed":
			j.fail(j.test)
			bad = 1
		case "skipped":
			j.Skipped++
		default:
			j.Passed++
		}
		for i := range j.suites {
			j.suites[i].foundAll++
			j.suites[i].foundBad += bad
		}
		j.test = ""
	case "testsuites", "testsuite":
		s := j.suites[len(j.suites)-1]
		j.suites = j.suites[:len(j.suites)-1]
		if s.tests > s.foundAll {
			j.flaw("a suite says that it has %d tests, and holds %d", s.tests, s.foundAll)
		}
		if s.failures > 0 && s.foundBad == 0 {
			j.flaw("a suite says that %d tests failed, and shows none", s.failures)
		}
	}
}

func value(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// number returns an attribute that is a count, or -1.
func number(e xml.StartElement, name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(value(e, name)))
	if err != nil || n < 0 {
		return -1
	}
	return n
}
