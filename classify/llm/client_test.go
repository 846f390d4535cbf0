package llm

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJSON(t *testing.T) {
	f := &fake{replies: []httpReply{says("```json\n" + good + "\n```")}}
	cold := 0.0
	a, err := newClient(t, f, func(c *Config) { c.Temperature, c.Effort = &cold, "low" }).JSON(t.Context(), question())
	require.NoError(t, err)
	assert.JSONEq(t, good, string(a.Object))
	assert.Equal(t, "judge-2", a.Usage.Model)
	assert.Equal(t, []int{1500, 1280, 40, 1},
		[]int{a.Usage.PromptTokens, a.Usage.CachedTokens, a.Usage.CompletionTokens, a.Usage.Attempts})

	r := f.requests[0]
	assert.Equal(t, "https://api.openai.com/v1/chat/completions", r.URL)
	assert.Equal(t, "Bearer "+testKey, r.Header.Get("Authorization"))
	assert.Equal(t, "judge", r.Body.Model)
	assert.Equal(t, "low", r.Body.Effort)
	assert.Equal(t, 500, r.Body.MaxCompletionTokens)
	assert.Zero(t, r.Body.MaxTokens)
	require.NotNil(t, r.Body.Temperature, "0 is sent, too")
	assert.InDelta(t, 0, *r.Body.Temperature, 1e-6)
	require.Len(t, r.Body.Messages, 2)
	assert.Equal(t, outText, r.Body.Messages[1].Content)
	assert.True(t, r.Body.ResponseFormat.JSONSchema.Strict)
	assert.JSONEq(t, string(schema), string(r.Body.ResponseFormat.JSONSchema.Schema))
}

