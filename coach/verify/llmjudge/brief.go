package llmjudge

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// How many bytes the parts of the question have at most, and items of a list.
const (
	maxTask   = 4_000
	maxReport = 8_000
	maxFacts  = 30_000
	maxDiff   = 60_000
	maxOutput = 2_000 // of one run
	maxLine   = 400
	maxList   = 100
)

// brief words the question. Everything that varies stands between markers. The second result says whether the whole
// patch is in it.
func brief(r *verify.Review, w Work) (string, bool) {
	diff := plaintext.Clean(w.Diff)
	user := section("task", plaintext.Clean(w.Task), maxTask) +
		section("requirements", requirements(r.Requirements()), maxFacts) +
		section("facts", facts(r), maxFacts) +
		section("report", plaintext.Clean(w.Report), maxReport) +
		section("diff", diff, maxDiff)
	return user + "Decide, as one JSON object.\n", len(diff) <= maxDiff && w.Whole
}

// marker looks like the marker of a section.
var marker = lazy.New(`</?(?:task|requirements|facts|report|diff) +[0-9a-f]{16}>`)

// section encloses the first max bytes of a text in markers that carry its hash, which no text can contain. A player
// could make up another section together with its hash: markers in the text are taken out.
func section(name, text string, max int) string {
	if text = marker.Replace(text, "[marker]"); len(text) > max {
		text = strings.ToValidUTF8(text[:max], "") + "\n[… the rest is left out …]"
	}
	sum := sha256.Sum256([]byte(text))
	id := fmt.Sprintf("%s %x", name, sum[:8])
	return fmt.Sprintf("<%s>\n%s\n</%s>\n", id, strings.TrimRight(text, "\n"), id)
}

func requirements(list []verify.Requirement) string {
	var b strings.Builder
	for _, q := range list {
		fmt.Fprintf(&b, "%s: %s\n", q.ID, plaintext.Line(q.Text, maxLine))
	}
	return b.String()
}

// facts is what was observed, as JSON: first what contradicts the report.
func facts(r *verify.Review) string {
	f := r.Facts()
	f.Changes, f.Runs = f.Changes[:min(len(f.Changes), maxList)], slices.Clone(f.Runs)
	for i := range f.Runs {
		run := &f.Runs[i]
		run.Passes, run.Failures = nil, run.Failures[:min(len(run.Failures), maxList)]
		if run.Status == verify.Met {
			run.Output = ""
		}
		run.Output = strings.ToValidUTF8(run.Output[max(0, len(run.Output)-maxOutput):], "")
	}
	text, _ := json.MarshalIndent(struct { // texts and numbers: nothing can fail
		Comparison verify.Honesty `json:"report_compared_with_facts"`
		Concerns   []string       `json:"concerns_of_the_player,omitempty"`
		Facts      verify.Facts   `json:"facts"`
	}{r.Honesty(), r.Report().Concerns, f}, "", " ")
	return plaintext.Clean(string(text))
}
