package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Options is what a [Classifier] needs beside its client. The zero value is the built-in prompt and a heuristic with
// the built-in tables.
type Options struct {
	// Prompt replaces the built-in prompt. At its root it has "system.md" or "examples.jsonl" or both, in the form of
	// those that [Prompt] returns, and nothing else. It is not used after New returns.
	Prompt fs.FS

	Heuristic *classify.Heuristic // finds the signals; nil is a new one
}

// Classifier judges by one call to a model. It is safe for concurrent use.
type Classifier struct {
	client    *Client
	system    string
	heuristic *classify.Heuristic
}

var _ classify.Classifier = (*Classifier)(nil)

// New returns a classifier that asks through client. A prompt that cannot be used is an error that names file and line:
// one with neither file, or with a file of another name, or one that is not a regular file, cannot be read, is larger
// than 64 KiB or empty, or has an example with a fault.
func New(client *Client, o Options) (*Classifier, error) {
	if client == nil || client.transport == nil {
		return nil, errZeroClient
	}
	if classify.HoldsNil(o.Prompt) {
		return nil, fmt.Errorf("llm: Options.Prompt is a nil %T", o.Prompt)
	}
	system, err := systemMessage(o.Prompt)
	if err != nil {
		return nil, fmt.Errorf("llm: prompt: %w", err)
	}
	h := o.Heuristic
	if h == nil {
		h, err = classify.NewHeuristic()
	}
	return &Classifier{client: client, system: system, heuristic: h}, err
}

// Request returns what the model is asked about an input. The system message is the same for every input. In the user
// message, everything that comes from in stands between markers. The same input gives the same bytes.
//
// The user message has at most about 1,300 tokens. Of an output beyond 3,600 bytes (four take about a token)
// it has the head, the end, and the lines in which the heuristic found signals.
func (c *Classifier) Request(in classify.Input) Request { return c.client.request(c.call(in)) }

func (c *Classifier) call(in classify.Input) Call {
	user := userMessage(in, func(text string) []classify.Signal {
		in := in
		in.Text = text
		known, _ := c.heuristic.Classify(context.Background(), in) // without signals, position decides what is shown
		return known.Signals
	})
	return Call{System: c.system, User: user, Schema: schema}
}

// Classify asks the model about in and returns its verdict with the heuristic's signals. Facts decide about
// a claim, not the model: see [classify.Work.Weigh].
//
// The model is not asked where its words would change nothing, and the heuristic's result is returned: if nothing of
// the output is visible, and if the facts of the turn deliver a claim and the heuristic reads no progress. Usage says
// what the verdict cost; without it nothing was asked.
//
// The errors are those of [Client.JSON]. Use [classify.Fallback] with a heuristic to have an answer always.
func (c *Classifier) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	known, err := c.heuristic.Classify(ctx, in)
	if err != nil {
		return classify.Result{}, fmt.Errorf("llm: %w", err)
	}
	if plaintext.IsBlank(in.Text) || known.Type != classify.Status && delivers(in.Work, known.Signals) {
		return known, nil
	}
	var r classify.Result
	call := c.call(in)
	call.Check = func(object json.RawMessage) (err error) {
		r, err = parseVerdict(object)
		return err
	}
	answer, err := c.client.JSON(ctx, call)
	if err != nil {
		return classify.Result{}, err
	}
	r.Language, r.Signals, r.SignalsDropped = known.Language, known.Signals, known.SignalsDropped
	r = in.Work.Weigh(r)
	r.Usage = &answer.Usage
	return r, nil
}

// delivers reports whether the facts of a turn show a claim with these signals to the human.
func delivers(w classify.Work, signals []classify.Signal) bool {
	r := w.Weigh(classify.Result{Type: classify.Completion, Signals: signals})
	return r.Confidence > 0 && r.Type != classify.Status // without facts the confidence stays 0
}
