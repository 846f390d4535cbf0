package classifytest

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

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
