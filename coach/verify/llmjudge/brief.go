package llmjudge

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// How many bytes the parts beside the patch have at most, and lines of lists.
const (
	maxTask   = 4_000
	maxReport = 8_000
	maxOutput = 2_000 // of one run
	maxLine   = 400
	maxList   = 100
)

// brief words the question. Everything that varies stands between markers. The second result says whether the whole
// patch is in it.
func brief(r *verify.Review, w Work) (string, bool) {
	diff, whole := window(plaintext.Clean(w.Diff), maxDiff)
	user := section("task", cut(plaintext.Clean(w.Task), maxTask)) +
		section("requirements", requirements(r.Requirements())) +
		section("facts", facts(r)) +
		section("report", cut(plaintext.Clean(w.Report), maxReport)) +
		section("diff", diff)
	return user + "Decide, as one JSON object.\n", whole && w.Whole
}

// marker looks like the marker of a section.
var marker = lazy.New(`</?(?:task|requirements|facts|report|diff) +[0-9a-f]{16}>`)

// section encloses text in markers that carry its hash, which no text can contain. A player could make up another
// section together with its hash: markers in the text are taken out.
func section(name, text string) string {
	text = marker.Replace(text, "[marker]")
	sum := sha256.Sum256([]byte(text))
	id := fmt.Sprintf("%s %x", name, sum[:8])
	return fmt.Sprintf("<%s>\n%s\n</%s>\n", id, strings.TrimRight(text, "\n"), id)
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
	for i, u := range r.Honesty().Unchecked {
		add(i, "unchecked: %s", line(u))
	}
	for i, c := range r.Report().Concerns {
		add(i, "a concern of the player: %s", line(c))
	}
	for i, t := range f.Runs {
		add(i, "run of %s: %s", line(strings.Join(t.Command, " ")), t.Status)
		if t.Counted {
			add(i, "  %d passed, %d failed, %d skipped", t.Passed, t.Failed, t.Skipped)
		}
		if t.Why != "" {
			add(i, "  %s", line(t.Why))
		}
		if t.Status != verify.Met && t.Output != "" {
			add(i, "  its output ends with:\n%s", indent(tail(plaintext.Clean(t.Output), maxOutput)))
		}
	}
	for i, t := range f.Tests {
		add(i, "test %s of %s: %s %s", line(t.Name), line(t.File), t.Change, line(t.Why))
	}
	for i, s := range f.Suspects {
		add(i, "%s %s", line(s.Path), line(s.Why))
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

// line is clean text on one line.
func line(s string) string { return plaintext.Line(s, maxLine) }

// cut shortens text to at most max bytes.
func cut(s string, max int) string {
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
	return "…" + strings.ToValidUTF8(s[len(s)-max+len("…"):], "")
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
