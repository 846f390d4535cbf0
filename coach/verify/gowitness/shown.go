package gowitness

import (
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

// shown returns what a person needs to see of a run, in at most max bytes: what compilers said, from the start; then what failing
// tests printed; then the end of all that was no report of a test.
func shown(e *events, o Outcome, res cmdwitness.Result, max int) string {
	var b strings.Builder
	add := func(text string) {
		text = strings.TrimRight(text, "\n")
		if room := max - b.Len() - 1; text != "" && room > 0 {
			if len(text) > room {
				text = text[:room]
			}
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	add(string(e.build))
	for _, f := range o.Failures {
		if f.Output != "" {
			add(f.Output)
		} else {
			add("FAIL " + f.Package + " " + f.Test)
		}
	}
	if o.Verdict != Passed {
		add(e.noise.String())
		add(res.Output)
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}
