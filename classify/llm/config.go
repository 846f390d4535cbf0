package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sidecoach/sidecoach/classify"
)

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
