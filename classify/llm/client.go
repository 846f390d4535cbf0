package llm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Client makes calls that are answered with one JSON object. It is safe for concurrent use. All its users share its
// circuit breaker and what it learnt about the endpoint.
type Client struct {
	cfg       Config // without the key, so that printing a client does not show it
	transport transport
	breaker   breaker
}

// transport makes one attempt at a call. The usage counts also beside an error.
type transport interface {
	send(context.Context, Request) (text string, used classify.Usage, err error)
}

// Call is one question.
type Call struct {
	// the same on every call, so that a provider can cache it; must contain the word JSON, some servers insist
	System string
	User   string

	// Schema is the JSON schema of the answer, as strict mode wants it: every property required, no additional ones.
	// Servers may ignore it. Nil asks for any JSON object.
	Schema json.RawMessage

	MaxTokens int // of the answer; 0 is the client's

	// Check decodes the answer. Its error makes the answer unparseable and is shown as it is. Nil takes any object.
	Check func(object json.RawMessage) error
}

// Answer is what came back.
type Answer struct {
	Object json.RawMessage // the last complete JSON object of the answer
	Usage  classify.Usage  // also beside an error, as far as it is known
}

// NewClient returns a client. It calls nothing yet.
func NewClient(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("llm: %w", err)
	}
	c := &Client{transport: cfg.Command}
	if !cfg.Command.isSet() {
		c.transport = newEndpoint(cfg)
	}
	cfg.Key = ""
	c.cfg = cfg
	return c, nil
}

var errZeroClient = errors.New("llm: the client is nil or a zero value: make one with NewClient")

// JSON makes a call and returns the object that it is answered with. With [Config].Cache, an answer that the cache has
// is returned instead; its usage has no attempts.
//
// A call takes at most the client's timeout, all attempts together, and never longer than ctx. An attempt that fails
// with the status 408, 409, 429 or 5xx, or without an answer, is repeated after 200 to 400, then 400 to 800
// milliseconds. If the server asks for a longer time with Retry-After, that counts. An attempt that would begin after
// the deadline is not made. A server that rejects the format is asked again at once with a lesser one, which the client
// remembers. A program is run once.
//
// After 5 failed calls in a row no call is made for 30 seconds ([ErrOpen]), then one at a time until one is answered. A
// refusal is an answer. A call that its caller cancelled does not count.
//
// The error is, or wraps, an [*Error], [ErrOpen], an error of the cache, or the context's error if the time is over.
func (c *Client) JSON(ctx context.Context, call Call) (Answer, error) {
	if c == nil || c.transport == nil {
		return Answer{}, errZeroClient
	}
	if ctx == nil {
		return Answer{}, errors.New("llm: the context is nil: give context.Background() if there is none")
	}
	if call.Schema != nil && !json.Valid(call.Schema) {
		return Answer{}, errors.New("llm: the schema of a call is not JSON")
	}
	request := c.request(call)
	if c.cfg.Cache == nil {
		return c.ask(ctx, call, request)
	}
	answer, err := c.cfg.Cache.Load(ctx, request)
	if err == nil {
		answer.Object, err = call.read(string(answer.Object))
		return answer, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		if answer, err = c.ask(ctx, call, request); err != nil {
			return answer, err
		}
		err = c.cfg.Cache.Store(ctx, request, answer)
	}
	if err != nil {
		return answer, fmt.Errorf("llm: %w", err)
	}
	return answer, nil
}

