package llmjudge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// How many bytes the parts beside the patch have at most, and lines of lists.
const (
	maxTask   = 4_000
	maxReport = 8_000
	maxOutput = 2_000 // of one run
	maxLine   = 400
	maxList   = 100
)

// brief words the question. All that varies stands between markers. The second result says whether the whole patch is in it.
func (j *Judge) brief(r *verify.Review, w Work) (string, bool) {
	diff, whole := window(clean(w.Diff), j.cfg.MaxDiff)
	user := section("task", short(clean(w.Task), maxTask)) +
		section("requirements", requirements(r.Requirements())) +
		section("facts", facts(r)) +
		section("report", short(clean(w.Report), maxReport)) +
		section("diff", diff)
	return user + "Decide, as one JSON object.\n", whole && w.Whole
}

// marker is what looks like the marker of a section.
var marker = regexp.MustCompile(`</?(?:task|requirements|facts|report|diff) +[0-9a-f]{16}>`)

// section encloses text in markers that carry its hash, which no text can contain. Those of other sections, whose text a player
// could make up together with its hash, are taken out.
func section(name, text string) string {
	text = marker.ReplaceAllString(text, "[marker]")
	sum := sha256.Sum256([]byte(text))
	id := hex.EncodeToString(sum[:8])
	return fmt.Sprintf("<%s %s>\n%s\n</%s %s>\n", name, id, strings.TrimRight(text, "\n"), name, id)
}

func requirements(list []verify.Requirement) string {
	var b strings.Builder
	for i, q := range list {
		if i == maxList {
			fmt.Fprintf(&b, "[%d more]\n", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", q.ID, line(q.Text))
	}
	return b.String()
}

// facts words what was observed: first what contradicts the report.
func facts(r *verify.Review) string {
	var b strings.Builder
	f := r.Facts()
	add := func(n int, format string, args ...any) {
		if n < maxList {
			fmt.Fprintf(&b, format+"\n", args...)
		} else if n == maxList {
			b.WriteString("[more left out]\n")
		}
	}
	for i, d := range r.Honesty().Discrepancies {
		add(i, "contradicted (%s, %s): the report says %s; seen: %s", d.Kind, d.Severity, line(d.Claimed), line(d.Found))
	}
	for i, t := range f.Tests {
		add(i, "run of %s: %s", line(strings.Join(t.Command, " ")), t.Status)
		if t.Counted {
			add(i, "  %d passed, %d failed, %d skipped", t.Passed, t.Failed, t.Skipped)
		}
		if t.Why != "" {
			add(i, "  %s", line(t.Why))
		}
		if t.Status != verify.Met && t.Output != "" {
			add(i, "  its output ends with:\n%s", indent(tail(clean(t.Output), maxOutput)))
		}
	}
	for i, t := range f.TestFiles {
		add(i, "test file %s: %s", line(t.Path), t.Kind)
	}
	for i, c := range f.Changes {
		add(i, "changed file %s: %s", line(c.Path), c.Kind)
	}
	for i, c := range f.Commits {
		add(i, "commit %s: exists: %s, reachable: %s", line(c.Rev), c.Exists, c.Reachable)
	}
	for i, u := range f.Unseen {
		add(i, "not seen: %s", line(u))
	}
	if b.Len() == 0 {
		return "nothing was observed"
	}
	return b.String()
}

// clean makes text fit to be shown: valid UTF-8, line ends as \n, no control characters but \n and \t, nothing that is
// invisible or changes the direction.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector):
			return -1
		}
		return r
	}, s)
}

// line is clean text on one line.
func line(s string) string {
	if len(s) > 8*maxLine {
		s = s[:8*maxLine]
	}
	return short(strings.Join(strings.Fields(clean(s)), " "), maxLine)
}

// short cuts text to at most max bytes.
func short(s string, max int) string {
	if len(s) <= max {
		return s
	}
	if max < len("…") {
		return ""
	}
	return strings.ToValidUTF8(s[:max-len("…")], "") + "…"
}

// tail is the end of text, of at most max bytes.
func tail(s string, max int) string {
	if len(s) <= max {
		return s
	}
	if max < len("…") {
		return ""
	}
	return "…" + strings.ToValidUTF8(s[len(s)-max+len("…"):], "")
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
