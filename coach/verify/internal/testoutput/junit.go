package testoutput

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
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
