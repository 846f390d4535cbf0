package classifytest

import (
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// afterHalf sends status 200 and half of the body of a good answer before then.
func afterHalf(then Answer) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		body := said(Verdict{Type: classify.Completion, Confidence: 0.95}.JSON(), "", "stop")
		_, _ = io.WriteString(w, body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		then(w, r)
	}
}

// echo refuses with a status and a message that repeats the key and the request, as careless endpoints do.
func echo(status int) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		message := "refused: " + r.Header.Get("Authorization") + " " + r.Header.Get("Api-Key") + " " + string(body)
		text, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message}})
		respond(status, string(text))(w, r)
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
//go:embed testdata/misbehaviours.jsonl
var misbehavioursText string

// said is the body of a chat completion. With a refusal its content is null.
func said(content, refusal, reason string) string {
	if refusal != "" {
		return completion(map[string]any{"content": nil, "refusal": refusal}, reason)
	}
	return completion(map[string]any{"content": content, "refusal": nil}, reason)
}

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
	}
	filled := strings.NewReplacer("{verdict}", object, "{fields}", object[1:], "{half}", object[:len(object)/2],
		"{type}", string(v.Type), "{other}", string(other))
	for line := range strings.Lines(misbehavioursText) {
		var m struct {
			misbehaviour
			reply
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil { // a test reads it
			panic(err)
		}
		answer := respond(http.StatusOK, said(filled.Replace(m.Content), m.Refusal, cmp.Or(m.Finish, "stop")))
		switch {
		case m.Body != nil:
			answer = respond(cmp.Or(m.Status, http.StatusOK), *m.Body)
		case m.Status != 0:
			answer = Status(m.Status)
		}
		m.Answer = func(w http.ResponseWriter, r *http.Request) {
			for name, value := range m.Header {
				w.Header().Set(name, value)
			}
			answer(w, r)
		}
		list = append(list, m.misbehaviour)
	}
	return list
}
