package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoAnswerHoldsTheKey: a server may repeat it wherever it can write.
func TestNoAnswerHoldsTheKey(t *testing.T) {
	escaped := ""
	for _, r := range testKey {
		escaped += fmt.Sprintf(`\u%04x`, r)
	}
	for name, key := range map[string]string{
		"plain": testKey, "escaped": escaped, "hidden": strings.ReplaceAll(testKey, "-", `-\u200b`), "twice": testKey + testKey, "inside itself": testKey[:9] + testKey + testKey[9:],
		"control characters": strings.ReplaceAll(testKey, "4", `\u00004\u001b`),
	} {
		t.Run(name, func(t *testing.T) {
			answer := `{"type":"status","confidence":0.9,"reason":"got ` + key + `","coaching_message":"Show ` + key + ` now.","` + key + `":[{"a":"` + key + `"}]}`
			body := `{"model":"m-` + key + `","choices":[{"message":{"content":` + quoted(answer) + `}}]}`
			f := &fake{replies: []reply{status(200, body)}}
			r, err := newJudge(t, f, Options{Cache: 1}).Classify(t.Context(), classify.Input{Text: "x"})
			require.NoError(t, err)
			assert.Equal(t, classify.Status, r.Type)
			assert.True(t, r.WasRejectedCompletion)
			assert.Contains(t, r.Reason, "got ")
			shown, err := json.Marshal(r)
			require.NoError(t, err)
			a, err := newClient(t, f).JSON(t.Context(), call())
			require.NoError(t, err)
			for _, s := range []string{string(shown), string(a.Object), clean(string(a.Object)), a.Usage.Model} {
				assert.NotContains(t, s, testKey)
			}
			var object any
			require.NoError(t, json.Unmarshal(a.Object, &object))
			assert.NotContains(t, clean(fmt.Sprint(object)), testKey)
		})
	}
}

// A long reason is cut after the key has been taken out, so that no half of it is left.
func TestNoHalfOfTheKey(t *testing.T) {
	answer := `{"type":"status","reason":"` + strings.Repeat("x", maxReason-10) + testKey + `"}`
	r, err := newJudge(t, &fake{replies: []reply{says(answer)}}, Options{}).Classify(t.Context(), classify.Input{Text: "x"})
	require.NoError(t, err)
	assert.NotContains(t, r.Reason, testKey[:5])
}

// What is no secret stays: placeholders are words, and an object without the key keeps its bytes.
func TestWhatIsNotRedacted(t *testing.T) {
	answer := `{ "type":"status", "type":"status","confidence":0.10,"reason":"none <ollama>" }`
	for _, key := range []string{"none", "ollama", "status", testKey} {
		a, err := newClient(t, &fake{replies: []reply{says(answer)}}, func(c *Config) { c.Key = key }).JSON(t.Context(), call())
		require.NoError(t, err)
		assert.Equal(t, answer, string(a.Object))
	}
	got := newRedactor(testKey).object(json.RawMessage(`{"n":12345678901234567890,"a":"<` + testKey + `>"}`))
	assert.Equal(t, `{"a":"<[key]>","n":12345678901234567890}`, string(got))
}
