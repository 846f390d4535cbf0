package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// Nothing is sent without a yes.
func TestReplayAsksBeforeItCosts(t *testing.T) {
	var sent, tokens atomic.Int64
	server := meteredServer(t, func(prompt string) (int, string) {
		sent.Add(1)
		tokens.Add(int64(len(prompt)))
		return http.StatusOK, `{"type":"status","confidence":0.95,"reason":"r","coaching_message":"Show the output of ` +
			`the tests."}`
	})
	file := replayFixture(t)
	for answer, yes := range map[string]bool{"y\n": true, " Yes \n": true, "y": true, "n\n": false, "\n": false,
		"": false, "yesterday\n": false} {
		sent.Store(0)
		o := replay{judging: judgeFlags{useLLM: true, Config: llm.Config{Model: "judge", BaseURL: server.URL}}}
		var shown, table strings.Builder
		cmd := newReplay(terminal{})
		cmd.SetContext(t.Context())
		cmd.SetIn(strings.NewReader(answer))
		cmd.SetOut(&table)
		cmd.SetErr(&shown)
		err := o.run(cmd, []string{file, file}, terminal{keyboard: true})
		assert.Regexp(t, `^Send what the agents wrote in 1 file to judge at http://\S+\? \[y/N\] `, shown.String())
		if yes {
			assert.NoError(t, err, answer)
			assert.EqualValues(t, 1, sent.Load())
			assert.Regexp(
				t,
				`(?m)^  judge +judge, 1 verdict in 1 call, 1000 tokens in, 800 of them cached, 50 out, `,
				table.String(),
			)
		} else {
			assert.EqualError(t, err, "nothing was sent", answer)
			assert.Zero(t, sent.Load(), answer)
			assert.Empty(t, table.String())
		}
	}
}

// meteredServer speaks chat completions: it returns what answer gives for a user message, and says that this took
// 1000 tokens, of which 800 were cached, and 50.
func meteredServer(t *testing.T, answer func(prompt string) (int, string)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) != 2 {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		status, text := answer(body.Messages[1].Content)
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{
				map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}},
			},
			"usage": map[string]any{
				"prompt_tokens":         1000,
				"completion_tokens":     50,
				"prompt_tokens_details": map[string]any{"cached_tokens": 800},
			},
		})
	}))
	t.Cleanup(s.Close)
	t.Setenv("OPENAI_API_KEY", "k")
	return s
}

// replayTotals replays with --json and returns the total.
func replayTotals(t *testing.T, status int, args ...string) (total replayTotal, stderr string) {
	t.Helper()
	out, errs, got := sidecoach(t, strings.NewReader(""), append([]string{"replay", "--json"}, args...)...)
	require.Equal(t, status, got, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var v struct{ Total *replayTotal }
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &v))
	require.NotNil(t, v.Total, "the total is last")
	return *v.Total, errs
}

// The same output is sent once, here in a session and in the copy of it that a resumed one begins with.
func TestReplaySendsNothingTwice(t *testing.T) {
	sent := 0
	server := meteredServer(t, func(string) (int, string) {
		sent++
		return http.StatusOK, `{"type":"completion","confidence":0.95,"reason":"r","coaching_message":null}`
	})
	dir := filepath.Dir(replayFixture(t))
	text, err := os.ReadFile(filepath.Join(dir, "session.jsonl"))
	require.NoError(t, err)
	require.NoError(
		t,
		os.WriteFile(filepath.Join(dir, "resumed.jsonl"), bytes.ReplaceAll(text, []byte("s1"), []byte("s2")), 0o600),
	)
	total, _ := replayTotals(t, 0, dir, "--llm", "--yes", "--base-url", server.URL)
	assert.Equal(t, 1, sent)
	total.LLM.Latency = 0
	assert.Equal(t, judgeTotals{2, classify.Usage{Model: defaultModel, Attempts: 1, PromptTokens: 1000, CachedTokens: 800,
		CompletionTokens: 50}}, *total.LLM)
}

// Where the LLM fails the heuristic judges, and replay says how often and why.
func TestReplayOfAnLLMThatFails(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		answer string
		why    string
	}{
		"the key is wrong": {http.StatusUnauthorized, "", "401"},
		"it babbles":       {http.StatusOK, "I like it.", "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			server := meteredServer(t, func(string) (int, string) {
				if n++; n == 1 {
					return http.StatusOK, `{"type":"completion","confidence":0.95,"reason":"r","coaching_message":null}`
				}
				return tt.status, tt.answer
			})
			file := replayHistory(t)
			total, _ := replayTotals(t, 0, file, "--llm", "--yes", "--base-url", server.URL)
			assert.Equal(t, 1, total.LLM.Verdicts)
			assert.Positive(t, total.Fallbacks)
			assert.Contains(t, total.Failed, tt.why)
			out, _, _ := sidecoach(t, strings.NewReader(""), "replay", file, "--llm", "--yes", "--base-url", server.URL)
			assert.Contains(t, out, "the heuristic decided:")
			assert.Contains(t, out, tt.why)
		})
	}
}
