package classifytest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
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
