package llm

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// readBody reads the body of a success and returns it with the little that is needed of it, each in the type that it should
// have: go-openai gives up an answer for a time that is no number. What can't be read is left out. A body that is no chat
// completion at all is returned as it is; one that reports an error is a [ReportedError].
func readBody(body []byte) ([]byte, error) {
	var top map[string]json.RawMessage
	if json.NewDecoder(bytes.NewReader(body)).Decode(&top) != nil || top == nil { // what follows the first value is left alone
		return body, nil
	}
	var choices []json.RawMessage
	if json.Unmarshal(top["choices"], &choices) != nil && top["choices"] != nil {
		choices = []json.RawMessage{nil} // something else
	}
	reported := carries(top["error"]) || text(top["object"]) == "error"
	for _, c := range choices {
		reported = reported || carries(fields(c)["error"])
	}
	if reported {
		return nil, ReportedError{}
	}
	usage := fields(top["usage"])
	read := map[string]any{
		"model": text(top["model"]),
		"usage": map[string]any{
			"prompt_tokens":         number(usage["prompt_tokens"]),
			"completion_tokens":     number(usage["completion_tokens"]),
			"prompt_tokens_details": map[string]any{"cached_tokens": number(fields(usage["prompt_tokens_details"])["cached_tokens"])},
		},
	}
	if len(choices) > 0 { // the others were not asked for
		first := fields(choices[0])
		message := fields(first["message"])
		if first == nil || message == nil && !blank(first["message"]) {
			return body, nil
		}
		content, refusal := contentText(message["content"])
		if s := text(message["refusal"]); s != "" {
			refusal = s
		}
		read["choices"] = []any{map[string]any{
			"finish_reason": text(first["finish_reason"]),
			"message":       map[string]any{"role": "assistant", "content": content, "refusal": refusal},
		}}
	}
	return json.Marshal(read)
}

// contentText is what a model wrote: a string, parts of which those with text count, or the object itself that it was asked
// for. A part may also be a refusal.
func contentText(raw json.RawMessage) (content, refusal string) {
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			part := fields(p)
			content += text(p) + text(part["text"])
			refusal += text(part["refusal"])
		}
		return content, refusal
	}
	part := fields(raw)
	switch {
	case part == nil:
		return text(raw), ""
	case text(part["type"]) == "text":
		return text(part["text"]), ""
	case text(part["type"]) == "refusal":
		return "", text(part["refusal"])
	}
	return string(raw), ""
}

// fields are those of a JSON object, or none.
func fields(raw json.RawMessage) (f map[string]json.RawMessage) {
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// blank reports whether there is nothing, or null.
func blank(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// number is a count: of a number, or of one in a string, what is before the point, from 0 to the most that any int holds.
// Anything else is 0.
func number(raw json.RawMessage) int {
	s := string(raw)
	if t := text(raw); t != "" {
		s = strings.TrimSpace(t)
	}
	f, _ := strconv.ParseFloat(s, 64) // out of its range is infinite
	if !(f > 0) {                     // not a number too
		return 0
	}
	return int(min(f, math.MaxInt32))
}

// carries reports whether the error field of a body says anything: an object of empty fields does not.
func carries(raw json.RawMessage) bool {
	var v any
	return json.Unmarshal(raw, &v) == nil && speaks(v)
}

func speaks(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return strings.TrimSpace(v) != ""
	case []any:
		for _, e := range v {
			if speaks(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if speaks(e) {
				return true
			}
		}
	}
	return false
}
