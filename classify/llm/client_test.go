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
	"net/url"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJSON(t *testing.T) {
	f := &fake{replies: []reply{says("```json\n" + good + "\n```")}}
	a, err := newClient(t, f).JSON(t.Context(), call())
	require.NoError(t, err)
	assert.JSONEq(t, good, string(a.Object))
	assert.Equal(t, "judge-2", a.Usage.Model)
	assert.Equal(t, 1500, a.Usage.PromptTokens)
	assert.Equal(t, 1280, a.Usage.CachedTokens)
	assert.Equal(t, 40, a.Usage.CompletionTokens)
	assert.Equal(t, 1, a.Usage.Attempts)

	r := f.requests[0]
	assert.Equal(t, "https://api.openai.com/v1/chat/completions", r.URL)
	assert.Equal(t, "Bearer "+testKey, r.Header.Get("Authorization"))
	assert.Equal(t, "judge", r.Body.Model)
	assert.Equal(t, 500, r.Body.MaxCompletionTokens)
	assert.Zero(t, r.Body.MaxTokens)
	assert.Nil(t, r.Body.Temperature)
	require.Len(t, r.Body.Messages, 2)
	assert.Equal(t, outText, r.Body.Messages[1].Content)
	var format struct {
		JSONSchema struct {
			Name   string
			Strict bool
			Schema json.RawMessage
		} `json:"json_schema"`
	}
	require.NoError(t, json.Unmarshal(r.Body.ResponseFormat, &format))
	assert.True(t, format.JSONSchema.Strict)
	assert.JSONEq(t, string(schema), string(format.JSONSchema.Schema))
}

// TestFailures is the table of what a server can do wrong: the type of the error and the calls made.
func TestFailures(t *testing.T) {
	body := `{"error":{"message":"` + bodyText + " " + testKey + " " + outText + `","type":"server_error","param":"messages","code":"` + bodyText + `"}}`
	for _, tt := range []struct {
		name  string
		reply reply
		want  error
		calls int
	}{
		{"refusal", status(200, completion(map[string]any{"content": nil, "refusal": bodyText}, "stop")), RefusalError{}, 1},
		{"refusal beside content", status(200, completion(map[string]any{"content": good, "refusal": bodyText}, "stop")), RefusalError{}, 1},
		{"no choices", status(200, `{"choices":[]}`), NoChoiceError{}, 1},
		{"choices missing", status(200, `{}`), NoChoiceError{}, 1},
		{"200 with an error", status(200, body), ReportedError{}, 1},
		{"200 with an error text", status(200, `{"error":"`+bodyText+`"}`), ReportedError{}, 1},
		{"200 with an error beside an answer", status(200, `{"error":{"code":500},"choices":[{"message":{"content":"{}"}}]}`), ReportedError{}, 1},
		{"200 with an error in a choice", status(200, `{"choices":[{"error":{"message":"x"},"message":{"content":"{}"}}]}`), ReportedError{}, 1},
		{"200 that is an error", status(200, `{"object":"error","message":"`+bodyText+`","type":"BadRequestError","code":400}`), ReportedError{}, 1},
		{"200 with an error in a later choice", status(200, `{"choices":[{"message":{"content":"{}"}},{"error":[1]}]}`), ReportedError{}, 1},
		{"refusal as a part", status(200, `{"choices":[{"message":{"content":[{"type":"refusal","refusal":"`+bodyText+`"}]}}]}`), RefusalError{}, 1},
		{"a thought alone", status(200, `{"choices":[{"message":{"content":[{"type":"thinking","thinking":"{}"}]}}]}`), ParseError{"no JSON object in it"}, 1},
		{"choices null", status(200, `{"choices":null}`), NoChoiceError{}, 1},
		{"choices an object", status(200, `{"choices":{"message":{}}}`), ParseError{"the body is no chat completion"}, 1},
		{"a choice that is none", status(200, `{"choices":["`+bodyText+`"]}`), ParseError{"the body is no chat completion"}, 1},
		{"a message that is none", status(200, `{"choices":[{"message":[]}]}`), ParseError{"the body is no chat completion"}, 1},
		{"an array", status(200, `[`+completion(map[string]any{"content": good}, "stop")+`]`), ParseError{"the body is no chat completion"}, 1},
		{"cut off", finishes(good, "length"), LengthError{}, 1},
		{"filtered", finishes("", "content_filter"), FilterError{}, 1},
		{"filtered prompt", status(400, `{"error":{"code":"content_filter","param":"prompt","message":"`+bodyText+`"}}`), FilterError{}, 1},
		{"filtered, said by the inner error", status(400, `{"error":{"code":"400","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`), FilterError{}, 1},
		{"filtered, said by the type", status(400, `{"error":{"code":null,"type":"content_filter"}}`), FilterError{}, 1},
		{"filtered, without an error around it", status(400, `{"code":"content_filter"}`), FilterError{}, 1},
		{"a message that speaks of filters", status(400, `{"error":{"code":"context_length_exceeded","message":"content_filter ResponsibleAIPolicyViolation"}}`), StatusError{Code: 400}, 1},
		{"filter results beside another error", status(400, `{"error":{"code":"model_not_found","param":"model"},"content_filter":{"code":"content_filter"}}`), StatusError{Code: 400}, 1},
		{"not JSON", status(200, "<html>"+bodyText), ParseError{"the body is no chat completion"}, 1},
		{"no body", status(200, ""), ParseError{"the body is no chat completion"}, 1},
		{"half a body", status(200, completion(map[string]any{"content": good}, "stop")[:60]), ParseError{"the body is no chat completion"}, 1},
		{"prose", says("I think " + bodyText), ParseError{"no JSON object in it"}, 1},
		{"empty content", says(""), ParseError{"no JSON object in it"}, 1},
		{"unauthorized", status(401, body), StatusError{Code: 401}, 1},
		{"not found", status(404, body), StatusError{Code: 404}, 1},
		{"a redirect", status(307, "", "Location", "https://elsewhere.example/"), StatusError{Code: 307}, 1},
		{"timeout of the server", status(408, body), StatusError{Code: 408}, 3},
		{"conflict", status(409, body), StatusError{Code: 409}, 3},
		{"too many", status(429, body), StatusError{Code: 429}, 3},
		{"server error", status(500, body), StatusError{Code: 500}, 3},
		{"server error that repeats the request", status(500, `{"response_format":{},"messages":[]}`), StatusError{Code: 500}, 3},
		{"overloaded", status(529, "not JSON"), StatusError{Code: 529}, 3},
		{"too large", func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(&garbage{}), Request: r}, nil
		}, SizeError{}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{replies: []reply{tt.reply}}
				a, err := newClient(t, f).JSON(t.Context(), call())
				require.Error(t, err)
				assert.ErrorIs(t, err, tt.want)
				requireDiscreet(t, err)
				assert.Equal(t, tt.calls, f.calls(), "calls")
				assert.Equal(t, tt.calls, a.Usage.Attempts)
				assert.Nil(t, a.Object)
			})
		})
	}
}

func TestConnectionErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "llm: no answer: connection refused"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "llm: no answer: connection reset"},
		{&net.DNSError{Name: bodyText}, "llm: no answer: no such host"},
		{http.ErrSchemeMismatch, "llm: no answer: the base URL says https, and the server speaks http"},
		{&tls.CertificateVerificationError{Err: errors.New(bodyText)}, "llm: no answer: the server's certificate is not trusted, or not for this host"},
		{io.ErrUnexpectedEOF, "llm: no answer: the connection failed"},
		{fmt.Errorf("malformed HTTP response %q", bodyText+testKey), "llm: no answer: the connection failed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{replies: []reply{breaks(tt.err)}}
			_, err := newClient(t, f).JSON(t.Context(), call())
			assert.ErrorAs(t, err, new(ConnectionError))
			assert.ErrorIs(t, err, tt.err)
			assert.EqualError(t, err, tt.want)
			assert.Equal(t, 3, f.calls())
		})
	}
}

type explained struct{}

func (explained) Error() string   { return "internal" }
func (explained) Explain() string { return "no cassette: record it" }

func TestATransportExplains(t *testing.T) {
	f := &fake{replies: []reply{breaks(explained{})}}
	_, err := newClient(t, f).JSON(t.Context(), call())
	assert.EqualError(t, err, "llm: no cassette: record it")
	assert.Equal(t, 1, f.calls())
}

