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

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.admit(r, body)(w, r)
}

// admit records a request and returns the answer that it gets.
func (s *Server) admit(r *http.Request, body []byte) Answer {
	q := received{Path: r.URL.Path, Body: body}
	q.HasKey = r.Header.Get("Authorization")+r.Header.Get("Api-Key") != ""
	_ = json.Unmarshal(body, &q) // as far as it can be read
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, q)
	if !strings.HasSuffix(q.Path, "/chat/completions") {
		return Status(http.StatusNotFound)
	}
	answer := s.script[0]
	if len(s.script) > 1 {
		s.script = s.script[1:]
	}
	return answer
}

// received is what a [Server] was asked.
type received struct {
	Path     string `json:"-"` // with the base path: /v1/chat/completions
	HasKey   bool   `json:"-"` // in one of the headers that carry one
	Body     []byte `json:"-"` // byte for byte
	Messages []struct{ Role, Content string }
}
