package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Options is what a [Classifier] needs beside its client. The zero value is the default.
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

const (
	maxReason   = 200  // characters
	maxCoaching = 1000 // characters
)

// parseVerdict reads the verdict that a model wrote.
//
//   - The type, in any letter case, must be one of the five. Anything else is an error.
//   - The confidence is a number from 0 to 1, which may be in a string. Anything else is 0. Without one it is 0.5.
//   - A reason that is missing or not a string is empty.
//   - A coaching message counts only with a status. Null, a blank and a word for nothing are none.
//   - A status is a rejected completion if the model says so, or coaches. It need not coach. Its confidence is
//     calibrated.
//
// Both texts are cleaned of what cannot be seen and of secrets, and bounded.
func parseVerdict(object json.RawMessage) (classify.Result, error) {
	var fields struct {
		Type, Confidence, Reason any
		Rejected                 any
		CoachingMessage          any `json:"coaching_message"`
	}
	if err := json.Unmarshal(object, &fields); err != nil {
		return classify.Result{}, errors.New("it is not a JSON object")
	}
	text := func(v any) string { s, _ := v.(string); return plaintext.Redact(s) }
	r := classify.Result{
		Type:       classify.OutputType(strings.ToLower(strings.TrimSpace(text(fields.Type)))),
		Confidence: confidence(fields.Confidence),
		Reason:     plaintext.Line(text(fields.Reason), maxReason),
		Source:     "llm",
	}
	if !r.Type.Valid() {
		return classify.Result{}, errors.New("its type is not one of the five")
	}
	if r.Type == classify.Status {
		r.CoachingMessage = coaching(text(fields.CoachingMessage))
		r.WasRejectedCompletion = fields.Rejected == true || r.CoachingMessage != ""
		r.Confidence = calibrated(r.Confidence)
	}
	return r, nil
}

// calibrated returns how often a status is right that a model is so sure of. Of those for which large models state more
// than 0.60, 56 of 58 were right, and of the others 4 of 10. So 0.60 to 0.85 becomes 0.80 to 0.85.
func calibrated(stated float64) float64 {
	if stated <= 0.6 || stated > 0.85 {
		return stated
	}
	return 0.8 + (stated-0.6)*0.2
}

func confidence(v any) float64 {
	if v == nil {
		return 0.5
	}
	f, _ := v.(float64)
	if s, ok := v.(string); ok {
		f, _ = strconv.ParseFloat(strings.TrimSpace(s), 64) // the number of an error is 0 or infinite
	}
	if f >= 0 && f <= 1 {
		return f
	}
	return 0 // 90 may mean 0.9, or that the model did not understand the question
}

func coaching(s string) string {
	s = strings.TrimSpace(plaintext.Cut(strings.TrimSpace(plaintext.Clean(s)), maxCoaching))
	switch strings.ToLower(strings.Trim(s, " \t\n\"'`.()[]<>")) {
	case "", "null", "nil", "none", "n/a", "na", "-", "--", "–", "—":
		return ""
	}
	return s
}

// lazy compiles an expression when it is first used: a program that asks no model does not wait for it.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// lastObject returns the last complete JSON object in a text, or nil. Prose, fences, thoughts and other objects may
// stand around it. An object inside another one does not count, complete or not: half an answer is no answer.
func lastObject(text []byte) (last json.RawMessage) {
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '{')
		if next < 0 {
			return last
		}
		at += next
		if rest := bytes.TrimLeft(text[at+1:], " \t\r\n"); len(rest) == 0 || rest[0] != '"' && rest[0] != '}' {
			at++ // a brace in prose or code
			continue
		}
		var object json.RawMessage
		dec := json.NewDecoder(bytes.NewReader(text[at:]))
		err := dec.Decode(&object)
		switch syntax := (*json.SyntaxError)(nil); {
		case err == nil:
			last = object
			at += int(dec.InputOffset())
		case errors.Is(err, io.ErrUnexpectedEOF), !errors.As(err, &syntax):
			return last // what is inside an unfinished object does not count
		default:
			at += max(1, int(syntax.Offset)-1)
		}
	}
}
