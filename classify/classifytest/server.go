package classifytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// maxRequest is how many bytes of a request's body a Server reads.
const maxRequest = 16 << 20

// Server is a real HTTP server on a loopback port that speaks OpenAI chat completions and answers by a script, so that
// a test can see what a classifier makes of an endpoint that is slow, broken, strict or hostile. It is safe for
// concurrent use.
//
// Before the script is asked, a request is checked as a strict endpoint would check it: model, messages,
// response_format and, for json_schema with strict, the schema. A request that fails is answered 400 with the reason
// and takes nothing from the script, as does one to another path than …/chat/completions, which is answered 404.
type Server struct {
	URL string // the base URL to configure in a client: http://127.0.0.1:port/v1

	t       testing.TB
	http    *http.Server
	served  chan struct{}
	working sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	script   []Answer
	next     int
	requests []Request
}

// NewServer starts a server that gives the first call the first answer of script, the second the second, and all calls
// after the last answer that one again. An empty script answers every call with a completion of confidence 0.95.
// The server is closed when t ends.
func NewServer(t testing.TB, script ...Answer) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("classifytest: server: %v", err)
	}
	if len(script) == 0 {
		script = []Answer{Say(Verdict{Type: "completion", Confidence: 0.95, Reason: "shows its result"})}
	}
	s := &Server{URL: "http://" + l.Addr().String() + "/v1", t: t, served: make(chan struct{}),
		script: slices.Clone(script)}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // always ErrServerClosed, or a listener that is gone, which the client sees
	}()
	t.Cleanup(s.Close)
	return s
}

// Close cuts all connections, those of stuck calls too, and returns when no call is being answered any more. What was
// recorded stays. Closing twice is allowed.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.http.Close() // which ends the contexts of calls; an error says that a connection was gone already
	s.working.Wait()
	<-s.served
}

// Calls returns how many requests have arrived, refused ones and those that are still being answered included.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// Requests returns what has arrived, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.working.Add(1)
	s.mu.Unlock()
	defer s.leave()

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	q := newRequest(r, body)
	answer := s.admit(q, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer(w, r)
}

// leave ends a call. A panic of an answer fails the test; http.ErrAbortHandler is how an answer cuts its connection.
func (s *Server) leave() {
	p := recover()
	if p != nil && p != http.ErrAbortHandler {
		s.t.Errorf("classifytest: an answer panicked: %v", p)
	}
	s.working.Done()
	if p != nil {
		panic(http.ErrAbortHandler)
	}
}

// admit records a request and returns the answer that it gets.
func (s *Server) admit(q Request, readErr error) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, q)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(readErr, &tooLarge) {
		return fail(http.StatusRequestEntityTooLarge, "invalid_request_error", "the request's body is too large", "")
	}
	if readErr != nil {
		return HangUp()
	}
	if q.Method != http.MethodPost || !strings.HasSuffix(q.Path, "/chat/completions") {
		return fail(http.StatusNotFound, "invalid_request_error", "Invalid URL ("+q.Method+" "+q.Path+")", "")
	}
	if err := check(q.Body); err != nil {
		return fail(http.StatusBadRequest, "invalid_request_error", err.Error(), "")
	}
	answer := s.script[min(s.next, len(s.script)-1)]
	s.next++
	if answer == nil {
		return fail(http.StatusInternalServerError, "server_error", "the script has a nil answer here", "")
	}
	return answer
}

// Request is what a [Server] was asked. Model, Format and Messages are read from Body as far as it can be read.
type Request struct {
	Method, Path string    // Path is with the base path: /v1/chat/completions
	HasKey       bool      // in one of the headers that carry one
	Body         []byte    // byte for byte, at most 16 MiB
	At           time.Time // when it had arrived

	Model    string
	Format   string // response_format's type: "json_schema", "json_object", "text"; empty when there is none
	Messages []Message
}

// Message is one message of a chat request. A content in parts is its text parts, one after another.
type Message struct{ Role, Content string }

// Prompt returns the contents of all messages, with an empty line between them.
func (q Request) Prompt() string {
	var all []string
	for _, m := range q.Messages {
		all = append(all, m.Content)
	}
	return strings.Join(all, "\n\n")
}

func newRequest(r *http.Request, body []byte) Request {
	q := Request{Method: r.Method, Path: r.URL.Path, Body: body, At: time.Now(),
		HasKey: r.Header.Get("Authorization")+r.Header.Get("Api-Key") != ""}
	c, _ := parseChat(body)
	q.Model = c.Model
	if c.Format != nil {
		q.Format = c.Format.Type
	}
	for _, m := range c.Messages {
		q.Messages = append(q.Messages, Message{m.Role, m.Content.text})
	}
	return q
}

// chat is the part of a chat-completion request that is looked at.
type chat struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Format *struct {
		Type   string `json:"type"`
		Schema *struct {
			Name   string          `json:"name"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func parseChat(body []byte) (c chat, err error) {
	err = json.Unmarshal(body, &c)
	return c, err
}

// content is a message's text; ok is false where it is neither text nor a list of parts.
type content struct {
	text string
	ok   bool
}

func (c *content) UnmarshalJSON(b []byte) error {
	var parts []struct{ Text string }
	switch {
	case string(b) == "null":
	case json.Unmarshal(b, &c.text) == nil:
		c.ok = true
	case json.Unmarshal(b, &parts) == nil:
		c.ok = true
		for _, p := range parts {
			c.text += p.Text
		}
	}
	return nil
}
