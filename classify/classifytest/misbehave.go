package classifytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Misbehaviour is one way in which an endpoint does not answer as it should.
type Misbehaviour struct {
	Name   string
	Answer Answer
	// Readable says that a lenient reader finds the verdict in it all the same.
	Readable bool
}

// Misbehaviours returns all that this package knows, fresh: of the network, of the server, and of the model, whose
// answers hide v. Most are answers to every call; a test that goes on to something better scripts it after them.
func Misbehaviours(v Verdict) []Misbehaviour {
	object := v.JSON()
	odd := func(confidence any, t string) string {
		return fmt.Sprintf(`{"type":%s,"confidence":%v,"reason":"because","coaching_message":null}`, t, confidence)
	}
	kind := fmt.Sprintf("%q", v.Type)
	body, _ := json.Marshal(Reply{Content: object}.completion(nil)) // strings and numbers: nothing can fail
	other := Verdict{Type: "question", Confidence: 0.5, Reason: "a first thought"}
	if v.Type == "question" {
		other.Type = "blocker"
	}
	bad := func(name string, a Answer) Misbehaviour { return Misbehaviour{Name: name, Answer: a} }
	odds := func(name, content string) Misbehaviour { return Misbehaviour{name, Text(content), true} }
	return []Misbehaviour{
		bad("stuck", Stuck()),
		bad("stuck in the body", StuckInBody()),
		bad("truncated body", Truncated()),
		bad("hangs up", HangUp()),
		bad("401 with the key in it", Unauthorized()),
		bad("403", Status(http.StatusForbidden)),
		bad("404", Status(http.StatusNotFound)),
		bad("408", Status(http.StatusRequestTimeout)),
		bad("409", Status(http.StatusConflict)),
		bad("429", RateLimited("")),
		bad("429 for an hour", RateLimited("3600")),
		bad("429 until a date", RateLimited(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))),
		bad("429 with a nonsense Retry-After", RateLimited("-1 fortnights")),
		bad("500", Status(http.StatusInternalServerError)),
		bad("500 that repeats the request", echo(http.StatusInternalServerError)),
		bad("502 in HTML", Respond(http.StatusBadGateway, http.Header{"Content-Type": {"text/html"}},
			"<html><h1>502 Bad Gateway</h1></html>")),
		bad("503", Status(http.StatusServiceUnavailable)),
		bad("error that is a string", Respond(http.StatusBadRequest, nil, `{"error":"no such thing"}`)),
		bad("redirect to itself", Respond(http.StatusTemporaryRedirect, http.Header{"Location": {"/v1/chat/completions"}},
			"")),
		bad("no content", Respond(http.StatusNoContent, nil, "")),
		bad("empty body", Respond(http.StatusOK, nil, "")),
		bad("HTML", Respond(http.StatusOK, http.Header{"Content-Type": {"text/html"}},
			"<html>Sign in to the guest network</html>")),
		bad("null", Respond(http.StatusOK, nil, "null")),
		bad("an array", Respond(http.StatusOK, nil, `[{"choices":[]}]`)),
		bad("no choices", Respond(http.StatusOK, nil, `{"id":"x","object":"chat.completion","choices":[]}`)),
		bad("choices of null", Respond(http.StatusOK, nil, `{"choices":[null]}`)),
		bad("200 with an error", Respond(http.StatusOK, nil, `{"error":{"message":"Provider returned error","code":502}}`)),
		bad("garbage", garbage(http.StatusOK, 100<<20)),
		bad("garbage as an error", garbage(http.StatusInternalServerError, 100<<20)),
		bad("garbage compressed", compressedGarbage(http.StatusOK, 100<<20)),

		bad("refusal", Send(Reply{Refusal: "I'm sorry, I can't help with that."})),
		bad("cut at the length", Send(Reply{Content: object[:len(object)/2], FinishReason: "length"})),
		bad("content filter", Send(Reply{FinishReason: "content_filter"})),
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
		{"byte order mark before the body", Respond(http.StatusOK, nil, "\ufeff"+string(body)), true},
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
