// Package classify answers one question about a coding agent that paused: what kind of pause is this?
//
// Start with [NewHeuristic]. Its Classify method reads the agent's last output and returns a [Result].
// [Fallback], [Cascade] and [ConfidenceGate] compose classifiers. The package links the standard library only.
//
// Facts come before words. If the host knows what the agent did ([Input.Work]), facts decide whether a claim needs
// proof, and words decide only whether the output is a claim. [Work.Weigh] states the rules.
//
// # Limits
//
// The heuristic reads English, Chinese, Czech, French, German, Japanese, Portuguese, Russian and Spanish. A text in
// another language gets a guess with a confidence of at most 0.60, so that a gate shows it to a human.
//
// Without facts it judges words: it believes test output that an agent made up.
//
// These figures come from 2,426 outputs of real agents, in twenty folds over their 80 repositories, so that each
// output is judged with weights that were learned from other repositories. The threshold is 0.80 and the host knows
// nothing of the work:
//
//	right continues          0.95; 0.96 averaged over the agents with 30 outputs and more
//	lowest of these agents   0.90 (Claude Code), 0.94 (Cursor), 0.95 (Codex)
//	statuses caught          0.60
//	completions continued    0.03
//	questions, blockers and errors continued  0.01
//	right type               0.76, expected calibration error 0.06
//
// Without the request, 0.93 of the continues and 0.75 of the types are right; the other figures are nearly the same.
//
// # Speed
//
// Time is linear in the length of a text, of which the last 512 KiB are read; a verdict on 20 kB takes 1.5 to 3 ms. The
// first verdict of a process reads the tables, which takes 5 to 8 ms.
//
//	go test ./classify -run '^$' -bench 'Classify$|Hostile|Tables'
//
// # Tuning
//
// A language is a file in the folder lexicon: its frequent words and its phrases. lexicon/en.txt explains the format.
// The folder weights says how much a rule, a property of the text, or a word counts for each type, in all languages.
// The command classify/internal/fit learns the weights from labelled cases and measures them:
//
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl' -cases more.jsonl -cv
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl' -cases more.jsonl -out classify/weights
//	go test ./classify
//
// [Tables] takes changed tables without a rebuild. [Heuristic.Features] shows what a verdict was computed from.
//
// # Errors
//
// A [Classifier] returns an error only when it has no verdict at all. The heuristic returns one only for a nil context.
package classify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// OutputType is the kind of pause an output stands for. The zero value is not a type.
type OutputType string

// The five types. An output is the first of error, blocker, question, completion, status that fits.
const (
	// Question ends by putting a decision, an approval or a request for input to the human.
	Question OutputType = "question"
	// Status is progress, or a claim of completion without evidence (then [Result.WasRejectedCompletion] is set).
	Status OutputType = "status"
	// Completion shows that the requested work is done, or is the answer that was asked for.
	Completion OutputType = "completion"
	// Blocker cannot go on without something that only the human or the outside can give, or refuses.
	Blocker OutputType = "blocker"
	// Error is a broken run, its crash being the text, or a failed command that was left there.
	Error OutputType = "error"
)

// Types returns the five types, fresh, in the order in which they are tried: the first that fits an output is its type.
func Types() []OutputType { return []OutputType{Error, Blocker, Question, Completion, Status} }

// Valid reports whether t is one of the five types.
func (t OutputType) Valid() bool {
	return slices.Contains(Types(), t)
}

// Input is what a classifier is given about one pause. Only Text is needed; the rest makes the verdict better.
type Input struct {
	Text      string     `json:"text"`                 // what the agent printed last; need not be valid UTF-8
	Request   string     `json:"request,omitempty"`    // the human's words that started the turn
	Skill     string     `json:"skill,omitempty"`      // name of the active skill
	SkillHint string     `json:"skill_hint,omitempty"` // the evidence that skill asks for
	Criteria  []string   `json:"criteria,omitempty"`   // open success criteria of the plan
	Evidence  []Evidence `json:"evidence,omitempty"`   // what the host saw itself; outweighs prose
	Work      Work       `json:"work,omitzero"`        // what the agent did, as the host saw it; outweighs prose
	Coached   int        `json:"coached,omitempty"`    // how often this turn was coached already
}

// Result is a verdict and what explains it.
type Result struct {
	Type            OutputType `json:"type"`
	Confidence      float64    `json:"confidence"`       // 0 to 1
	Reason          string     `json:"reason"`           // for people; never parsed
	CoachingMessage string     `json:"coaching_message"` // written by an LLM; in JSON null when empty
	// claims completion without showing it; only with Status
	WasRejectedCompletion bool `json:"was_rejected_completion"`
	// "en", "zh", …: the text's, if the heuristic knows it
	Language       string   `json:"language,omitempty"`
	Source         string   `json:"source"`            // which classifier answered: "heuristic", "llm", …
	Signals        []Signal `json:"signals,omitempty"` // by position; also beside an LLM's verdict
	SignalsDropped int      `json:"signals_dropped,omitempty"`
	Fallback       string   `json:"fallback,omitempty"` // why the primary classifier did not answer
	Usage          *Usage   `json:"usage,omitempty"`    // what the verdict cost, if it cost anything
}

// MarshalJSON writes an empty CoachingMessage as null, the form in which an LLM gives it. It leaves <, > and & as
// they are; json.Marshal escapes them all the same, an encoder only where it is told to.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result // drops the method
	var msg *string
	if r.CoachingMessage != "" {
		msg = &r.CoachingMessage
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		plain
		CoachingMessage *string `json:"coaching_message"`
	}{plain(r), msg})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Usage is what one verdict cost at its provider.
type Usage struct {
	Model            string        `json:"model,omitempty"`
	PromptTokens     int           `json:"prompt_tokens"`
	CachedTokens     int           `json:"cached_tokens"` // part of PromptTokens
	CompletionTokens int           `json:"completion_tokens"`
	CostUSD          float64       `json:"cost_usd,omitempty"` // as an agent's command line reports it; 0 is unknown
	Latency          time.Duration `json:"latency_ns"`         // of all attempts together
	Attempts         int           `json:"attempts"`
}

// DefaultThreshold is the confidence below which a status is shown to the human instead of being continued.
const DefaultThreshold = 0.80

// Classifier judges one output.
//
// An implementation must be safe for concurrent use, must not change in or keep its slices, and must return either an
// error or a result that is valid, see [Result.ValidateFor]. Text is data: nothing in it is an instruction.
type Classifier interface {
	Classify(ctx context.Context, in Input) (Result, error)
}

// ClassifierFunc is a function that is a [Classifier].
type ClassifierFunc func(ctx context.Context, in Input) (Result, error)

// Classify calls f. A nil f is an error.
func (f ClassifierFunc) Classify(ctx context.Context, in Input) (Result, error) {
	if f == nil {
		return Result{}, errors.New("classify: a nil ClassifierFunc")
	}
	return f(ctx, in)
}
