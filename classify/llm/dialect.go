package llm

import (
	"bytes"
	"encoding/json"
	"net/http"
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
	filterWords = []string{"content_filter", "responsibleaipolicyviolation"}
	tokenWords  = []string{"max_completion_tokens"}
)

// next returns the dialect to try after r, if there is one, and whether r names what it rejects: then the new one can
// be remembered before it has worked.
func (d dialect) next(r rejection) (n dialect, sure, ok bool) {
	switch r.code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return d, false, false
	}
	named := r.names(formatWords) && !r.echoes()
	if !named && !d.legacyTokens && r.names(tokenWords) && !r.echoes() {
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

func (r rejection) names(words []string) bool {
	for _, w := range words {
		if bytes.Contains(r.body, []byte(w)) {
			return true
		}
	}
	return false
}

// echoes reports whether r repeats the request, so that the words in it mean nothing.
func (r rejection) echoes() bool { return r.names([]string{`"messages"`, `\"messages\"`}) }

// otherCodes are the codes of errors that have nothing to do with the form of a request.
var otherCodes = map[string]bool{
	"context_length_exceeded": true, "string_above_max_length": true, "invalid_api_key": true, "model_not_found": true,
	"insufficient_quota": true, "rate_limit_exceeded": true, "content_filter": true, "content_policy_violation": true,
	"deploymentnotfound": true, "unsupported_country_region_territory": true,
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
