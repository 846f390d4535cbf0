package verify

import (
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

const (
	maxWords = 300 // characters of one piece of data inside a line of ours
	maxShort = 80
)

// clean makes data fit for a line of ours.
func clean(s string) string { return plaintext.Disarm(plaintext.Line(s, maxWords)) }

func short(s string) string { return plaintext.Disarm(plaintext.Line(s, maxShort)) }

// code puts data in code quotes.
func code(s string) string { return "`" + strings.ReplaceAll(short(s), "`", "'") + "`" }

// words is the claim in words.
func (c TestClaim) words() string {
	var parts []string
	what := string(c.Kind)
	if c.Command != "" {
		what = code(c.Command)
	}
	switch c.Result {
	case Met:
		parts = append(parts, what+" passed")
	case NotMet:
		parts = append(parts, what+" failed")
	default:
		parts = append(parts, what+" ran")
	}
	for _, n := range []struct {
		count *int
		of    string
	}{{c.Total, "in all"}, {c.Passed, "passed"}, {c.Failed, "failed"}, {c.Skipped, "skipped"}} {
		if n.count != nil {
			parts = append(parts, fmt.Sprintf("%d %s", *n.count, n.of))
		}
	}
	return strings.Join(parts, ", ")
}

func (c FileClaim) words() string {
	switch c.Kind {
	case Added, Modified, Removed:
		return string(c.Kind) + " " + c.Path
	}
	return "changed " + c.Path
}
