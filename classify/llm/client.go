package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/sidecoach/sidecoach/classify"
)

// Client makes calls to one endpoint that answer with one JSON object. It is safe for concurrent use. Its circuit breaker,
// and what it learnt of the formats the endpoint knows, are shared by all who use it.
type Client struct {
	cfg     Config // without the key, so that printing a client does not show it
	wire    func(openai.HTTPDoer) openai.ClientConfig
	redact  redactor
	http    *http.Client
	known   memory
	breaker breaker
}

// Call is one question.
type Call struct {
	System string // the same on every call, so that a provider can cache it; must contain the word JSON, some servers insist
	User   string

	// Schema is the JSON schema of the answer, as strict mode wants it (every property required, no additional ones), and Name
	// its name: letters, figures, "_" and "-", at most 64. Servers may ignore it. Nil asks for any JSON object.
	Schema json.RawMessage
	Name   string

	MaxTokens int // of the answer; 0 is that of the client

	// Check decodes the answer and says what is wrong with it; an error makes the answer an unparseable one and is
	// shown as it is. Nil takes any object.
	Check func(object json.RawMessage) error

	wanted func(object json.RawMessage) bool // which of several objects is the answer: the last of these; nil is any
}

// Answer is what came back.
type Answer struct {
	Object json.RawMessage // the last complete JSON object of the answer, with "[key]" where it repeats the key
	Usage  classify.Usage  // also beside an error, as far as it is known

	hurried bool // the error is there for want of time
}

