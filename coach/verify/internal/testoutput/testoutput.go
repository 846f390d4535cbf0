// Package testoutput answers how many tests passed, failed and were skipped, by what a test runner printed or wrote.
//
// [Read] reads what a runner printed, also in the Test Anything Protocol, and [Counts.ReadJUnit] JUnit XML. What a
// program prints is believed. A runner whose summary is not in the table of this package has no counts.
package testoutput

import (
	"strings"

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
	output = strings.ReplaceAll(plaintext.StripEscapes(output), "\r\n", "\n")
	if c, ok := readTAP(output); ok {
		return c, true
	}
	return readSummary(output)
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
