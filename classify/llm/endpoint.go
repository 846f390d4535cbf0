package llm

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	openai "github.com/sashabaranov/go-openai"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// The ways to ask an endpoint for JSON.
const (
	formatSchema = "json_schema" // response_format with a strict schema
	formatObject = "json_object" // response_format without schema
	formatPlain  = "plain"       // no response_format: the instructions alone
)

// Formats returns the values of [Config].Format. A client tries the next one if a server rejects the one before.
func Formats() []string { return []string{formatSchema, formatObject, formatPlain} }

// dialect is how a request is worded. Servers differ in it.
type dialect struct {
	format       string
	legacyTokens bool
}

type endpoint struct {
	client *openai.Client      // holds the key
	redact func(string) string // masks the key: a careless server repeats the header that it got
	learnt atomic.Value        // the dialect that the server accepts, or the first to try
}

func newEndpoint(cfg Config) *endpoint {
	oc := openai.DefaultConfig(cfg.Key)
	oc.BaseURL = cmp.Or(cfg.BaseURL, oc.BaseURL)
	oc.HTTPClient = &http.Client{
		Transport: limiter{cfg.Transport},
		CheckRedirect: func(to *http.Request, _ []*http.Request) error {
			return rejected(to.Response.StatusCode, 0, "")
		},
	}
	e := &endpoint{client: openai.NewClientWithConfig(oc), redact: strings.NewReplacer().Replace}
	if len(cfg.Key) >= 8 { // a shorter one is a placeholder for a server that asks for none
		e.redact = strings.NewReplacer(cfg.Key, "[key]").Replace
	}
	e.learnt.Store(dialect{format: cfg.Format})
	return e
}

const maxBody = 1 << 20 // bytes of an answer that are read

// limiter bounds the answers of a transport.
type limiter struct{ http.RoundTripper }

func (l limiter) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := l.RoundTripper.RoundTrip(req)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxBody)
	}
	return res, err
}

// send asks once, and again with a simpler wording as long as the server rejects the wording.
func (e *endpoint) send(ctx context.Context, request Request) (text string, used classify.Usage, err error) {
	d := e.learnt.Load().(dialect)
	if request.Schema == nil && d.format == formatSchema {
		d.format = formatObject
	}
	for attempts := 1; ; attempts++ {
		res, err := e.client.CreateChatCompletion(ctx, request.in(d))
		var failed *Error
		if err != nil {
			said := ""
			failed, said = e.failure(err, res.Header(), request)
			if simpler, ok := d.simpler(failed, said); ok && ctx.Err() == nil {
				d = simpler
				continue
			}
		}
		if attempts > 1 && err == nil && request.Schema != nil {
			e.learnt.Store(d)
		}
		used = classify.Usage{
			Model: e.redact(res.Model), PromptTokens: res.Usage.PromptTokens, CompletionTokens: res.Usage.CompletionTokens,
			Attempts: attempts,
		}
		if details := res.Usage.PromptTokensDetails; details != nil {
			used.CachedTokens = details.CachedTokens
		}
		if failed != nil {
			return "", used, failed
		}
		if len(res.Choices) == 0 {
			return "", used, unparseable("it has no choices")
		}
		choice := res.Choices[0]
		switch {
		case strings.TrimSpace(choice.Message.Refusal) != "":
			return "", used, refused("the model refused to answer")
		case choice.FinishReason == openai.FinishReasonContentFilter:
			return "", used, refused("a content filter withheld the answer")
		case choice.FinishReason == openai.FinishReasonLength:
			return "", used, refused("the answer was cut off at the limit of tokens")
		}
		text = choice.Message.Content
		for _, part := range choice.Message.MultiContent {
			text += part.Text
		}
		return e.redact(text), used, nil
	}
}

// in words a request in a dialect. The schema goes as raw JSON, because go-openai's own schema type races.
func (r Request) in(d dialect) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{
		Model:           r.Model,
		ReasoningEffort: r.Effort,
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: r.System},
			{Role: openai.ChatMessageRoleUser, Content: r.User},
		},
	}
	if r.Temperature != nil {
		req.Temperature = max(float32(*r.Temperature), math.SmallestNonzeroFloat32) // go-openai leaves 0 out
	}
	if d.format != formatPlain {
		req.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatType(d.format),
		}
	}
	if d.format == formatSchema {
		req.ResponseFormat.JSONSchema = &openai.ChatCompletionResponseFormatJSONSchema{
			Name: "verdict", Schema: r.Schema, Strict: true,
		}
	}
	if d.legacyTokens {
		req.MaxTokens = r.MaxTokens //lint:ignore SA1019 older servers know only that
	} else {
		req.MaxCompletionTokens = r.MaxTokens
	}
	return req
}