// NewClient returns a client for an endpoint. It calls nothing yet.
func NewClient(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("llm: %w", err)
	}
	c := &Client{wire: cfg.wire, redact: newRedactor(cfg.Key), http: &http.Client{
		Transport:     cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	cfg.Key = ""
	c.cfg = cfg
	c.known.set(cfg.dialect())
	return c, nil
}

// JSON makes a call and returns the object it is answered with.
//
// It takes at most the client's timeout, all attempts together, and never longer than ctx. An attempt that fails with
// the status 408, 409, 429 or 5xx, or without an answer, is repeated after 200 to 400, then 400 to 800 milliseconds, or after
// what Retry-After asks for and up to 200 milliseconds more; but not when that would be beyond the deadline. A server that
// rejects the format is asked again at once with a lesser one, which the client remembers; this is no retry.
//
// After 3 unparseable answers in a row, or 5 failed calls, no call is made for 30 seconds ([ErrOpen]); then one at a time
// until one is answered. A refusal, a filter and a cut answer count as answers, a call that its caller cancelled for
// nothing, one whose time ran out has failed.
//
// The error is, or wraps, a [StatusError], [ConnectionError], [ReportedError], [RefusalError], [NoChoiceError], [LengthError],
// [FilterError], [SizeError], [ParseError], [ErrOpen], or the context's error when its time, or the timeout, is over. Its
// text never holds the key, anything of a body or of the call.
func (c *Client) JSON(ctx context.Context, call Call) (Answer, error) {
	if err := call.valid(); err != nil {
		return Answer{}, fmt.Errorf("llm: %w", err)
	}
	if ctx.Err() != nil {
		return Answer{}, late(ctx)
	}
	start, o := c.cfg.Now(), abandoned // if the transport panics
	if !c.cfg.NoBreaker {
		probe, err := c.breaker.allow(start)
		if err != nil {
			return Answer{}, err
		}
		defer func() { c.breaker.done(probe, o, c.cfg.Now()) }()
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	answer := Answer{Usage: classify.Usage{Model: c.cfg.Model}}
	err := c.attempts(ctx, call, &answer)
	answer.Usage.Latency = max(0, c.cfg.Now().Sub(start))
	answer.hurried = answer.hurried || err != nil && ctx.Err() != nil
	o = became(err)
	return answer, err
}

var names = compiled(`^[a-zA-Z0-9_-]{1,64}$`)

func (call Call) valid() error {
	if call.Schema != nil && (!names().MatchString(call.Name) || !json.Valid(call.Schema)) {
		return errors.New("the schema of a call is not JSON, or its name is none")
	}
	return nil
}

func became(err error) outcome {
	switch {
	case err == nil, errors.As(err, new(RefusalError)), errors.As(err, new(FilterError)), errors.As(err, new(LengthError)):
		return answered // the endpoint works, whatever it says
	case errors.As(err, new(ParseError)):
		return unparseable
	case errors.Is(err, context.Canceled):
		return abandoned
	}
	return failed
}

// attempts asks until there is an answer, or no use in asking.
func (c *Client) attempts(ctx context.Context, call Call, answer *Answer) error {
	d := c.known.get()
	if call.Schema == nil && d.format == FormatSchema {
		d.format = FormatObject
	}
	stepped := false
	for retry := 0; ; {
		answer.Usage.Attempts++
		rejected, err := c.once(ctx, call, d, answer)
		if rejected != nil && ctx.Err() == nil && !errors.As(err, new(FilterError)) {
			if next, sure, ok := d.next(*rejected); ok {
				d, stepped = next, true
				if sure {
					c.learn(call, d)
				}
				continue
			}
		}
		if stepped && rejected == nil && !errors.As(err, new(ConnectionError)) {
			c.learn(call, d)
			stepped = false
		}
		if ctx.Err() != nil && err != nil {
			return late(ctx)
		}
		if err == nil || retry >= c.cfg.Retries || !retryable(err) {
			return err
		}
		if !wait(ctx, delay(retry, err)) {
			answer.hurried = true
			if ctx.Err() != nil {
				return late(ctx)
			}
			return err
		}
		retry++
	}
}

// Learnt returns how the endpoint takes calls with a schema, as far as the client knows by now: what [Config].Format and
// Config.LegacyMaxTokens said or, after a call that was stepped down, what worked. A program that lives for one call keeps it
// and gives it to the next one, which is then rejected no more.
func (c *Client) Learnt() (format Format, legacyMaxTokens bool) {
	d := c.known.get()
	return d.format, d.legacyTokens
}

// learn remembers a dialect that the endpoint speaks. What a call without schema teaches holds for such calls only.
func (c *Client) learn(call Call, d dialect) {
	if call.Schema != nil {
		c.known.set(d)
	}
}

// once makes one attempt. rejected is set when the status is no success.
func (c *Client) once(ctx context.Context, call Call, d dialect, answer *Answer) (rejected *rejection, err error) {
	x := &exchange{client: c.http, now: c.cfg.Now}
	res, err := openai.NewClientWithConfig(c.wire(x)).CreateChatCompletion(ctx, c.cfg.request(call, d))
	if err != nil {
		if !ours(err) {
			if x.sent {
				return nil, ParseError{"the body is no chat completion"}
			}
			return nil, fmt.Errorf("llm: %w", err)
		}
		return x.rejected, err
	}
	res.Model = c.redact(res.Model)
	meter(&answer.Usage, res)
	content, err := contentOf(res)
	if err != nil {
		return nil, err
	}
	object, ok := lastObject(content, call.wanted)
	if !ok {
		return nil, ParseError{"no JSON object in it"}
	}
	object = c.redact.object(object)
	if call.Check != nil {
		if err := call.Check(object); errors.As(err, new(ParseError)) {
			return nil, err
		} else if err != nil {
			return nil, ParseError{err.Error()}
		}
	}
	answer.Object = object
	return nil, nil
}

// ours reports whether err comes from exchange.
func ours(err error) bool {
	return errors.As(err, new(StatusError)) || errors.As(err, new(ConnectionError)) || errors.As(err, new(ReportedError)) ||
		errors.As(err, new(SizeError)) || errors.As(err, new(FilterError))
}

// meter notes what an attempt cost. What a server says of itself is not taken on trust.
func meter(u *classify.Usage, res openai.ChatCompletionResponse) {
	if res.Model != "" && len(res.Model) <= 100 && !strings.ContainsFunc(res.Model, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
		u.Model = res.Model
	}
	u.PromptTokens, u.CompletionTokens = max(0, res.Usage.PromptTokens), max(0, res.Usage.CompletionTokens)
	if d := res.Usage.PromptTokensDetails; d != nil {
		u.CachedTokens = min(max(0, d.CachedTokens), u.PromptTokens)
	}
}

// contentOf returns what the model wrote.
func contentOf(res openai.ChatCompletionResponse) (string, error) {
	if len(res.Choices) == 0 {
		return "", NoChoiceError{}
	}
	choice := res.Choices[0]
	switch {
	case strings.TrimSpace(choice.Message.Refusal) != "":
		return "", RefusalError{}
	case choice.FinishReason == openai.FinishReasonContentFilter:
		return "", FilterError{}
	case choice.FinishReason == openai.FinishReasonLength:
		return "", LengthError{}
	case choice.FinishReason == "error":
		return "", ReportedError{}
	}
	return choice.Message.Content, nil
}

func retryable(err error) bool {
	var s StatusError
	if errors.As(err, &s) {
		switch s.Code {
		case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
			return true
		}
		return s.Code >= 500
	}
	var c ConnectionError
	return errors.As(err, &c) && explanation(c.Err) == ""
}

// delay is how long to wait before the retry with that number.
func delay(retry int, err error) time.Duration {
	step := 200 * time.Millisecond << retry
	jitter := rand.N(step)
	if s := (StatusError{}); errors.As(err, &s) && s.RetryAfter > 0 {
		return s.RetryAfter + min(jitter, 200*time.Millisecond)
	}
	return step + jitter
}

// wait waits for d. It does not begin, and reports false, when the deadline comes first.
func wait(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