func (c *Client) ask(ctx context.Context, call Call, request Request) (answer Answer, err error) {
	start := time.Now()
	if !c.cfg.NoBreaker {
		if err := c.breaker.allow(start); err != nil {
			return Answer{}, err
		}
		defer func() {
			if e := (*Error)(nil); !errors.Is(err, context.Canceled) {
				c.breaker.done(err != nil && !(errors.As(err, &e) && e.refused), time.Now())
			}
		}()
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	answer.Usage.Model = c.cfg.Model
	for retry := 0; ; retry++ {
		text, used, failed := c.transport.send(ctx, request)
		answer.Usage = sum(answer.Usage, used)
		if err = failed; err == nil {
			answer.Object, err = call.read(text)
		}
		if err == nil || retry >= c.cfg.Retries || !wait(ctx, retry, err) {
			break
		}
	}
	if err != nil && ctx.Err() != nil {
		err = ended(ctx)
	}
	answer.Usage.Latency = time.Since(start)
	return answer, err
}

// sum adds up what attempts cost. A server's word about itself is bounded.
func sum(sum, u classify.Usage) classify.Usage {
	sum.Model = cmp.Or(plaintext.Line(u.Model, 100), sum.Model)
	sum.PromptTokens += max(0, u.PromptTokens)
	sum.CachedTokens += max(0, min(u.CachedTokens, u.PromptTokens))
	sum.CompletionTokens += max(0, u.CompletionTokens)
	sum.CostUSD += max(0, u.CostUSD)
	sum.Attempts += max(1, u.Attempts)
	return sum
}

// read finds the answer in what a model wrote, and checks it.
func (call Call) read(text string) (json.RawMessage, error) {
	object := lastObject([]byte(text))
	if object == nil {
		return nil, unparseable("no JSON object in it")
	}
	if call.Check != nil {
		if err := call.Check(object); err != nil {
			return nil, unparseable(err.Error())
		}
	}
	return object, nil
}

// quoted returns what a server or a program says about its failure, unless it repeats the call.
func (r Request) quoted(text string) string {
	text = plaintext.Redact(plaintext.Line(text, 2000))
	for _, sent := range [...]string{r.System, r.User} {
		if begin := strings.TrimSuffix(plaintext.Line(sent, 40), "…"); begin != "" && strings.Contains(text, begin) {
			return ""
		}
	}
	return plaintext.Line(text, 200)
}

// wait waits before the next attempt. It reports false if there should be none, or none before the deadline.
func wait(ctx context.Context, retry int, err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.Temporary() || ctx.Err() != nil {
		return false
	}
	step := 200 * time.Millisecond << retry
	d := max(e.RetryAfter, step) + rand.N(step)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

const (
	maxFailures = 5
	openFor     = 30 * time.Second
)

// breaker counts the calls that failed in a row. From maxFailures on it lets one call through every openFor.
type breaker struct {
	mu       sync.Mutex
	failures int
	until    time.Time // no call before
}

func (b *breaker) allow(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if left := b.until.Sub(now); left > 0 {
		return fmt.Errorf("%w for another %s", ErrOpen, left.Round(time.Second))
	}
	if b.failures >= maxFailures {
		b.until = now.Add(openFor) // this call tries; the others wait for what it finds
	}
	return nil
}

func (b *breaker) done(failed bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed {
		b.failures, b.until = 0, time.Time{}
		return
	}
	if b.failures++; b.failures >= maxFailures {
		b.until = now.Add(openFor)
	}
}

// ErrOpen is wrapped by the error of a call that was not made, because the calls before it failed.
var ErrOpen = errors.New("llm: too many calls failed in a row, so no call is made")

// Error says why a call has no answer. Its text holds no key, nothing of the call, and no line break.
type Error struct {
	Answered   bool          // the model answered: it refused, was cut off, or wrote something else than was asked for
	Status     int           // the HTTP status of a server that rejected the call; 0 is none
	RetryAfter time.Duration // how long the server asked to wait; 0 is nothing
	Why        string        // what happened, in our words
	Server     string        // what the server or the program said, cleaned, at most 200 characters; may be empty
	Err        error         // the error of the transport; may be nil

	final   bool // another attempt would fail as well
	refused bool // the model or a filter refused, or the answer was cut at the limit of tokens
}

func (e *Error) Error() string {
	text := "llm: " + e.Why
	if e.Server != "" {
		text += ": " + e.Server
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether another attempt may succeed.
func (e *Error) Temporary() bool { return !e.final }

func unparseable(why string) *Error {
	return &Error{Answered: true, Why: "unparseable answer: " + why, final: true}
}

func refused(why string) *Error { return &Error{Answered: true, Why: why, final: true, refused: true} }

func rejected(status int, retryAfter time.Duration, server string) *Error {
	why := fmt.Sprintf("the endpoint answered %d", status)
	if text := http.StatusText(status); text != "" {
		why += " " + text
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		why += " (is the key right?)"
	case status == http.StatusNotFound:
		why += " (are base URL and model right?)"
	case status >= 300 && status < 400:
		why += " (redirects are not followed)"
	}
	again := status >= 500 || status == http.StatusRequestTimeout || status == http.StatusConflict ||
		status == http.StatusTooManyRequests
	return &Error{Status: status, RetryAfter: retryAfter, Why: why, Server: server, final: !again}
}

func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fmt.Errorf("llm: no answer in time: %w", context.DeadlineExceeded)
	}
	return fmt.Errorf("llm: given up: %w", context.Canceled)
}

// Cache keeps answers. It must be safe for concurrent use.
type Cache interface {
	// Load returns the answer to a request. [fs.ErrNotExist] has the model asked; any other error fails the call.
	Load(ctx context.Context, r Request) (Answer, error)
	// Store keeps an answer. An error fails the call that was answered.
	Store(ctx context.Context, r Request, a Answer) error
}

// Request is everything that a call sends, and whom it asks.
type Request struct {
	To          string          `json:"to,omitempty"` // the base URL, or the program
	Model       string          `json:"model,omitempty"`
	Format      string          `json:"format,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Effort      string          `json:"effort,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	System      string          `json:"system,omitempty"`
	User        string          `json:"user,omitempty"`
}

// Key tells requests apart: two with the same key ask the same.
func (r Request) Key() string {
	b, _ := json.Marshal(r) // only a schema that is not JSON can fail, and the client refuses that
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

func (c *Client) request(call Call) Request {
	r := Request{
		To: c.cfg.BaseURL, Model: c.cfg.Model, Effort: c.cfg.Effort, Temperature: c.cfg.Temperature,
		System: call.System, User: call.User, Schema: call.Schema,
	}
	if command := c.cfg.Command; command.isSet() {
		r.To = strings.Join(append([]string{command.Agent}, command.Args...), " ")
	} else {
		r.Format, r.MaxTokens = c.cfg.Format, cmp.Or(call.MaxTokens, c.cfg.MaxTokens)
	}
	return r
}

// DirCache is a [Cache] in a folder, across runs: a file for each answer. The zero value keeps nothing and fails.
type DirCache struct {
	Dir string // is made when the first answer is kept
}

func (d *DirCache) file(r Request) string { return filepath.Join(d.Dir, r.Key()+".json") }

// Load returns the answer that is kept in the folder. A file that was not written to its end is no answer.
func (d *DirCache) Load(_ context.Context, r Request) (Answer, error) {
	b, err := os.ReadFile(d.file(r))
	if err != nil {
		return Answer{}, err
	}
	var kept Answer
	if json.Unmarshal(b, &kept) != nil || kept.Object == nil {
		return Answer{}, fs.ErrNotExist
	}
	return Answer{Object: kept.Object, Usage: classify.Usage{Model: kept.Usage.Model}}, nil
}

// Store writes an answer into the folder.
func (d *DirCache) Store(_ context.Context, r Request, a Answer) error {
	b, err := json.Marshal(a)
	if err == nil {
		err = os.MkdirAll(d.Dir, 0o700)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(d.file(r), b, 0o600)
}
