package llm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm/internal/o200k"
)

// Options is what a [Classifier] needs beside its client. The zero value is the built-in prompt, a heuristic of its own and
// no cache.
type Options struct {
	// Prompt replaces the built-in prompt: it holds, at its root, "system.md" or "examples.jsonl" or both, in the form of
	// those that [Prompt] returns. It is not used after New returns.
	Prompt fs.FS

	Heuristic *classify.Heuristic // for the signals; nil is a new one with the built-in tables

	Cache int // how many verdicts to keep, those used last; 0 is none
}

// Classifier judges by one call to a model. It is safe for concurrent use.
type Classifier struct {
	client    *Client
	system    string
	fixed     func() int // tokens of what is the same on every call
	heuristic *classify.Heuristic
	flights   flights
	cache     cache
}

var _ classify.Classifier = (*Classifier)(nil)

// New returns a classifier that asks through client. A file of o.Prompt that is no regular one, a link to nothing, can't be read, is larger than
// 64 KiB, empty, no UTF-8, or holds an example with a fault, and a prompt with neither file, are errors that name file and
// line.
func New(client *Client, o Options) (*Classifier, error) {
	switch {
	case client == nil:
		return nil, errors.New("llm: no client")
	case o.Cache < 0:
		return nil, errors.New("llm: the size of the cache is negative")
	}
	prompt := o.Prompt
	if prompt == nil {
		prompt = Prompt()
	} else if err := some(prompt); err != nil {
		return nil, fmt.Errorf("llm: %w", err)
	}
	static, err := system(prompt)
	if err != nil {
		return nil, fmt.Errorf("llm: %w", err)
	}
	h := o.Heuristic
	if h == nil {
		if h, err = classify.NewHeuristic(); err != nil {
			return nil, fmt.Errorf("llm: %w", err)
		}
	}
	fixed := sync.OnceValue(func() int {
		var sent bytes.Buffer
		if err := json.Compact(&sent, schema); err != nil { // it is part of the program
			panic(err)
		}
		return o200k.Count(static) + o200k.Count(sent.String())
	})
	return &Classifier{client: client, system: static, fixed: fixed, heuristic: h, cache: cache{size: o.Cache}}, nil
}

// some returns an error when fsys has none of the files of a prompt.
func some(fsys fs.FS) error {
	for _, name := range [...]string{"system.md", "examples.jsonl"} {
		if _, err := fs.Lstat(fsys, name); !errors.Is(err, fs.ErrNotExist) {
			return nil // what is wrong with it shows when it is read
		}
	}
	return errors.New("prompt: neither system.md nor examples.jsonl is there")
}

// Messages returns what the model is asked: the system message, which is the same for every input, and the user message, in
// which everything that comes from in stands between markers. The same input gives the same bytes.
//
// The user message has at most 900 tokens by o200k_base. The output is whole in it up to 2,400 characters, as long as that
// fits; where it does not, the other parts shrink to a quarter first, then head and tail of the output are shown. The first
// message of more than 900 bytes takes some 30 ms longer than others, to unpack a table of 5 MB that stays in memory.
func (c *Classifier) Messages(in classify.Input) (system, user string) {
	return c.system, brief(in, func(text string) []classify.Signal { return c.signals(in, text) })
}

// Tokens returns about how many tokens a call about in sends, before any is made: both messages and the schema of the answer as
// o200k_base counts them, and what the form of a chat adds. An output that is not sent has none.
func (c *Classifier) Tokens(in classify.Input) int {
	if strings.TrimSpace(clean(in.Text)) == "" {
		return 0
	}
	const form = 12 // of OpenAI's: 3 a message, 1 for its role, 3 to begin the answer, and a little around the schema
	_, user := c.Messages(in)
	return c.fixed() + o200k.Count(user) + form
}

// signals are those of in with another text.
func (c *Classifier) signals(in classify.Input, text string) []classify.Signal {
	in.Text = text
	r, err := c.heuristic.Classify(context.Background(), in)
	if err != nil { // it never fails
		return nil
	}
	return r.Signals
}

// Classify asks the model about in and returns its verdict with the heuristic's signals.
//
// A coaching message on a status makes it a rejected completion; the reason is never read for that. Usage says what the
// verdict cost; one that came from the cache, or from an identical call that another caller began, cost no tokens and no
// attempts. When the time of a call that it joined is over before its own, it is asked once more. An output without anything visible in it is not sent: the heuristic's result, which is certain, is returned.
//
// The errors are those of [Client.JSON]. Use [classify.Fallback] with a heuristic to have an answer always.
func (c *Classifier) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	known, err := c.heuristic.Classify(ctx, in)
	if err != nil {
		return classify.Result{}, fmt.Errorf("llm: %w", err)
	}
	if strings.TrimSpace(clean(in.Text)) == "" {
		return known, nil
	}
	user := brief(in, func(text string) []classify.Signal {
		if text == in.Text {
			return known.Signals
		}
		return c.signals(in, text)
	})
	j := c.judge(ctx, user)
	if j.err != nil {
		return classify.Result{}, j.err
	}
	return classify.Result{
		Type:                  j.verdict.Type,
		Confidence:            j.verdict.Confidence,
		Reason:                j.verdict.Reason,
		CoachingMessage:       j.verdict.CoachingMessage,
		WasRejectedCompletion: j.verdict.CoachingMessage != "",
		Source:                "llm",
		Signals:               known.Signals,
		SignalsDropped:        known.SignalsDropped,
		Usage:                 &j.usage,
	}, nil
}

// judge returns the verdict on a user message, from the cache, from a call under way, or from a call of its own.
func (c *Classifier) judge(ctx context.Context, user string) judged {
	k := key(sha256.Sum256([]byte(user)))
	if e, ok := c.cache.get(k); ok {
		return judged{verdict: e.verdict, usage: classify.Usage{Model: e.model}}
	}
	start := c.client.cfg.Now()
	ctx, cancel := context.WithTimeout(ctx, c.client.cfg.Timeout)
	defer cancel()
	if ctx.Err() != nil {
		return judged{err: late(ctx)}
	}
	call := func(ctx context.Context) judged {
		j := c.ask(ctx, user)
		if j.err == nil {
			c.cache.put(entry{k, j.verdict, j.usage.Model})
		}
		return j
	}
	j, began := c.flights.do(ctx, c.client.cfg.Timeout, k, call)
	if !began && j.hurried && ctx.Err() == nil { // it was the time of others that was over
		j, began = c.flights.do(ctx, c.client.cfg.Timeout, k, call)
	}
	if !began {
		j.usage = classify.Usage{Model: j.usage.Model}
	}
	j.usage.Latency = max(0, c.client.cfg.Now().Sub(start))
	return j
}

func (c *Classifier) ask(ctx context.Context, user string) (j judged) {
	answer, err := c.client.JSON(ctx, Call{
		System: c.system,
		User:   user,
		Schema: schema,
		Name:   "verdict",
		wanted: typed,
		Check: func(object json.RawMessage) (err error) {
			j.verdict, err = parseVerdict(object)
			return err
		},
	})
	j.usage, j.err, j.hurried = answer.Usage, err, answer.hurried
	return j
}
