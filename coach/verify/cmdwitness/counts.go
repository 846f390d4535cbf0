package cmdwitness

import "fmt"

// Counts is what a report of tests says, test by test; what it says of itself in sums is not counted.
type Counts struct {
	Passed  int
	Failed  int // tests that failed, and those that broke
	Skipped int // tests that did not run, or whose result does not count (TAP: todo)

	// Failures are the names of the first [MaxFailures] tests that failed, cut to 200 bytes each.
	Failures []string

	// Broken says why the report cannot be taken at its word, and is empty if it can: a plan that was not kept, sums
	// that promise more than there is.
	Broken string
}

// MaxFailures is how many failing tests are named.
const MaxFailures = 50

// Total returns how many tests there are.
func (c Counts) Total() int { return c.Passed + c.Failed + c.Skipped }

const maxName = 200

func (c *Counts) fail(name string) {
	c.Failed++
	if len(c.Failures) < MaxFailures {
		c.Failures = append(c.Failures, cut(name, maxName))
	}
}

// flaw notes the first reason not to believe the report.
func (c *Counts) flaw(format string, args ...any) {
	if c.Broken == "" {
		c.Broken = fmt.Sprintf(format, args...)
	}
}

// FormatError says that a report could not be read.
type FormatError struct {
	Format string // "JUnit" or "TAP"
	Line   int    // where, from 1; 0 is the whole
	Reason string // never with text of the report
}

func (e *FormatError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("cmdwitness: %s report: %s", e.Format, e.Reason)
	}
	return fmt.Sprintf("cmdwitness: %s report, line %d: %s", e.Format, e.Line, e.Reason)
}
