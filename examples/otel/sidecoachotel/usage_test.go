package sidecoachotel

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// The real classifier, against an endpoint that answers as it is told to.
func TestUsageOfARealCall(t *testing.T) {
	answer := `{"type":"completion","confidence":0.95,"reason":"shown","coaching_message":null}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(
			w,
			`{"model":"judge-1-0613","choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":1700,"completion_tokens":40,"prompt_tokens_details":{"cached_tokens":1200}}}`,
			answer,
		)
	}))
	defer server.Close()
	client, err := llm.NewClient(llm.Config{
		Model: "judge-1", BaseURL: server.URL, Retries: -1, Cache: &llm.DirCache{Dir: t.TempDir()},
	})
	require.NoError(t, err)
	judge, err := llm.New(client, llm.Options{})
	require.NoError(t, err)
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	l := newLoop(t, autocontinue.Config{Classifier: classify.Fallback(judge, heuristic)})
	handle := func(text string) map[string]any {
		t.Helper()
		_, err := l.Handle(t.Context(), autocontinue.Output{Session: text, Text: text})
		require.NoError(t, err)
		return attrs(l.span(t, "sidecoach.handle").Attributes())
	}
	tokens := func() (sum float64) {
		for _, p := range l.collect(t)[tokenUsage.name] {
			sum += p.sum
		}
		return sum
	}

	a := handle("Here is the list.")
	assert.Equal(t, []any{"llm", "judge-1-0613", int64(1700), int64(1200), int64(40)}, []any{a["sidecoach.source"],
		a["gen_ai.response.model"], a["gen_ai.usage.input_tokens"], a["gen_ai.usage.cache_read.input_tokens"],
		a["gen_ai.usage.output_tokens"]})
	assert.InDelta(t, 1740, tokens(), 0)

	a = handle("Here is the list.") // a new output, judged from the cache
	assert.Equal(t, "llm", a["sidecoach.source"])
	assert.InDelta(t, 1740, tokens(), 0)

	answer = "I would say it is done."
	a = handle("Here is the other list.")
	assert.Equal(t, []any{"heuristic", "unparseable"}, []any{a["sidecoach.source"], a["sidecoach.fallback.kind"]})
	assert.InDelta(t, 1740, tokens(), 0, "what a call cost that ended in a fallback is not in the event")
	assert.EqualValues(t, 1, l.collect(t)[operationDuration.name][0].count)
}
