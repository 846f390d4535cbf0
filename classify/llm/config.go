package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	openai "github.com/sashabaranov/go-openai"
)

// Config says which endpoint to call and how. Model, and a key or a base URL, are needed; every other field has a default.
// Blanks and line ends around Model, Key, BaseURL, Deployment, APIVersion and ReasoningEffort do not count. Nothing is read from the environment, but for the proxy settings that the default transport honours.
type Config struct {
	Model   string // as the endpoint calls it
	Key     string // may be empty for a server that asks for none
	BaseURL string // absolute, without query, with the version: "http://localhost:11434/v1"; empty is OpenAI's

	// Azure is Azure OpenAI with its deployments: BaseURL is the resource ("https://name.openai.azure.com"), Deployment is
	// the name in the path, by default Model, and APIVersion the version in the query, by default 2024-10-21.
	Azure      bool
	Deployment string
	APIVersion string

	// Transport makes the requests; nil is http.DefaultTransport. Redirects are not followed whatever it is: the key and the
	// agent's text go to BaseURL and nowhere else.
	Transport http.RoundTripper

	Timeout time.Duration // of a call with all its attempts; 0 is 10 s. The context can only shorten it
	Retries int           // after the first attempt: 0 is 2, the most; -1 is none

	Format          Format  // where to begin; empty is FormatSchema
	MaxTokens       int     // of an answer, reasoning included; 0 is 500
	LegacyMaxTokens bool    // send them as max_tokens, for servers that do not know max_completion_tokens
	Temperature     float32 // 0 sends none, which leaves it to the server
	ReasoningEffort string  // "minimal", "low", …; empty sends none

	NoBreaker bool // never leave the endpoint alone after failures: for measurements, where each call has to be made

	Now func() time.Time // the clock of the circuit breaker and of latencies; nil is time.Now
}

// String names the endpoint without its key.
func (c Config) String() string { return fmt.Sprintf("llm.Config(%s)", c.Model) }

// GoString is String: %v, %+v, %#v, %s and %q do not print the key. Others, which go vet reports, do.
func (c Config) GoString() string { return c.String() }

// The defaults of Config's fields.
const (
	defaultTimeout    = 10 * time.Second
	defaultRetries    = 2
	defaultMaxTokens  = 500
	defaultAPIVersion = "2024-10-21" // the first of Azure that knows json_schema
)

// withDefaults returns c with its defaults filled in, or what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	for _, s := range []*string{&c.Model, &c.Key, &c.BaseURL, &c.Deployment, &c.APIVersion, &c.ReasoningEffort} {
		*s = strings.TrimSpace(*s)
	}
	if c.Model == "" {
		c.Model = c.Deployment
	}
	if c.Deployment == "" {
		c.Deployment = c.Model
	}
	if c.APIVersion == "" {
		c.APIVersion = defaultAPIVersion
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.Format == "" {
		c.Format = FormatSchema
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	switch c.Retries {
	case 0:
		c.Retries = defaultRetries
	case -1:
		c.Retries = 0
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultMaxTokens
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, c.check()
}

func (c Config) check() error {
	switch {
	case c.Key == "" && c.BaseURL == "":
		return errors.New("neither a key nor a base URL is set")
	case c.Model == "":
		return errors.New("no model is set")
	case c.Azure && c.BaseURL == "":
		return errors.New("the base URL of the Azure resource is not set")
	case strings.ContainsFunc(c.Key, func(r rune) bool { return r < 0x21 || r > 0x7e }):
		return errors.New("the key holds a space, a line break or another character that no key has")
	case strings.ContainsFunc(c.Model+c.Deployment, unicode.IsControl):
		return errors.New("the name of the model or deployment holds a line break or another control character")
	case strings.ContainsFunc(c.APIVersion+c.ReasoningEffort, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("the API version or the reasoning effort holds a space or a line break")
	case c.Timeout < 0:
		return errors.New("the timeout is negative")
	case c.Retries < 0 || c.Retries > defaultRetries:
		return fmt.Errorf("retries: -1 is none, 1 and %d are possible", defaultRetries)
	case c.MaxTokens < 0:
		return errors.New("the limit of tokens is negative")
	case !c.Format.valid():
		return fmt.Errorf("unknown format; it is %s, %s or %s", FormatSchema, FormatObject, FormatPlain)
	}
	if c.BaseURL != "" {
		// What is wrong is not quoted: a base URL may carry a secret.
		u, err := url.Parse(c.BaseURL)
		switch {
		case strings.ContainsFunc(c.BaseURL, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
			return errors.New("the base URL holds a space, a line break or another character that no address has")
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return errors.New("the base URL is not an absolute http or https address")
		case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
			return errors.New("the base URL has a query or a fragment")
		case u.User != nil:
			return errors.New("the base URL holds a user name or password")
		}
	}
	return c.dryRun()
}

// dryRun words a request without sending it: go-openai refuses some combinations of model and settings.
func (c Config) dryRun() error {
	unsent := errors.New("not sent")
	doer := doerFunc(func(*http.Request) (*http.Response, error) { return nil, unsent })
	_, err := openai.NewClientWithConfig(c.wire(doer)).CreateChatCompletion(context.Background(), c.request(Call{System: "x", User: "x"}, c.dialect()))
	if errors.Is(err, unsent) {
		return nil
	}
	return err
}

type doerFunc func(*http.Request) (*http.Response, error)

func (f doerFunc) Do(req *http.Request) (*http.Response, error) { return f(req) }

// wire is the configuration for go-openai.
func (c Config) wire(doer openai.HTTPDoer) openai.ClientConfig {
	oc := openai.DefaultConfig(c.Key)
	if c.Azure {
		oc = openai.DefaultAzureConfig(c.Key, c.BaseURL)
		oc.APIVersion = c.APIVersion
		oc.AzureModelMapperFunc = func(string) string { return url.PathEscape(c.Deployment) }
	} else if c.BaseURL != "" {
		oc.BaseURL = c.BaseURL
	}
	oc.HTTPClient = doer
	return oc
}

func (c Config) dialect() dialect { return dialect{c.Format, c.LegacyMaxTokens} }

// request words a call in a dialect.
func (c Config) request(call Call, d dialect) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{
		Model:           c.Model,
		Temperature:     c.Temperature,
		ReasoningEffort: c.ReasoningEffort,
		ResponseFormat:  d.format.wire(call),
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: call.System},
			{Role: openai.ChatMessageRoleUser, Content: call.User},
		},
	}
	limit := c.MaxTokens
	if call.MaxTokens > 0 {
		limit = call.MaxTokens
	}
	if d.legacyTokens {
		req.MaxTokens = limit //lint:ignore SA1019 older servers know only that
	} else {
		req.MaxCompletionTokens = limit
	}
	return req
}
