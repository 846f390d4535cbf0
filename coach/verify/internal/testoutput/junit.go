package testoutput

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

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

// ReadJUnit reads a report in the XML that JUnit's Ant task introduced: testsuites, testsuite and testcase. A case
// has failed if it holds a failure or an error. It is skipped if it holds skipped or its status says so. A report is
// broken if a case has no name, a suite promises more tests or failures than it holds, or a suite fails outside its
// cases.
//
// The error says that r is not such a report, not in UTF-8, or larger than 16 MiB.
func ReadJUnit(r io.Reader) (Counts, error) {
	limited := &io.LimitedReader{R: r, N: maxReport + 1}
	dec := xml.NewDecoder(limited)
	var root struct {
		XMLName xml.Name
		junitSuite
	}
	err := dec.Decode(&root)
	switch {
	case limited.N <= 0:
		return Counts{}, fmt.Errorf("its JUnit report is larger than %d MiB", maxReport>>20)
	case err != nil:
		return Counts{}, errors.New("its JUnit report cannot be read")
	case root.XMLName.Local != "testsuites" && root.XMLName.Local != "testsuite":
		return Counts{}, errors.New("its report is not a JUnit report")
	}
	for err == nil { // a second root would hide the first
		var t xml.Token
		if t, err = dec.Token(); err == nil {
			if _, start := t.(xml.StartElement); start {
				return Counts{}, errors.New("its JUnit report has two roots")
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return Counts{}, errors.New("its JUnit report cannot be read")
	}
	var c Counts
	c.suite(root.junitSuite)
	return c, nil
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
		status := strings.ToLower(t.Status)
		switch {
		case strings.TrimSpace(t.Name) == "":
			c.flaw("a test case has no name")
		case len(t.Failure)+len(t.Error) > 0:
			failed++
			c.fail(name)
		case len(t.Skipped) > 0 || status == "notrun" || status == "disabled" || status == "skipped":
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
