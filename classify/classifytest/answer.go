package classifytest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

// Answer is what a [Server] does with one call: an HTTP handler. The request's body can be read again. An answer that
// waits must stop when the request's context is done; one that panics with [http.ErrAbortHandler] cuts the connection.
type Answer func(w http.ResponseWriter, r *http.Request)

// Stuck never answers: it holds the connection until the client goes away or the server is closed.
func Stuck() Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// StuckInBody sends status 200 and half of the body of a good answer, and then is [Stuck].
func StuckInBody() Answer { return cutAfterHalf(Stuck()) }

// Truncated sends status 200 and half of the body of a good answer, and then cuts the connection.
func Truncated() Answer { return cutAfterHalf(HangUp()) }

func cutAfterHalf(then Answer) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := json.Marshal(Reply{Content: Verdict{Type: "completion", Confidence: 0.95}.JSON()}.completion(nil))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		then(w, r)
	}
}

// HangUp cuts the connection without an answer.
func HangUp() Answer { return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) } }

// Respond sends exactly this. Header may be nil.
func Respond(status int, header http.Header, body string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Status refuses with a status and the error object that belongs to it: 500, 503 and the like.
func Status(status int) Answer {
	kind := "server_error"
	if status < 500 {
		kind = "invalid_request_error"
	}
	return fail(status, kind, "The server had an error while processing your request", "")
}

// Unauthorized refuses with 401. Its message repeats the key that was sent, as careless endpoints do.
func Unauthorized() Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("Api-Key")
		fail(http.StatusUnauthorized, "invalid_request_error", "Incorrect API key provided: "+key, "invalid_api_key")(w, r)
	}
}

// RateLimited refuses with 429. RetryAfter is the value of that header, seconds or an HTTP date; empty sends none.
func RateLimited(retryAfter string) Answer {
	refuse := fail(http.StatusTooManyRequests, "requests", "Rate limit reached for requests", "rate_limit_exceeded")
	return func(w http.ResponseWriter, r *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		refuse(w, r)
	}
}

// echo refuses with a status and a message that repeats the Authorization header and the whole request.
func echo(status int) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fail(status, "server_error", r.Header.Get("Authorization")+r.Header.Get("Api-Key")+" sent "+string(body), "")(w, r)
	}
}

// RejectFormats refuses requests whose response_format is of one of the types, with 400 and the error that OpenAI gives
// for it; others get then. A server that knows json_object only: RejectFormats(then, "json_schema").
func RejectFormats(then Answer, types ...string) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		format := newRequest(r, body).Format
		if !slices.Contains(types, format) {
			then(w, r)
			return
		}
		message := fmt.Sprintf("Invalid parameter: 'response_format' of type '%s' is not supported with this model.", format)
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": map[string]any{
			"message": message, "type": "invalid_request_error", "param": "response_format", "code": nil,
		}})
	}
}

// garbage sends a status and n bytes that are no JSON, streamed: a client that reads all of it pays, the server does
// not.
func garbage(status int, n int64) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.CopyN(w, babble{}, n)
	}
}

// compressedGarbage is [garbage] with Content-Encoding gzip: small on the wire, n bytes once the client has unpacked
// it.
func compressedGarbage(status int, n int64) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		z := gzip.NewWriter(w)
		_, _ = io.CopyN(z, babble{}, n)
		_ = z.Close()
	}
}

// babble is an endless string that a JSON parser swallows whole.
type babble struct{}

func (babble) Read(p []byte) (int, error) {
	const noise = "\" lorem ipsum \\\\ [{ "
	for n := 0; n < len(p); {
		n += copy(p[n:], noise)
	}
	return len(p), nil
}

// fail refuses with an error object of OpenAI's form.
func fail(status int, kind, message, code string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		e := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
		if code != "" {
			e["code"] = code
		}
		writeJSON(w, status, map[string]any{"error": e})
	}
}

// Verdict is what a judge answers, as the JSON object of the prompt. Its values need not make sense.
type Verdict struct {
	Type       classify.OutputType
	Rejected   bool // also if it coaches
	Confidence float64
	Reason     string
	Coaching   string // empty is null
}

// JSON returns the object that a judge writes.
func (v Verdict) JSON() string {
	var coaching *string
	if v.Coaching != "" {
		coaching = &v.Coaching
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(struct { // fails on a confidence that JSON has no number for; then the object is empty
		Reason     string              `json:"reason"`
		Type       classify.OutputType `json:"type"`
		Rejected   bool                `json:"rejected"`
		Confidence float64             `json:"confidence"`
		Coaching   *string             `json:"coaching_message"`
	}{v.Reason, v.Type, v.Rejected || v.Coaching != "", v.Confidence, coaching})
	return strings.TrimSuffix(b.String(), "\n")
}

// Reply is the one choice of a chat completion.
type Reply struct {
	Content      string
	Refusal      string // then the content is null
	FinishReason string // empty is "stop"

	// What the call is said to have cost; 0 is an estimate of a token for four bytes, and no cached tokens.
	PromptTokens, CachedTokens, CompletionTokens int
}

// Say answers with v, well formed.
func Say(v Verdict) Answer { return Text(v.JSON()) }

// Text answers with content as the message, whatever it is.
func Text(content string) Answer { return Send(Reply{Content: content}) }

// Send answers with a chat completion that has one choice.
func Send(reply Reply) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		writeJSON(w, http.StatusOK, reply.completion(body))
	}
}

// completion returns the body of the answer to a request.
func (reply Reply) completion(request []byte) map[string]any {
	c, _ := parseChat(request)
	message := map[string]any{"role": "assistant", "content": reply.Content, "refusal": nil}
	if reply.Refusal != "" {
		message["content"], message["refusal"] = nil, reply.Refusal
	}
	prompt := cmp.Or(reply.PromptTokens, len(request)/4)
	completion := cmp.Or(reply.CompletionTokens, (len(reply.Content)+len(reply.Refusal)+3)/4)
	return map[string]any{
		"id": "chatcmpl-test", "object": "chat.completion", "created": 1700000000, "model": c.Model,
		"choices": []any{map[string]any{
			"index": 0, "message": message, "logprobs": nil, "finish_reason": cmp.Or(reply.FinishReason, "stop"),
		}},
		"usage": map[string]any{
			"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
			"prompt_tokens_details": map[string]any{"cached_tokens": reply.CachedTokens},
		},
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // fails when the client is gone
}
