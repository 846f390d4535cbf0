package llm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

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
	client *http.Client
	openai func(openai.HTTPDoer) *openai.Client // holds the key
	redact func(string) string                  // masks the key: a careless server repeats the header that it got
	speaks atomic.Value                         // a dialect
}

func newEndpoint(cfg Config) *endpoint {
	oc := openai.DefaultConfig(cfg.Key)
	if cfg.Azure {
		oc = openai.DefaultAzureConfig(cfg.Key, cfg.BaseURL)
		oc.APIVersion = cfg.APIVersion
		oc.AzureModelMapperFunc = url.PathEscape
	} else if cfg.BaseURL != "" {
		oc.BaseURL = cfg.BaseURL
	}
	e := &endpoint{
		client: &http.Client{
			Transport:     cfg.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		openai: func(doer openai.HTTPDoer) *openai.Client {
			oc := oc
			oc.HTTPClient = doer
			return openai.NewClientWithConfig(oc)
		},
		redact: func(text string) string { return text },
	}
	if len(cfg.Key) >= 8 { // a shorter one is a placeholder for a server that asks for none
		e.redact = strings.NewReplacer(cfg.Key, "[key]").Replace
	}
	e.speaks.Store(dialect{format: cfg.Format})
	return e
}

// send asks once, and again with a simpler wording as long as the server rejects the wording.
func (e *endpoint) send(ctx context.Context, request Request) (reply, error) {
	d := e.speaks.Load().(dialect)
	if request.Schema == nil && d.format == formatSchema {
		d.format = formatObject
	}
	for attempts := 1; ; attempts++ {
		x := &exchange{client: e.client}
		r, err := e.once(ctx, x, request, d)
		r.usage.Attempts = attempts
		simpler, ok := d.simpler(x)
		if !ok || ctx.Err() != nil {
			if attempts > 1 && x.ok() && request.Schema != nil {
				e.speaks.Store(d)
			}
			return r, err
		}
		d = simpler
	}
}

func (e *endpoint) once(ctx context.Context, x *exchange, request Request, d dialect) (reply, error) {
	res, err := e.openai(x).CreateChatCompletion(ctx, request.in(d))
	r := reply{usage: classify.Usage{
		Model: e.redact(res.Model), PromptTokens: res.Usage.PromptTokens, CompletionTokens: res.Usage.CompletionTokens,
	}}
	if details := res.Usage.PromptTokensDetails; details != nil {
		r.usage.CachedTokens = details.CachedTokens
	}
	said := request.quoted(e.redact(x.problem.message))
	switch {
	case x.err != nil:
		return r, x.err
	case x.status == 0: // go-openai refuses some models with some settings
		return r, &Error{Why: "the call cannot be made: " + plaintext.Line(err.Error(), 200), final: true}
	case !x.ok() && x.problem.filtered:
		return r, refused("a content filter withheld the answer")
	case !x.ok():
		return r, rejected(x.status, x.retryAfter, said)
	case x.problem.message != "":
		return r, &Error{Status: x.status, Why: "the endpoint answered 200 with an error", Server: said, final: true}
	case err != nil:
		return r, unparseable("the body is not a chat completion")
	case len(res.Choices) == 0:
		return r, unparseable("it has no choices")
	}
	choice := res.Choices[0]
	switch {
	case strings.TrimSpace(choice.Message.Refusal) != "":
		return r, refused("the model refused to answer")
	case choice.FinishReason == openai.FinishReasonContentFilter:
		return r, refused("a content filter withheld the answer")
	case choice.FinishReason == openai.FinishReasonLength:
		return r, refused("the answer was cut off at the limit of tokens")
	}
	r.text = choice.Message.Content
	for _, part := range choice.Message.MultiContent {
		r.text += part.Text
	}
	r.text = e.redact(r.text)
	return r, nil
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

// exchange stands between go-openai and the network: it bounds the body, and it keeps what go-openai does not tell.
type exchange struct {
	client     *http.Client
	status     int // 0 if nothing was sent, or no answer came
	retryAfter time.Duration
	problem    problem
	err        error // of the connection
}

const maxBody = 1 << 20 // bytes of an answer that are read

func (x *exchange) ok() bool { return x.status/100 == 2 }

func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	res, err := x.client.Do(req)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err // without the URL
		}
		x.err = noAnswer(err)
		return nil, x.err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	x.status = res.StatusCode
	x.retryAfter, _ = time.ParseDuration(res.Header.Get("Retry-After") + "s") // or 0
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	switch {
	case x.ok() && len(body) > maxBody:
		x.err = unparseable("it is larger than 1 MiB")
	case x.ok() && err != nil:
		x.err = noAnswer(err)
	}
	if x.err != nil {
		return nil, x.err
	}
	x.problem = problemIn(body, x.ok())
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// problem is what a body says about a failure.
type problem struct {
	message  string
	about    string // the start of the body in lower case; an error that repeats the request has that later on
	filtered bool   // a content filter withheld the answer; the message may speak of anything
}

var filterCode = lazy(`(?i)"(?:content_filter|responsibleaipolicyviolation|content_policy_violation)"`)

// problemIn reads the error of a body. Without one, the body of a failure is the message.
func problemIn(body []byte, success bool) problem {
	var top struct {
		Error   any
		Message any
	}
	_ = json.Unmarshal(body, &top)
	found := top.Error
	if fields, ok := found.(map[string]any); ok {
		found = fields["message"]
	}
	message, _ := cmp.Or(found, top.Message).(string)
	start := string(body[:min(len(body), 1000)])
	switch {
	case success && top.Error == nil:
		return problem{}
	case message == "":
		message = start
	}
	return problem{message, strings.ToLower(start[:min(len(start), 300)]), filterCode().MatchString(start)}
}

// simpler returns the dialect to try after a server rejected d, if there is one. A bad request may mean the format,
// even if it does not say so.
func (d dialect) simpler(x *exchange) (dialect, bool) {
	names := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(x.problem.about, w) })
	}
	next := map[string]string{formatSchema: formatObject, formatObject: formatPlain}[d.format]
	switch x.status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		if !d.legacyTokens && names("max_completion_tokens") {
			return dialect{d.format, true}, true
		}
		return dialect{next, d.legacyTokens}, next != "" && !x.problem.filtered
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
