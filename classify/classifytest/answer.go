package classifytest

import (
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify"
)

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
func Text(content string) Answer { return respond(http.StatusOK, completion(content, "", "stop"), nil) }

// completion is the body of a chat completion with one choice. With a refusal its content is null.
func completion(content, refusal, reason string) string {
	message := map[string]any{"role": "assistant", "content": content, "refusal": nil}
	if refusal != "" {
		message["content"], message["refusal"] = nil, refusal
	}
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

// Status refuses with a status and the error object that belongs to it: 500, 503 and the like.
func Status(status int) Answer { return respond(status, problem(status), nil) }

func problem(status int, more ...string) string {
	kind := "server_error"
	if status < 500 {
		kind = "invalid_request_error"
	}
	message := strings.Join(append([]string{"The server had an error while processing your request"}, more...), " ")
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil}})
	return string(body)
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// afterHalf sends status 200 and half of the body of a good answer before then.
func afterHalf(then Answer) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		body := completion(Verdict{Type: classify.Completion, Confidence: 0.95}.JSON(), "", "stop")
		_, _ = io.WriteString(w, body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		then(w, r)
	}
}

func respond(status int, body string, header map[string]string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// echo refuses with a status and a message that repeats the key and the request, as careless endpoints do.
func echo(status int) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		respond(status, problem(status, r.Header.Get("Authorization"), r.Header.Get("Api-Key"), string(body)), nil)(w, r)
	}
}

// garbage sends a status and 100 MiB that are not JSON. Compressed, they are few bytes until the client unpacks them.
func garbage(status int, compressed bool) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		var to io.Writer = w
		if compressed {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			to = z
		}
		w.WriteHeader(status)
		noise := []byte(strings.Repeat("\" lorem ipsum \\\\ [{ ", 5000)) // a string that a JSON parser swallows whole
		for sent, err := 0, error(nil); sent < 100<<20 && err == nil; sent += len(noise) {
			_, err = to.Write(noise)
		}
	}
}

// misbehaviour is one way in which an endpoint does not answer as it should.
type misbehaviour struct {
	Name   string
	Answer Answer `json:"-"`
	// Readable says that a lenient reader still finds the verdict in it.
	Readable bool
}

// misbehavioursText has a [misbehaviour] and its reply a line. Words in braces stand for parts of a verdict.
//
//go:embed misbehaviours.jsonl
var misbehavioursText string

type reply struct {
	Status                   int // 0 is 200
	Header                   map[string]string
	Body                     *string // else a chat completion, or an error object with another status
	Content, Refusal, Finish string  // of the chat completion
}

// Misbehaviours returns all that this package knows, fresh: of the network, of the server, and of the model, whose
// answers hide v. Most are answers to every call; a test that goes on to something better scripts it after them.
func (v Verdict) Misbehaviours() []misbehaviour {
	object, other := v.JSON(), classify.Question
	if v.Type == other {
		other = classify.Blocker
	}
	list := []misbehaviour{
		{Name: "stuck", Answer: Stuck()},
		{Name: "stuck in the body", Answer: afterHalf(Stuck())},
		{Name: "truncated body", Answer: afterHalf(hangUp)},
		{Name: "hangs up", Answer: hangUp},
		{Name: "401 with the key in it", Answer: echo(http.StatusUnauthorized)},
		{Name: "500 that repeats the request", Answer: echo(http.StatusInternalServerError)},
		{Name: "garbage", Answer: garbage(http.StatusOK, false)},
		{Name: "garbage as an error", Answer: garbage(http.StatusInternalServerError, false)},
		{Name: "garbage compressed", Answer: garbage(http.StatusOK, true)},
		{Name: "nested without end", Answer: Text(strings.Repeat(`{"a":[`, 50_000))},
		{Name: "byte order mark before the body", Readable: true,
			Answer: respond(http.StatusOK, "\ufeff"+completion(object, "", "stop"), nil)},
	}
	filled := strings.NewReplacer("{verdict}", object, "{fields}", object[1:], "{half}", object[:len(object)/2],
		"{type}", string(v.Type), "{other}", string(other),
		"{in an hour}", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	for line := range strings.Lines(misbehavioursText) {
		var m struct {
			misbehaviour
			reply
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil { // a test reads it
			panic(err)
		}
		body := completion(filled.Replace(m.Content), m.Refusal, cmp.Or(m.Finish, "stop"))
		switch {
		case m.Body != nil:
			body = *m.Body
		case m.Status != 0:
			body = problem(m.Status)
		}
		for name, value := range m.Header {
			m.Header[name] = filled.Replace(value)
		}
		m.Answer = respond(cmp.Or(m.Status, http.StatusOK), body, m.Header)
		list = append(list, m.misbehaviour)
	}
	return list
}