var filterCode = regexp.MustCompile(`(?i)\b(?:content_filter|responsibleaipolicyviolation|content_policy_violation)\b`)

// failure says in our words why a call has no completion, and returns what the server said, as it did.
func (e *endpoint) failure(err error, header http.Header, request Request) (failed *Error, said string) {
	redirect, isRedirect := errors.AsType[*Error](err)
	connection, isConnection := errors.AsType[*url.Error](err)
	status, codes := 0, "" // of a filter, which the message may speak of without meaning one

	if other, ok := errors.AsType[*openai.RequestError](err); ok { // the error has another form
		said = string(other.Body[:min(len(other.Body), 1000)])
		status, codes = other.HTTPStatusCode, said
	} else if api, ok := errors.AsType[*openai.APIError](err); ok {
		status, said, codes = api.HTTPStatusCode, api.Message, fmt.Sprint(api.Code, " ", api.Type)
		if api.InnerError != nil {
			codes += " " + api.InnerError.Code
		}
	}
	switch {
	case isRedirect:
		return redirect, said
	case isConnection:
		return noAnswer(connection.Err), said // without the URL
	case filterCode.MatchString(codes):
		return refused("a content filter withheld the answer"), said
	case status != 0:
		wait, _ := time.ParseDuration(header.Get("Retry-After") + "s") // or 0
		return rejected(status, wait, request.quoted(e.redact(said))), said
	case header == nil: // go-openai refuses some models with some settings
		return &Error{Why: "the call cannot be made: " + plaintext.Line(err.Error(), 200), final: true}, said
	case errors.As(err, new(*http.MaxBytesError)):
		return unparseable("it is larger than 1 MiB"), said
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, new(net.Error)):
		return noAnswer(err), said
	}
	return unparseable("the body is not a chat completion"), said
}

// simpler returns the dialect to try after a server rejected d, if there is one. A bad request may mean the format,
// even if it does not say so.
func (d dialect) simpler(failed *Error, said string) (dialect, bool) {
	about := strings.ToLower(said[:min(len(said), 300)]) // one that repeats the request has that later on
	names := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(about, w) })
	}
	next := map[string]string{formatSchema: formatObject, formatObject: formatPlain}[d.format]
	switch failed.Status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		if !d.legacyTokens && names("max_completion_tokens") {
			return dialect{d.format, true}, true
		}
		return dialect{next, d.legacyTokens}, next != ""
	case http.StatusNotFound: // of a router
		return dialect{next, d.legacyTokens}, next != "" && names("parameter")
	case http.StatusInternalServerError:
		return dialect{next, d.legacyTokens}, next != "" && names("response_format", "schema", "grammar", "json_object")
	}
	return d, false
}

// noAnswer says in our words why a connection failed: the text of a transport may quote the server.
func noAnswer(err error) *Error {
	why := "the connection failed"
	var timeout net.Error
	var system syscall.Errno
	switch {
	case errors.As(err, new(*net.DNSError)):
		why = "no such host"
	case errors.As(err, &system):
		why = system.Error()
	case errors.Is(err, http.ErrSchemeMismatch):
		why = "the base URL says https, and the server speaks http"
	case errors.As(err, new(*tls.CertificateVerificationError)):
		why = "the server's certificate is not trusted, or is for another host"
	case errors.As(err, &timeout) && timeout.Timeout():
		why = "connection timed out"
	}
	return &Error{Why: "no answer: " + why, Err: err}
}

