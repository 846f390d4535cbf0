package classifytest

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify"
)

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
