// Package llmjudge lets a model be the coach: it reads what was changed, in one call, and its decision goes through
// [verify.Review.Record], which code may only lower.
//
// [New] takes the client of classify/llm, and [Judge.Decide] a review in which witnesses were observed, with the
// patch of the work, such as gitwitness makes.
//
// # Limits
//
// A model can be wrong, and can be talked into something by what it reads. All that it reads of the player stands
// between markers that the player cannot write, and is cleaned of hidden characters; still its approval shows no more
// than that it found nothing. What programs saw outweighs it: nothing that was not observed is approved. An approval
// of a change that it did not see whole becomes feedback.
//
// # Errors
//
// Those of [llm.Client.JSON], wrapped. With an error there is no decision: [verify.Review.Judge] is the one that
// facts alone support.
package llmjudge

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

var (
	//go:embed system.md
	system string
	//go:embed schema.json
	schema []byte
)

const maxTokens = 4_000 // of the model's answer

// Judge decides about reviews. It is safe for concurrent use.
type Judge struct{ client *llm.Client }

// New returns a judge that asks through client. The client's timeout should leave a model time to read a patch: a
// minute or more.
func New(client *llm.Client) (*Judge, error) {
	if client == nil {
		return nil, errors.New("llmjudge: no client")
	}
	return &Judge{client}, nil
}

// Work is what is decided about.
type Work struct {
	Task   string // what was asked, in the host's words; may be empty
	Report string // what the player says, in its words
	Diff   string // the patch of what was changed
	Whole  bool   // Diff is all of it
}

// Ruling is a decision and how it came about.
type Ruling struct {
	Decision  verify.Decision // as it is allowed to be
	Overrides []string        // why an approval of the model did not stand, a line each
	Said      verify.Decision // what the model decided
	Whole     bool            // it saw the whole change
	Answer    llm.Answer      // its answer, and what it cost; also beside an error
}

// Decide asks the model, once, and returns its decision as [verify.Review.Record] lets it be. Observe the facts in r
// before. Nothing of r changes.
func (j *Judge) Decide(ctx context.Context, r *verify.Review, w Work) (Ruling, error) {
	if r == nil {
		return Ruling{}, errors.New("llmjudge: no review")
	}
	user, whole := brief(r, w)
	var said verify.Decision
	answer, err := j.client.JSON(ctx, llm.Call{
		System: system, User: user, Schema: schema, MaxTokens: maxTokens,
		Check: func(object json.RawMessage) (err error) {
			said, err = verify.ParseDecision(object)
			return err
		},
	})
	if err != nil {
		return Ruling{Answer: answer}, fmt.Errorf("llmjudge: %w", err)
	}
	decision, unread := said, said.Verdict == verify.Approve && !whole
	if unread {
		decision.Items = append(slices.Clip(said.Items), verify.Item{
			Severity: "medium", Issue: "The change is larger than what was read of it.",
			Suggestion: "Let a person look at all of it, or split it.",
		})
	}
	recorded, overrides := r.Record(decision)
	if unread {
		recorded.Verdict = verify.Feedback
		overrides = append(overrides, "the change was not read as a whole")
	}
	return Ruling{Decision: recorded, Overrides: overrides, Said: said, Whole: whole, Answer: answer}, nil
}

// Criteria asks the model, once, which criteria the work meets, and returns what it says about each, in order. It takes
// no criterion for met in a change that it did not see whole.
func (j *Judge) Criteria(ctx context.Context, criteria []string, w Work) ([]verify.RequirementCheck, error) {
	var list []verify.Requirement
	for i, text := range criteria {
		list = append(list, verify.Requirement{ID: fmt.Sprintf("C%d", i+1), Text: text})
	}
	review := verify.Begin(verify.Task{ID: "goal", Text: w.Task}, list, verify.Report{Text: w.Report})
	ruling, err := j.Decide(ctx, review, w)
	if err != nil {
		return nil, err
	}
	checks := make([]verify.RequirementCheck, len(criteria))
	for _, c := range ruling.Said.Requirements {
		i := slices.IndexFunc(list, func(r verify.Requirement) bool { return r.ID == c.ID })
		if i >= 0 && (c.Status != verify.Met || ruling.Whole) {
			checks[i] = c
		}
	}
	return checks, nil
}

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
	var requirements strings.Builder
	for _, q := range r.Requirements() {
		fmt.Fprintf(&requirements, "%s: %s\n", q.ID, plaintext.Line(q.Text, maxLine))
	}
	user := section("task", plaintext.Clean(w.Task), maxTask) +
		section("requirements", requirements.String(), maxFacts) +
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
