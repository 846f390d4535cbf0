package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// secrets that no error may hold.
const (
	testKey  = "sk-test-4711-secret"
	bodyText = "words-of-the-server"
	outText  = "words-of-the-agent"
)

// fake is an endpoint without a network: it answers with the replies in turn, the last one again and again.
type fake struct {
	mu       sync.Mutex
	replies  []reply
	requests []recorded
}

type recorded struct {
	Header http.Header
	URL    string
	Body   struct {
		Model               string
		Messages            []struct{ Role, Content string }
		MaxTokens           int             `json:"max_tokens"`
		MaxCompletionTokens int             `json:"max_completion_tokens"`
		Temperature         *float32        `json:"temperature"`
		ResponseFormat      json.RawMessage `json:"response_format"`
	}
	Raw []byte
}

// format is what the request asked for.
func (r recorded) format() Format {
	var f struct{ Type Format }
	if r.Body.ResponseFormat == nil {
		return FormatPlain
	}
	_ = json.Unmarshal(r.Body.ResponseFormat, &f)
	return f.Type
}

type reply func(*http.Request) (*http.Response, error)

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	var seen recorded
	if r.Body != nil {
		seen.Raw, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
		_ = json.Unmarshal(seen.Raw, &seen.Body)
	}
	seen.Header, seen.URL = r.Header.Clone(), r.URL.String()
	f.mu.Lock()
	n := min(len(f.requests), len(f.replies)-1)
	f.requests = append(f.requests, seen)
	f.mu.Unlock()
	return f.replies[n](r)
}

func (f *fake) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

func (f *fake) formats() []Format {
	f.mu.Lock()
	defer f.mu.Unlock()
	var fs []Format
	for _, r := range f.requests {
		fs = append(fs, r.format())
	}
	return fs
}

// status answers with a status, a body and headers in pairs.
func status(code int, body string, header ...string) reply {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

// says answers with a chat completion whose content that is.
func says(content string) reply { return finishes(content, "stop") }

func finishes(content, reason string) reply {
	return status(200, completion(map[string]any{"role": "assistant", "content": content}, reason))
}

func completion(message map[string]any, reason string) string {
	b, err := json.Marshal(map[string]any{
		"model":   "judge-2",
		"choices": []any{map[string]any{"message": message, "finish_reason": reason}},
		"usage": map[string]any{"prompt_tokens": 1500, "completion_tokens": 40,
			"prompt_tokens_details": map[string]any{"cached_tokens": 1280}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// stuck answers when the request is given up.
func stuck(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// breaks fails with an error of the transport.
func breaks(err error) reply {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// garbage is a body without end.
type garbage struct{ read int }

func (g *garbage) Read(p []byte) (int, error) {
	g.read += len(p)
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}

const good = `{"type":"completion","confidence":0.9,"reason":"shown","coaching_message":null}`

func newClient(t testing.TB, f *fake, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{Model: "judge", Key: testKey, Transport: f}
	for _, ch := range change {
		ch(&cfg)
	}
	c, err := NewClient(cfg)
	require.NoError(t, err)
	return c
}

func newJudge(t testing.TB, f *fake, o Options, change ...func(*Config)) *Classifier {
	t.Helper()
	j, err := New(newClient(t, f, change...), o)
	require.NoError(t, err)
	return j
}

func call() Call {
	return Call{System: "Answer in JSON.", User: outText, Schema: schema, Name: "verdict"}
}

// requireDiscreet fails if an error says what it must not.
func requireDiscreet(t testing.TB, err error) {
	t.Helper()
	for _, secret := range []string{testKey, bodyText, outText} {
		require.NotContains(t, err.Error(), secret)
		require.NotContains(t, fmt.Sprintf("%+v", err), secret)
	}
}