// Everything that a server can do wrong: the kind of the error, its text, and the calls made.
func TestFailures(t *testing.T) {
	body := func(message string) string {
		b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "server_error",
			"param": "messages"}})
		return string(b)
	}
	const noChat, noObject = "unparseable answer: the body is not a chat completion",
		"unparseable answer: no JSON object in it"
	for _, tt := range []struct {
		name     string
		reply    httpReply
		answered bool
		text     string
		calls    int
	}{
		{"refusal", status(200, completion(map[string]any{"content": nil, "refusal": "I can't"}, "stop")), true,
			"the model refused to answer", 1},
		{"cut off", finishes(good, "length"), true, "the answer was cut off at the limit of tokens", 1},
		{"filtered", finishes("", "content_filter"), true, "a content filter withheld the answer", 1},
		{"filtered prompt", status(400, `{"error":{"code":"content_filter","param":"prompt"}}`), true,
			"a content filter withheld the answer", 1},
		{"filtered, Azure", status(400, `{"error":{"code":"400","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`),
			true, "a content filter withheld the answer", 1},
		{"no choices", status(200, `{"choices":[]}`), true, "unparseable answer: it has no choices", 1},
		{"200 with an error", status(200, body("model is loading")), true,
			"unparseable answer: it has no choices", 1},
		{"choices of another type", status(200, `{"choices":{"message":{}}}`), true, noChat, 1},
		{"not JSON", status(200, "<html>"), true, noChat, 1},
		{"no body", status(200, ""), true, noChat, 1},
		{"prose", says("I think so"), true, noObject, 1},
		{"unauthorized", status(401, body("bad key "+testKey)), false,
			"the endpoint answered 401 Unauthorized (is the key right?): bad key [key]", 1},
		{"not found", status(404, body("no such model")), false,
			"the endpoint answered 404 Not Found (are base URL and model right?): no such model", 1},
		{"a redirect", status(307, "", "Location", "https://elsewhere.example/"), false,
			"the endpoint answered 307 Temporary Redirect (redirects are not followed)", 1},
		{"conflict", status(409, ""), false, "the endpoint answered 409 Conflict", 3},
		{"too many", status(429, body("slow\x1b[31m down\u202e")), false,
			"the endpoint answered 429 Too Many Requests: slow down", 3},
		{"server error that repeats the request", status(500, body("sent Answer in JSON. "+outText)), false,
			"the endpoint answered 500 Internal Server Error", 3},
		{"overloaded", status(529, "not JSON"), false, "the endpoint answered 529: not JSON", 3},
		{"no model of ours with these settings", nil, false, "the call cannot be made: ", 0},
		{"too large", func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(endless{}), Request: r}, nil
		}, true, "unparseable answer: it is larger than 1 MiB", 1},
		{"refused", breaks(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), false, "no answer: connection refused",
			3},
		{"reset", breaks(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), false, "no answer: connection reset by peer", 3},
		{"no host", breaks(&net.DNSError{Name: outText}), false, "no answer: no such host", 3},
		{"http", breaks(http.ErrSchemeMismatch), false,
			"no answer: the base URL says https, and the server speaks http", 3},
		{"certificate", breaks(&tls.CertificateVerificationError{Err: errors.New(outText)}), false,
			"no answer: the server's certificate is not trusted, or is for another host", 3},
		{"malformed", breaks(fmt.Errorf("malformed HTTP response %q", outText)), false,
			"no answer: the connection failed", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{replies: []httpReply{tt.reply}}
				c := newClient(t, f, func(c *Config) {
					if tt.reply == nil {
						hot := 0.7
						c.Model, c.Temperature = "gpt-5-mini", &hot
					}
				})
				a, err := c.JSON(t.Context(), question())
				var e *Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, tt.answered, e.Answered)
				if text := "llm: " + tt.text; strings.HasSuffix(text, ": ") {
					assert.Contains(t, err.Error(), text)
				} else {
					assert.EqualError(t, err, text)
				}
				if !strings.Contains(tt.text, "[key]") {
					requireDiscreet(t, err)
				}
				assert.Equal(t, tt.calls, f.calls(), "calls")
				assert.Nil(t, a.Object)
			})
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Over a real connection: half a body, and one that stands still.
func TestBodies(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/short/chat/completions" {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"choices":`)
			return
		}
		fmt.Fprint(w, `{"choices":`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	at := func(path string, timeout time.Duration) *Client {
		return newClient(t, nil, func(c *Config) {
			c.BaseURL, c.Transport, c.Retries, c.Timeout = srv.URL+path, nil, -1, timeout
		})
	}
	var e *Error
	_, err := at("/short", time.Minute).JSON(t.Context(), question())
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "no answer: the connection failed", e.Why)
	_, err = at("/stuck", 50*time.Millisecond).JSON(t.Context(), question())
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestRetries(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name     string
		replies  []httpReply
		retries  int
		within   time.Duration // of the context; 0 is no deadline
		calls    int
		min, max time.Duration
		fails    bool
	}{
		{name: "once", replies: []httpReply{status(503, ""), says(good)}, calls: 2, min: 200 * ms, max: 400 * ms},
		{name: "twice", replies: []httpReply{status(503, ""), breaks(io.EOF), says(good)}, calls: 3, min: 600 * ms,
			max: 1200 * ms},
		{name: "never a third time", replies: []httpReply{status(503, "")}, calls: 3, min: 600 * ms, max: 1200 * ms,
			fails: true},
		{name: "switched off", replies: []httpReply{status(503, "")}, retries: -1, calls: 1, fails: true},
		{name: "Retry-After", replies: []httpReply{status(429, "", "Retry-After", "3"), says(good)}, calls: 2,
			min: 3 * time.Second, max: 3200 * ms},
		{name: "Retry-After beyond the timeout", replies: []httpReply{status(429, "", "Retry-After", "60")}, calls: 1,
			fails: true},
		{name: "Retry-After that says nothing", replies: []httpReply{status(429, "", "Retry-After", "-5"), says(good)},
			calls: 2, min: 200 * ms, max: 400 * ms},
		{name: "no time for a retry", replies: []httpReply{status(503, "")}, within: 150 * ms, calls: 1, fails: true},
		{name: "stuck", replies: []httpReply{stuck}, calls: 1, min: 10 * time.Second, max: 10 * time.Second, fails: true},
		{name: "stuck, shorter context", replies: []httpReply{stuck}, within: time.Second, calls: 1, min: time.Second,
			max: time.Second, fails: true},
		{name: "stuck on the retry", replies: []httpReply{status(500, ""), stuck}, calls: 2, min: 10 * time.Second,
			max: 10 * time.Second, fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{replies: tt.replies}
				ctx := t.Context()
				if tt.within > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.within)
					defer cancel()
				}
				start := time.Now()
				a, err := newClient(t, f, func(c *Config) { c.Retries = tt.retries }).JSON(ctx, question())
				took := time.Since(start)
				assert.Equal(t, tt.fails, err != nil, "%v", err)
				assert.Equal(t, tt.calls, f.calls())
				assert.Equal(t, tt.calls, a.Usage.Attempts)
				assert.Equal(t, took, a.Usage.Latency)
				assert.True(t, tt.min <= took && took <= tt.max, "%v", took)
			})
		})
	}
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []httpReply{says("no verdict")}}
		c := newClient(t, f)
		ask := func() error { _, err := c.JSON(t.Context(), question()); return err }
		for range maxFailures {
			require.NotErrorIs(t, ask(), ErrOpen)
		}
		require.ErrorIs(t, ask(), ErrOpen)
		assert.ErrorContains(t, ask(), "for another 30s")
		assert.Equal(t, maxFailures, f.calls())

		time.Sleep(openFor)
		require.NotErrorIs(t, ask(), ErrOpen, "one call tries")
		require.ErrorIs(t, ask(), ErrOpen)

		time.Sleep(openFor)
		f.replies = []httpReply{finishes("", "length")}
		require.NotErrorIs(t, ask(), ErrOpen)
		require.NotErrorIs(t, ask(), ErrOpen, "a refusal is an answer")

		// A call that is cancelled, and a client without a breaker.
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 * maxFailures {
			_, err := c.JSON(gone, question())
			require.ErrorIs(t, err, context.Canceled)
		}
		require.NotErrorIs(t, ask(), ErrOpen)
		f = &fake{replies: []httpReply{says("no verdict")}}
		c = newClient(t, f, func(c *Config) { c.NoBreaker = true })
		for range 2 * maxFailures {
			require.NotErrorIs(t, ask(), ErrOpen)
		}
	})
}

func TestBrokenSchema(t *testing.T) {
	_, err := newClient(t, &fake{}).JSON(t.Context(), Call{Schema: json.RawMessage("{")})
	assert.EqualError(t, err, "llm: the schema of a call is not JSON")
}

func TestCheckAndKey(t *testing.T) {
	f := &fake{replies: []httpReply{says(`{"type":"status","reason":"` + testKey + `"}`)}}
	c := newClient(t, f)
	call := question()
	call.Check = func(object json.RawMessage) error {
		assert.NotContains(t, string(object), testKey)
		return errors.New("not this one")
	}
	_, err := c.JSON(t.Context(), call)
	assert.EqualError(t, err, "llm: unparseable answer: not this one")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		c := newClient(t, &fake{})
		for _, v := range []any{c, newJudge(t, c), Config{Model: "m", Key: testKey}} {
			assert.NotContains(t, fmt.Sprintf(verb, v), testKey, verb)
		}
	}
}
