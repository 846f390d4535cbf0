package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Words that no error may contain.
const (
	testKey = "sk-test-4711-secret"
	outText = "words-of-the-agent"
)

// fake is an endpoint without a network: it answers with the replies in turn, the last one again and again.
type fake struct {
	mu       sync.Mutex
	replies  []httpReply
	requests []recorded
}

type httpReply func(*http.Request) (*http.Response, error)

type recorded struct {
	Header http.Header
	URL    string
	Raw    string
	Body   struct {
		Model               string
		Messages            []struct{ Role, Content string }
		MaxTokens           int      `json:"max_tokens"`
		MaxCompletionTokens int      `json:"max_completion_tokens"`
		Temperature         *float32 `json:"temperature"`
		Effort              string   `json:"reasoning_effort"`
		ResponseFormat      *struct {
			Type       string
			JSONSchema struct {
				Strict bool
				Schema json.RawMessage
			} `json:"json_schema"`
		} `json:"response_format"`
	}
}

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	var seen recorded
	b, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(b, &seen.Body)
	seen.Raw, seen.Header, seen.URL = string(b), r.Header.Clone(), r.URL.String()
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

// formats lists what the requests asked for; the plain format has no name in a request.
func (f *fake) formats() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.requests {
		if r.Body.ResponseFormat == nil {
			list = append(list, formatPlain)
		} else {
			list = append(list, r.Body.ResponseFormat.Type)
		}
	}
	return list
}

// status answers with a status, a body and headers in pairs.
func status(code int, body string, header ...string) httpReply {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

// says answers with a chat completion with that content.
func says(content string) httpReply { return finishes(content, "stop") }

func finishes(content, reason string) httpReply {
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

// stuck answers when the request is given up; breaks fails in the transport.
func stuck(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func breaks(err error) httpReply {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

const good = `{"reason":"shown","type":"completion","rejected":false,"confidence":0.9,"coaching_message":null}`

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

func newJudge(t testing.TB, c *Client) *Classifier {
	t.Helper()
	j, err := New(c, Options{})
	require.NoError(t, err)
	return j
}

func question() Call {
	return Call{System: "Answer in JSON.", User: outText, Schema: schema}
}

// requireDiscreet fails if an error has the key or words of the agent.
func requireDiscreet(t testing.TB, err error) {
	t.Helper()
	for _, secret := range []string{testKey, outText} {
		require.NotContains(t, err.Error(), secret)
		require.NotContains(t, fmt.Sprintf("%+v", err), secret)
	}
}
