package llm

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestOddBodies: what is odd beside an answer does not lose it.
func TestOddBodies(t *testing.T) {
	content := quoted(good)
	for name, body := range map[string]string{
		"plain":                     `{"choices":[{"message":{"content":` + content + `}}]}`,
		"error null":                `{"error":null,"choices":[{"message":{"content":` + content + `}}]}`,
		"error array":               `{"error":[],"choices":[{"error":[ ],"message":{"content":` + content + `}}]}`,
		"error object":              `{"error":{ },"choices":[{"error":{},"message":{"content":` + content + `}}]}`,
		"error text":                `{"error":" ","choices":[{"message":{"content":` + content + `}}]}`,
		"error of nothing":          `{"error":{"message":"","code":null,"type":[]},"choices":[{"message":{"content":` + content + `}}]}`,
		"error false":               `{"error":false,"choices":[{"message":{"content":` + content + `}}]}`,
		"finish reason a number":    `{"choices":[{"finish_reason":1,"message":{"content":` + content + `}}]}`,
		"finish reason an object":   `{"choices":[{"finish_reason":{"type":"stop"},"message":{"content":` + content + `}}]}`,
		"created a string":          `{"created":"2026-03-01T12:00:00Z","id":7,"object":null,"choices":[{"index":"0","message":{"role":3,"content":` + content + `}}]}`,
		"created a fraction":        `{"created":1.5e9,"choices":[{"message":{"content":` + content + `}}],"usage":{"prompt_tokens":1.5}}`,
		"usage a string":            `{"usage":"none","choices":[{"message":{"content":` + content + `}}]}`,
		"usage an array":            `{"usage":[],"choices":[{"message":{"content":` + content + `}}]}`,
		"usage of strings":          `{"usage":{"prompt_tokens":"many","prompt_tokens_details":7},"choices":[{"message":{"content":` + content + `}}]}`,
		"usage beyond all bounds":   `{"usage":{"prompt_tokens":1e300,"completion_tokens":-1e300},"choices":[{"message":{"content":` + content + `}}]}`,
		"model a number":            `{"model":4,"choices":[{"message":{"content":` + content + `}}]}`,
		"refusal an object":         `{"choices":[{"message":{"refusal":{},"content":` + content + `}}]}`,
		"refusal false":             `{"choices":[{"message":{"refusal":false,"content":` + content + `}}]}`,
		"tool calls an object":      `{"choices":[{"message":{"tool_calls":{},"function_call":[],"content":` + content + `}}]}`,
		"choice two broken":         `{"choices":[{"message":{"content":` + content + `}},7]}`,
		"content the object":        `{"choices":[{"message":{"content":` + good + `}}]}`,
		"content a part":            `{"choices":[{"message":{"content":{"type":"text","text":` + content + `}}}]}`,
		"content parts":             `{"choices":[{"message":{"content":[{"type":"text","text":"So: "},{"type":"text","text":` + content + `}]}}]}`,
		"content parts, no type":    `{"choices":[{"message":{"content":[{"text":` + content + `}]}}]}`,
		"content strings":           `{"choices":[{"message":{"content":["So: ",` + content + `]}}]}`,
		"content halves":            `{"choices":[{"message":{"content":[` + quoted(good[:20]) + `,` + quoted(good[20:]) + `]}}]}`,
		"a thought before":          `{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"{\"type\":\"error\"}"}]},{"type":"text","text":` + content + `}]}}]}`,
		"a thought after":           `{"choices":[{"message":{"content":[{"type":"text","text":` + content + `},{"type":"thinking","thinking":"{}"}]}}]}`,
		"something after the value": `{"choices":[{"message":{"content":` + content + `}}]}` + "\n\n: ping",
	} {
		t.Run(name, func(t *testing.T) {
			a, err := newClient(t, &fake{replies: []reply{status(200, body)}}).JSON(t.Context(), call())
			require.NoError(t, err)
			assert.JSONEq(t, good, string(a.Object))
			assert.GreaterOrEqual(t, a.Usage.PromptTokens, 0)
			assert.GreaterOrEqual(t, a.Usage.CompletionTokens, 0)
		})
	}
}

func TestOddUsage(t *testing.T) {
	for raw, want := range map[string]int{
		"12": 12, `"12"`: 12, "12.0": 12, "1.2e1": 12, `" 12 "`: 12, "12.7": 12, "-3": 0, "null": 0, "[]": 0, `"x"`: 0, "1e300": math.MaxInt32, `"NaN"`: 0, "true": 0,
	} {
		body := fmt.Sprintf(`{"choices":[{"message":{"content":%s}}],"usage":{"prompt_tokens":%s,"completion_tokens":%s,"prompt_tokens_details":{"cached_tokens":%s}}}`,
			quoted(good), raw, raw, raw)
		a, err := newClient(t, &fake{replies: []reply{status(200, body)}}).JSON(t.Context(), call())
		require.NoError(t, err, raw)
		assert.Equal(t, [3]int{want, want, want}, [3]int{a.Usage.PromptTokens, a.Usage.CompletionTokens, a.Usage.CachedTokens}, raw)
	}
}

// FuzzBody: whatever stands in a body, there is an answer or an error of ours, and a known answer is found beside anything.
func FuzzBody(f *testing.F) {
	f.Add(`{"choices":[{"message":{"content":"{}"}}]}`, `null`)
	f.Add(`{"object":"error"}`, `{"a":[1,"x"]}`)
	f.Add(``, `"7"`)
	f.Fuzz(func(t *testing.T, body, odd string) {
		client := newClient(t, &fake{replies: []reply{status(200, body)}}, func(c *Config) { c.Retries = -1 })
		if _, err := client.JSON(t.Context(), call()); err != nil && !strings.HasPrefix(err.Error(), "llm: ") {
			t.Fatal(err)
		}
		if !json.Valid([]byte(odd)) {
			return
		}
		known := `{"created":` + odd + `,"usage":` + odd + `,"model":` + odd + `,"id":` + odd + `,"choices":[{"index":` + odd +
			`,"logprobs":` + odd + `,"message":{"role":` + odd + `,"tool_calls":` + odd + `,"content":` + quoted(good) + `}}]}`
		a, err := newClient(t, &fake{replies: []reply{status(200, known)}}).JSON(t.Context(), call())
		if err != nil || string(a.Object) != good || a.Usage.PromptTokens < 0 {
			t.Fatalf("%s: %+v, %v", known, a, err)
		}
	})
}
