package classifytest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify"
)

// misbehaviour is one way in which an endpoint does not answer as it should.
type misbehaviour struct {
	Name   string
	Answer Answer
	// Readable says that a lenient reader still finds the verdict in it.
	Readable bool
}

// Misbehaviours returns all that this package knows, fresh: of the network, of the server, and of the model, whose
// answers hide v. Most are answers to every call; a test that goes on to something better scripts it after them.
func (v Verdict) Misbehaviours() []misbehaviour {
	object := v.JSON()
	odd := func(confidence any, t string) string {
		return fmt.Sprintf(`{"type":%s,"confidence":%v,"reason":"because","coaching_message":null}`, t, confidence)
	}
	kind := fmt.Sprintf("%q", v.Type)
	other := Verdict{Type: classify.Question, Confidence: 0.5, Reason: "a first thought"}
	if v.Type == classify.Question {
		other.Type = classify.Blocker
	}
	bad := func(name string, a Answer) misbehaviour { return misbehaviour{Name: name, Answer: a} }
	ok := func(name, body string) misbehaviour { return bad(name, respond(http.StatusOK, body)) }
	odds := func(name, content string) misbehaviour { return misbehaviour{name, Text(content), true} }
	limited := func(name, after string) misbehaviour {
		return bad(name, respond(http.StatusTooManyRequests, problem("requests", "Rate limit reached"), "Retry-After", after))
	}
	return []misbehaviour{
		bad("stuck", Stuck()),
		bad("stuck in the body", afterHalf(Stuck())),
		bad("truncated body", afterHalf(hangUp)),
		bad("hangs up", hangUp),
		bad("401 with the key in it", echo(http.StatusUnauthorized, false)),
		bad("403", Status(http.StatusForbidden)),
		bad("404", Status(http.StatusNotFound)),
		bad("408", Status(http.StatusRequestTimeout)),
		bad("409", Status(http.StatusConflict)),
		bad("429", Status(http.StatusTooManyRequests)),
		limited("429 for an hour", "3600"),
		limited("429 until a date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)),
		limited("429 with a nonsense Retry-After", "-1 fortnights"),
		bad("500", Status(http.StatusInternalServerError)),
		bad("500 that repeats the request", echo(http.StatusInternalServerError, true)),
		bad("502 in HTML", respond(http.StatusBadGateway, "<html><h1>502 Bad Gateway</h1></html>")),
		bad("503", Status(http.StatusServiceUnavailable)),
		bad("error that is a string", respond(http.StatusBadRequest, `{"error":"no such thing"}`)),
		bad("redirect to itself", respond(http.StatusTemporaryRedirect, "", "Location", "/v1/chat/completions")),
		bad("no content", respond(http.StatusNoContent, "")),
		ok("empty body", ""),
		ok("HTML", "<html>Sign in to the guest network</html>"),
		ok("null", "null"),
		ok("an array", `[{"choices":[]}]`),
		ok("no choices", `{"id":"x","object":"chat.completion","choices":[]}`),
		ok("choices of null", `{"choices":[null]}`),
		ok("200 with an error", `{"error":{"message":"Provider returned error","code":502}}`),
		bad("garbage", garbage(http.StatusOK, false)),
		bad("garbage as an error", garbage(http.StatusInternalServerError, false)),
		bad("garbage compressed", garbage(http.StatusOK, true)),

		ok("refusal", completion("", "I'm sorry, I can't help with that.", "stop")),
		ok("cut at the length", completion(object[:len(object)/2], "", "length")),
		ok("content filter", completion("", "", "content_filter")),
		bad("empty content", Text("")),
		bad("prose only", Text("The agent seems to be done, I would say.")),
		bad("unknown type", Text(odd(0.9, `"maybe"`))),
		bad("type of the wrong type", Text(odd(0.9, "7"))),
		bad("no type", Text(`{"confidence":0.9,"reason":"because","coaching_message":null}`)),
		bad("empty object", Text("{}")),
		bad("an unfinished object", Text(object[:len(object)-1])),
		bad("nested without end", Text(strings.Repeat(`{"a":[`, 50_000))),

		odds("prose around", "Sure! Here is my verdict:\n\n"+object+"\n\nLet me know if you need more."),
		odds("fences", "```json\n"+object+"\n```"),
		odds("two objects", other.JSON()+"\n"+object),
		odds("duplicate keys", `{"type":"`+string(other.Type)+`",`+object[1:]),
		odds("byte order mark", "\ufeff"+object),
		{"byte order mark before the body", respond(http.StatusOK, "\ufeff"+completion(object, "", "stop")), true},
		odds("confidence above 1", odd(1.7, kind)),
		odds("confidence below 0", odd(-3, kind)),
		odds("confidence in per cent", odd(95, kind)),
		odds("confidence as text", odd(`"0.9"`, kind)),
		odds("confidence that is no number", odd(`"very sure"`, kind)),
		odds("coaching of the wrong type", strings.Replace(odd(0.9, kind), "null", "[1,2]", 1)),
		odds(`coaching of "null"`, strings.Replace(odd(0.9, kind), "null", `"null"`, 1)),
		odds("more fields", `{"thoughts":{"type":"no"},`+object[1:]),
	}
}