// TestTruncatedBody is a server that promises more than it sends, over a real connection, and one that stands still in the
// middle of a body.
func TestTruncatedBody(t *testing.T) {
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/short/chat/completions":
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"choices":`)
		case "/endless/chat/completions":
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		default:
			w.WriteHeader(200)
			fmt.Fprint(w, `{"choices":`)
			w.(http.Flusher).Flush()
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}
	}))
	defer srv.Close()
	defer close(stop)
	at := func(path string) func(*Config) {
		return func(c *Config) {
			c.BaseURL, c.Transport, c.Retries, c.Timeout = srv.URL+path, nil, -1, 5*time.Second
			if path == "/stuck" {
				c.Timeout = 50 * time.Millisecond
			}
		}
	}
	_, err := newClient(t, nil, at("/short")).JSON(t.Context(), call())
	assert.ErrorAs(t, err, new(ConnectionError))
	_, err = newClient(t, nil, at("/endless")).JSON(t.Context(), call())
	assert.ErrorIs(t, err, SizeError{})
	_, err = newClient(t, nil, at("/stuck")).JSON(t.Context(), call())
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		name     string
		replies  []reply
		change   func(*Config)
		within   time.Duration // of the context; 0 is no deadline
		calls    int
		min, max time.Duration
		want     error // nil: an answer
	}{
		{name: "once", replies: []reply{status(503, ""), says(good)}, calls: 2, min: 200 * time.Millisecond, max: 400 * time.Millisecond},
		{name: "twice", replies: []reply{status(503, ""), breaks(io.EOF), says(good)}, calls: 3, min: 600 * time.Millisecond, max: 1200 * time.Millisecond},
		{name: "never a third time", replies: []reply{status(503, "")}, calls: 3, min: 600 * time.Millisecond, max: 1200 * time.Millisecond, want: StatusError{Code: 503}},
		{name: "switched off", replies: []reply{status(503, "")}, change: func(c *Config) { c.Retries = -1 }, calls: 1, want: StatusError{Code: 503}},
		{name: "one", replies: []reply{status(503, "")}, change: func(c *Config) { c.Retries = 1 }, calls: 2, min: 200 * time.Millisecond, max: 400 * time.Millisecond, want: StatusError{Code: 503}},
		{name: "Retry-After in seconds", replies: []reply{status(429, "", "Retry-After", "3"), says(good)}, calls: 2, min: 3 * time.Second, max: 3200 * time.Millisecond},
		{name: "Retry-After in milliseconds", replies: []reply{status(429, "", "Retry-After-Ms", "1500", "Retry-After", "2"), says(good)}, calls: 2, min: 1500 * time.Millisecond, max: 1700 * time.Millisecond},
		{name: "Retry-After on 503", replies: []reply{status(503, "", "Retry-After", "2"), says(good)}, calls: 2, min: 2 * time.Second, max: 2200 * time.Millisecond},
		{name: "Retry-After beyond the timeout", replies: []reply{status(429, "", "Retry-After", "60")}, calls: 1, want: StatusError{429, 60 * time.Second}},
		{name: "Retry-After beyond the context", replies: []reply{status(429, "", "Retry-After", "3")}, within: 2 * time.Second, calls: 1, want: StatusError{429, 3 * time.Second}},
		{name: "Retry-After beyond all bounds", replies: []reply{status(429, "", "Retry-After", "99999999999999999999")}, calls: 1, want: StatusError{429, never}},
		{name: "Retry-After at the end of time", replies: []reply{status(429, "", "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")}, calls: 1, want: StatusError{429, never}},
		{name: "Retry-After that says nothing", replies: []reply{status(429, "", "Retry-After", "soon"), says(good)}, calls: 2, min: 200 * time.Millisecond, max: 400 * time.Millisecond},
		{name: "a negative Retry-After", replies: []reply{status(429, "", "Retry-After", "-5"), says(good)}, calls: 2, min: 200 * time.Millisecond, max: 400 * time.Millisecond},
		{name: "no time for a retry", replies: []reply{status(503, "")}, within: 150 * time.Millisecond, calls: 1, want: StatusError{Code: 503}},
		{name: "stuck", replies: []reply{stuck}, calls: 1, min: 10 * time.Second, max: 10 * time.Second, want: context.DeadlineExceeded},
		{name: "stuck, timeout of its own", replies: []reply{stuck}, change: func(c *Config) { c.Timeout = time.Minute }, calls: 1, min: time.Minute, max: time.Minute, want: context.DeadlineExceeded},
		{name: "stuck, shorter context", replies: []reply{stuck}, within: time.Second, calls: 1, min: time.Second, max: time.Second, want: context.DeadlineExceeded},
		{name: "stuck on the retry", replies: []reply{status(500, ""), stuck}, calls: 2, min: 10 * time.Second, max: 10 * time.Second, want: context.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{replies: tt.replies}
				change := tt.change
				if change == nil {
					change = func(*Config) {}
				}
				c := newClient(t, f, change)
				ctx := t.Context()
				if tt.within > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.within)
					defer cancel()
				}
				start := time.Now()
				a, err := c.JSON(ctx, call())
				took := time.Since(start)
				if tt.want == nil {
					require.NoError(t, err)
					assert.Equal(t, tt.calls, a.Usage.Attempts)
				} else {
					require.ErrorIs(t, err, tt.want)
				}
				assert.Equal(t, took, a.Usage.Latency)
				assert.Equal(t, tt.calls, f.calls())
				assert.GreaterOrEqual(t, took, tt.min)
				assert.LessOrEqual(t, took, tt.max)
			})
		})
	}
}

func TestRetryAfterDate(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"Sun, 01 Mar 2026 12:00:07 GMT": 7 * time.Second, "Sun, 01 Mar 2026 11:00:00 GMT": 0, "Fri, 31 Dec 9999 23:59:59 GMT": never, "0": 0, "": 0, "1.5": 1500 * time.Millisecond, "NaN": 0, "+Inf": never,
	} {
		assert.Equal(t, want, retryAfter(http.Header{"Retry-After": {in}}, now), in)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"3", "1e300", "-1", "NaN", "0x10p99999", "Sun, 01 Mar 2026 12:00:07 GMT"} {
		f.Add(s, int64(0))
	}
	f.Fuzz(func(t *testing.T, s string, unix int64) {
		d := retryAfter(http.Header{"Retry-After": {s}, "Retry-After-Ms": {s}}, time.Unix(unix, 0))
		if d < 0 {
			t.Fatalf("%q: %v", s, d)
		}
		if n, err := strconv.ParseUint(s, 10, 20); err == nil && n > 0 && d != time.Duration(n)*time.Millisecond {
			t.Fatalf("%q: %v", s, d)
		}
	})
}

func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{status(429, "", "Retry-After", "5")}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err := newClient(t, f).JSON(ctx, call())
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Second, time.Since(start))
		assert.Equal(t, 1, f.calls())
	})
}

func TestDoneContextMakesNoCall(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newClient(t, f).JSON(ctx, call())
	assert.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, f.calls())
}

func TestCheck(t *testing.T) {
	c := call()
	c.Check = func(json.RawMessage) error { return errors.New("no such verdict") }
	_, err := newClient(t, &fake{replies: []reply{says(good)}}).JSON(t.Context(), c)
	assert.ErrorIs(t, err, ParseError{"no such verdict"})
}

func TestBadCallsAreNotMade(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	for _, c := range []Call{{Schema: schema}, {Schema: schema, Name: "a b"}, {Schema: json.RawMessage("{"), Name: "x"}} {
		_, err := newClient(t, f).JSON(t.Context(), c)
		assert.Error(t, err)
	}
	assert.Zero(t, f.calls())
}

// TestRedirectsAreNotFollowed: neither key nor text go to another host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	defer elsewhere.Close()
	srv := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	_, err := newClient(t, nil, func(c *Config) { c.BaseURL, c.Transport = srv.URL, nil }).JSON(t.Context(), call())
	assert.ErrorIs(t, err, StatusError{Code: 307})
}

func TestErrorsDoNotHoldTheURL(t *testing.T) {
	f := &fake{replies: []reply{breaks(io.EOF)}}
	_, err := newClient(t, f, func(c *Config) { c.Retries = -1 }).JSON(t.Context(), call())
	assert.False(t, errors.As(err, new(*url.Error)))
}

func TestDelaysJitter(t *testing.T) {
	for _, err := range []error{StatusError{Code: 503}, StatusError{429, time.Second}} {
		seen := make(map[time.Duration]bool)
		for range 20 {
			seen[delay(0, err)] = true
		}
		assert.Greater(t, len(seen), 1, "%v", err)
	}
}

func ExampleClient_JSON() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, completion(map[string]any{"content": `Sure: {"risk": "low"}`}, "stop"))
	}))
	defer srv.Close()
	client, err := NewClient(Config{Model: "judge", BaseURL: srv.URL + "/v1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var verdict struct{ Risk string }
	answer, err := client.JSON(context.Background(), Call{
		System: `Judge the risk of a change. Answer in JSON: {"risk": "low" | "high"}`,
		User:   "README: fix a typo",
		Check:  func(object json.RawMessage) error { return json.Unmarshal(object, &verdict) },
	})
	fmt.Println(verdict.Risk, answer.Usage.PromptTokens, err)
	// Output: low 1500 <nil>
}
