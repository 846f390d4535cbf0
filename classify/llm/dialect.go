package llm

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// Format is how an endpoint is told that the answer must be JSON.
type Format string

// The formats, in the order in which a client steps down through them on a server that rejects one.
const (
	FormatSchema Format = "json_schema" // response_format with a strict schema
	FormatObject Format = "json_object" // response_format without schema
	FormatPlain  Format = "plain"       // no response_format: the instructions alone
)

func (f Format) valid() bool { return f == FormatSchema || f == FormatObject || f == FormatPlain }

// wire is the format as go-openai has it. The schema goes as raw JSON: go-openai's own schema type races.
func (f Format) wire(call Call) *openai.ChatCompletionResponseFormat {
	switch {
	case f == FormatPlain:
		return nil
	case f == FormatObject || call.Schema == nil:
		return &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return &openai.ChatCompletionResponseFormat{
		Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
		JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: call.Name, Schema: call.Schema, Strict: true},
	}
}

// dialect is what servers differ in.
type dialect struct {
	format       Format
	legacyTokens bool
}

// rejection is an error status that may mean that the server does not speak the dialect.
type rejection struct {
	code int
	body []byte // of the error, lower-case; for looking at, never for showing
}

// The words by which servers name what they do not know.
var (
	formatWords = []string{"response_format", "response format", "json_schema", "json schema", "json_object", "json mode",
		"structured output", "structured_output", "structuredoutput", "guided", "grammar"}
	tokenWords = []string{"max_completion_tokens"}
)

// next returns the dialect to try after r, if there is one, and whether r names what it rejects: then the new one can
// be remembered before it has worked.
func (d dialect) next(r rejection) (n dialect, sure, ok bool) {
	switch r.code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return d, false, false
	}
	named := r.names(formatWords)
	if !named && !d.legacyTokens && r.names(tokenWords) {
		return dialect{d.format, true}, true, true
	}
	if d.format == FormatPlain || !named && !r.vague() {
		return d, false, false
	}
	n = dialect{FormatObject, d.legacyTokens}
	if d.format == FormatObject {
		n.format = FormatPlain
	}
	return n, named, true
}

// names reports whether r has one of the words, other than in a request that it repeats, where they mean nothing.
func (r rejection) names(words []string) bool {
	said := r.said()
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
}

// said returns the texts and keys of r, or all of it where it is not JSON, without the request that it may repeat: as a value
// of its own, or written out in a text.
func (r rejection) said() string {
	var body any
	if json.Unmarshal(r.body, &body) != nil {
		return withoutRequest(string(r.body))
	}
	var b strings.Builder
	collect(&b, body)
	return b.String()
}

func collect(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(withoutRequest(v) + "\n")
	case []any:
		for _, e := range v {
			collect(b, e)
		}
	case map[string]any:
		if isRequest(v) {
			return
		}
		for key, e := range v {
			b.WriteString(key + "\n")
			collect(b, e)
		}
	}
}

// isRequest reports whether v is a request of ours: it has messages, and they are no texts.
func isRequest(v map[string]any) bool {
	messages, ok := v["messages"].([]any)
	if !ok || len(messages) == 0 {
		return ok
	}
	_, ok = messages[0].(map[string]any)
	return ok
}

// messagesKey is the key of messages as a text may spell it: in JSON, in JSON within JSON, in Python.
var messagesKey = compiled(`\\*"messages\\*"|'messages': \[`)

// withoutRequest cuts a request out of a text that repeats it. Of one that is not whole, or not JSON, nobody knows where it
// ends: then all that follows is cut as well.
func withoutRequest(text string) string {
	var b strings.Builder
	for {
		at := messagesKey().FindStringIndex(text)
		if at == nil {
			break
		}
		start := opened(text[:at[0]])
		if start < 0 { // the word alone
			b.WriteString(text[:at[1]])
			text = text[at[1]:]
			continue
		}
		var object map[string]any
		dec := json.NewDecoder(strings.NewReader(text[start:]))
		if dec.Decode(&object) != nil {
			text = text[:start]
			break
		}
		end := start + int(dec.InputOffset())
		if isRequest(object) {
			b.WriteString(text[:start])
		} else {
			b.WriteString(text[:end])
		}
		text = text[end:]
	}
	return b.String() + text
}

// opened returns where the last object begins that text has not closed, -1 when there is none.
func opened(text string) int {
	closed := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch {
		case text[i] == '}':
			closed++
		case text[i] == '{' && closed == 0:
			return i
		case text[i] == '{':
			closed--
		}
	}
	return -1
}

// otherCodes are the codes of errors that have nothing to do with the form of a request.
var otherCodes = map[string]bool{
	"context_length_exceeded": true, "string_above_max_length": true, "invalid_api_key": true, "model_not_found": true,
	"insufficient_quota": true, "rate_limit_exceeded": true, "content_filter": true, "content_policy_violation": true,
	"deploymentnotfound": true, "unsupported_country_region_territory": true,
}

// filterCodes are the codes of errors by which a provider says that its filter withheld a request.
var filterCodes = map[string]bool{"content_filter": true, "responsibleaipolicyviolation": true}

// filtered reports whether r is that of a content filter, by its codes alone: a message may speak of anything.
func (r rejection) filtered() bool {
	e := fields(r.body)
	if inner := fields(e["error"]); inner != nil {
		e = inner
	}
	return filterCodes[text(e["code"])] || filterCodes[text(e["type"])] || filterCodes[text(fields(e["innererror"])["code"])]
}

// vague reports whether r complains of the request and does not say of what.
func (r rejection) vague() bool {
	switch r.code {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType, http.StatusNotImplemented:
	case http.StatusNotFound: // a router that finds no endpoint for what is asked of it
		if !r.names([]string{"parameter"}) {
			return false
		}
	default:
		return false
	}
	var body struct {
		Error struct {
			Code, Param any
		} `json:"error"`
	}
	if json.Unmarshal(r.body, &body) != nil {
		return true
	}
	code, _ := body.Error.Code.(string)
	param, _ := body.Error.Param.(string)
	return param == "" && !otherCodes[code]
}

// memory is the dialect that an endpoint is known to speak.
type memory struct {
	mu sync.Mutex
	d  dialect
}

func (m *memory) get() dialect {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.d
}

func (m *memory) set(d dialect) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.d = d
}
