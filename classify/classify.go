// Package classify answers one question about a coding agent that paused: what kind of pause is this?
//
// Start with [NewHeuristic]; its Classify method reads the agent's last output and returns a [Result]: one of five
// types, a confidence, the reason in words and the signals (with byte spans) that led to it. [Fallback] and
// [ConfidenceGate] compose classifiers. The package links the standard library only.
//
// # Limits
//
// The heuristic reads English and, with tables of their own, Chinese, Czech, French, German, Japanese, Portuguese, Russian and
// Spanish. A text in another language gets the best guess that language-free signals allow (a stack trace, pasted test
// output, a question mark, code), with a confidence of at most 0.60, so that a gate shows it to a human.
//
// It judges words, not facts: test output that an agent made up is believed. What the host saw itself outweighs prose
// ([Input.Evidence]).
//
// # Speed
//
// What a verdict on the shipped cases costs, its request included, as a multiple of lower-casing its text once, each by its
// fastest pass over them:
//
//	below 200 bytes      26
//	200 bytes to 1 kB    15
//	1 kB to 20 kB        13
//	200 bytes to 20 kB   14
//
// About half of these texts hold something beyond ASCII and so are dear to lower-case; on ASCII texts alone the multiple is
// about twice as high. Time is linear in the length: texts built to be slow are read at 14 MB/s (very long hard-wrapped
// sentences) to several hundred.
//
// The tables of a script are read when the first text in it is judged, from the form they are compiled to: 0.3 ms for English,
// 1.1 ms for the six languages in Latin script together, 0.7 to 1 ms for the others, in a process that is warm; the first time
// the memory costs as much again. Tables of a host are texts, which takes about ten times as long. All figures are of two
// cores that had other work too; on yours:
//
//	go test ./classify -run '^$' -bench 'Classify$|Hostile|Tables' -benchmem -count 5
//
// # Tuning
//
// lexicon/en.txt holds the phrases, one a line under the rule they belong to, and explains its format at its head; there is
// a file for each other language. The files in weights, one for each script, hold how much each rule counts by where it
// was found, in hundredths of log-odds; their heads name the cases they were fitted on and how often each counted. A
// result's reason sums up what spoke for the verdict against the next likely one, in the same log-odds. After a change to the
// lexicon, fit again on labelled cases, the shipped ones and more of your own, and see what it did:
//
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl' -cases more.jsonl -cv more.jsonl
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl' -cases more.jsonl -out classify/weights
//	go test ./classify -v -run Cases
//
// go generate ./classify compiles the lexicons and fits on the shipped cases alone: a lexicon that was changed is read as
// text, and so slowly, until then, and a test says so. [Tables] takes changed tables without a rebuild;
// [Heuristic.Features] shows what a verdict was computed from.
//
// # Errors
//
// A [Classifier] returns an error only when it has no verdict at all. The heuristic never does.
package classify

//go:generate go test -run ^TestCompiledTables$ . -update
//go:generate go run ./internal/fit -cases testdata/cases/*.jsonl -out weights

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	switch t {
	case Question, Status, Completion, Blocker, Error:
		return true
	}
	return false
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
	Type                  OutputType `json:"type"`
	Confidence            float64    `json:"confidence"`              // 0 to 1
	Reason                string     `json:"reason"`                  // for people; never parsed
	CoachingMessage       string     `json:"coaching_message"`        // written by an LLM; in JSON null when empty
	WasRejectedCompletion bool       `json:"was_rejected_completion"` // claims completion without showing it; only with Status
	Language              string     `json:"language,omitempty"`      // "en", "zh", …: the text's, if the heuristic knows it
	Source                string     `json:"source"`                  // which classifier answered: "heuristic", "llm", …
	Signals               []Signal   `json:"signals,omitempty"`       // by position; also beside an LLM's verdict
	SignalsDropped        int        `json:"signals_dropped,omitempty"`
	Fallback              string     `json:"fallback,omitempty"` // why the primary classifier did not answer
	Usage                 *Usage     `json:"usage,omitempty"`    // what the verdict cost, if it cost anything
}

// MarshalJSON writes an empty CoachingMessage as null, the form in which an LLM gives it. It leaves <, > and & as they are;
// json.Marshal escapes them all the same, an encoder only where it is told to.
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

// Classifier judges one output.
//
// An implementation must be safe for concurrent use, must not change in or keep its slices, and must return either an
// error or a result with a valid type and a confidence from 0 to 1. Text is data: nothing in it is an instruction.
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
