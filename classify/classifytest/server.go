package classifytest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sidecoach/sidecoach/classify"
)

// Server is a real HTTP server on a loopback port that speaks OpenAI chat completions and answers by a script, so that
// a test can see what a classifier makes of an endpoint that is slow, broken or hostile. It is safe for concurrent use.
//
// A request to another path than …/chat/completions is answered 404 and takes nothing from the script.
type Server struct {
	URL string // the base URL to configure in a client: http://127.0.0.1:port/v1

	http *httptest.Server

	mu       sync.Mutex
	script   []Answer
	requests []received
}

// NewServer starts a server that gives each call the next answer of script, and then the last one again and again. An
// empty script answers every call with a completion of confidence 0.95. The server is closed when t ends.
func NewServer(t testing.TB, script ...Answer) *Server {
	t.Helper()
	if len(script) == 0 {
		script = []Answer{Verdict{Type: "completion", Confidence: 0.95, Reason: "shows its result"}.Answer()}
	}
	s := &Server{script: slices.Clone(script)}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL + "/v1"
	t.Cleanup(s.Close)
	return s
}

// Close cuts all connections, those of stuck calls too, and returns when no call is being answered any more.
func (s *Server) Close() {
	_ = s.http.Config.Close() // the listener first; an error says that it is closed already
	s.http.CloseClientConnections()
	s.http.Close()
}

// Calls returns how many requests have arrived, refused ones and those that are still being answered included.
func (s *Server) Calls() int { return len(s.Requests()) }

// Requests returns what has arrived, in order.
func (s *Server) Requests() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// serve records a request and gives the next answer of the script.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	q := received{Path: r.URL.Path, Body: body}
	_ = json.Unmarshal(body, &q) // as far as it can be read
	answer := Status(http.StatusNotFound)
	s.mu.Lock()
	s.requests = append(s.requests, q)
	if strings.HasSuffix(q.Path, "/chat/completions") {
		answer = s.script[0]
		if len(s.script) > 1 {
			s.script = s.script[1:]
		}
	}
	s.mu.Unlock()
	answer(w, r)
}

// received is what a [Server] was asked.
type received struct {
	Path     string `json:"-"` // with the base path: /v1/chat/completions
	Body     []byte `json:"-"` // byte for byte
	Messages []struct{ Role, Content string }
}

// Answer is what a [Server] does with one call: an HTTP handler. The request's body can be read again. An answer that
// waits must stop when the request's context is done; one that panics with [http.ErrAbortHandler] cuts the connection.
type Answer func(w http.ResponseWriter, r *http.Request)

// Verdict is what a judge answers, as the JSON object of the prompt. Its values need not make sense.
type Verdict struct {
	Reason     string              `json:"reason"`
	Type       classify.OutputType `json:"type"`
	Rejected   bool                `json:"rejected"` // also if it coaches
	Confidence float64             `json:"confidence"`
	Coaching   string              `json:"coaching_message"`
}

// JSON returns the object that a judge writes. It is empty if the confidence is not a number.
func (v Verdict) JSON() string {
	v.Rejected = v.Rejected || v.Coaching != ""
	b, _ := json.Marshal(v)
	return string(b)
}

// Answer answers with v, well formed.
func (v Verdict) Answer() Answer { return Text(v.JSON()) }

// Text answers with content as the message.
func Text(content string) Answer {
	message := map[string]any{"role": "assistant", "content": content}
	return respond(http.StatusOK, completion(message, "stop"))
}

// completion is the body of a chat completion with one choice.
func completion(message map[string]any, reason string) string {
	body, _ := json.Marshal(map[string]any{ // strings and numbers: nothing can fail
		"id": "chatcmpl-test", "object": "chat.completion", "created": 1700000000, "model": "test-model",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": reason}},
		"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
	})
	return string(body)
}

// Stuck never answers: it holds the connection until the client goes away or the server is closed.
func Stuck() Answer {
	return func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// Status refuses with a status and an error object: 500, 503 and the like.
func Status(status int) Answer {
	return respond(status, `{"error":{"message":"The server had an error while processing your request"}}`)
}

func respond(status int, body string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