// Config says what to ask and how: an endpoint, or with Command a program. An endpoint needs a model, and a key or a
// base URL. Every other field has a default. Blanks and line ends around the texts do not count. Nothing is read from
// the environment, except the proxy settings that the default transport honours.
type Config struct {
	Model   string // as the endpoint or the program calls it
	Key     string // may be empty for a server that asks for none
	BaseURL string // absolute, without query, with the version: "http://localhost:11434/v1"; empty is OpenAI's

	// InsecureHTTP allows a key over plain http to another machine, or through a proxy. Without it that is an error. Only
	// the proxy that an *http.Transport has at NewClient is seen: the host answers for a Transport of another type.
	InsecureHTTP bool

	// Transport makes the requests; nil is http.DefaultTransport. Redirects are never followed: the key and the
	// agent's text go to BaseURL and nowhere else.
	Transport http.RoundTripper

	// Command runs a program instead of calling an endpoint.
	Command Command

	// of a call with all its attempts; 0 is 10 s, for a program 60 s. The context can only shorten it
	Timeout time.Duration
	Retries int // after the first attempt: 0 is 2, the most; -1 is none

	Format      string   // of [Formats], to begin with; empty is the first
	MaxTokens   int      // of an answer, reasoning included; 0 is 500
	Temperature *float64 // 0 to 2; nil leaves it to the server
	Effort      string   // of reasoning: "minimal", "low", …; empty leaves it to the server, or "low" for a program

	Cache     Cache // keeps answers; nil keeps none
	NoBreaker bool  // make each call, even after failures: for measurements
}

// String names the model without the key.
func (c Config) String() string { return fmt.Sprintf("llm.Config(%s)", c.Model) }

// GoString is String. So %v, %+v, %#v, %s and %q do not print the key.
func (c Config) GoString() string { return c.String() }

const maxRetries = 2

// withDefaults returns c with its defaults filled in, or what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	for _, text := range []struct {
		name string
		is   *string
	}{{"model", &c.Model}, {"key", &c.Key}, {"base URL", &c.BaseURL}, {"effort", &c.Effort}} {
		if *text.is = strings.TrimSpace(*text.is); strings.ContainsFunc(*text.is, unicode.IsControl) {
			return c, fmt.Errorf("the %s has a line break or another control character", text.name)
		}
	}
	timeout := 10 * time.Second
	if c.Command.isSet() {
		timeout = 60 * time.Second
	}
	c.Format = cmp.Or(c.Format, formatSchema)
	c.Timeout = cmp.Or(c.Timeout, timeout)
	c.MaxTokens = cmp.Or(c.MaxTokens, 500)
	c.Retries = cmp.Or(c.Retries, maxRetries)
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	return c, c.check()
}

func (c Config) check() error {
	switch {
	case classify.HoldsNil(c.Cache):
		return fmt.Errorf("the cache is a nil %T", c.Cache)
	case classify.HoldsNil(c.Transport):
		return fmt.Errorf("the transport is a nil %T", c.Transport)
	case c.Timeout < 0:
		return errors.New("the timeout is negative")
	case c.Retries < -1 || c.Retries > maxRetries:
		return fmt.Errorf("the number of retries is not 1 or %d, or -1 for none", maxRetries)
	case c.MaxTokens < 0:
		return errors.New("the limit of tokens is negative")
	case c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2):
		return errors.New("the temperature is not a number from 0 to 2")
	case !slices.Contains(Formats(), c.Format):
		return fmt.Errorf("the format is not one of %s", strings.Join(Formats(), ", "))
	case c.Command.isSet():
		return c.Command.check()
	case c.Key == "" && c.BaseURL == "":
		return errors.New("neither a key nor a base URL is set")
	case c.Model == "":
		return errors.New("no model is set")
	case c.BaseURL == "":
		return nil
	}
	u, err := url.Parse(c.BaseURL) // which is not quoted, because it may carry a secret
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("the base URL is not an absolute http or https address")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.User != nil:
		return errors.New("the base URL has a query, a fragment, a user name or a password")
	case c.Key == "" || u.Scheme == "https" || c.InsecureHTTP:
		return nil
	case !strings.EqualFold(u.Hostname(), "localhost") && !net.ParseIP(u.Hostname()).IsLoopback():
		return errors.New("the base URL is plain http, so anybody on the way can read the key; " +
			"use https, or allow insecure http")
	case throughProxy(c.Transport, u):
		return errors.New("the base URL is plain http and goes through a proxy, which can read the key; " +
			"except the host from the proxy (NO_PROXY), or allow insecure http")
	}
	return nil
}

// throughProxy reports whether a transport of the standard library sends requests for u to a proxy.
func throughProxy(rt http.RoundTripper, u *url.URL) bool {
	t, ok := rt.(*http.Transport)
	if !ok || t.Proxy == nil {
		return false
	}
	proxy, err := t.Proxy(&http.Request{URL: u})
	return proxy != nil || err != nil
}
