package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// dead is a judge and what it is asked.
type dead struct {
	err   error
	asked int
}

func (d *dead) Classify(context.Context, classify.Input) (classify.Result, error) {
	d.asked++
	if d.err != nil {
		return classify.Result{}, d.err
	}
	return classify.Result{Type: classify.Status, Confidence: 1, Usage: &classify.Usage{}}, nil
}

// process returns what a process makes of the judge, at a time.
func process(t *testing.T, k *keeper, j classify.Classifier, now time.Time) *rememberingJudge {
	t.Helper()
	r, err := rememberJudge(k, llm.Config{Model: "m"}, j)
	require.NoError(t, err)
	r.now = func() time.Time { return now }
	return r
}

// Each process makes one call. A judge that did not answer one of them is left alone for a while.
func TestADeadJudgeIsLeftAlone(t *testing.T) {
	k, err := keeperOptions{state: t.TempDir()}.open(filestore.Options{}, io.Discard)
	require.NoError(t, err)
	d := &dead{err: context.DeadlineExceeded}
	now := noon
	for range 3 {
		_, err := process(t, k, d, now).Classify(t.Context(), classify.Input{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		asked := d.asked
		for _, after := range []time.Duration{0, time.Second, judgePause - 1} {
			_, err := process(t, k, d, now.Add(after)).Classify(t.Context(), classify.Input{})
			require.ErrorIs(t, err, llm.ErrOpen)
		}
		require.Equal(t, asked, d.asked)
		now = now.Add(judgePause)
	}
	_, err = process(t, k, d, now.Add(-2*judgePause)).Classify(t.Context(), classify.Input{})
	require.ErrorIs(t, err, context.DeadlineExceeded, "the clock was wrong when it was remembered")
	d.err = nil
	_, err = process(t, k, d, now).Classify(t.Context(), classify.Input{})
	require.NoError(t, err)
	d.err = errors.New("again")
	_, err = process(t, k, d, now).Classify(t.Context(), classify.Input{})
	require.ErrorIs(t, err, d.err, "it answered, so it is asked")
}

func TestMemoryAfterACall(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want time.Duration
	}{
		{"refused", fmt.Errorf("x: %w", &llm.Error{Answered: true}), -1},
		{"useless", &llm.Error{Answered: true}, -1},
		{"left alone", fmt.Errorf("%w for another 3s", llm.ErrOpen), -1},
		{"timed out", context.DeadlineExceeded, judgePause},
		{"no rights", &llm.Error{Status: 401}, judgePause},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := judgeMemory{Fallbacks: 3, Until: noon.Add(-1)}
			assert.Equal(t, judgeMemory{Fallbacks: 4, Until: noon.Add(tt.want)}, before.after(tt.err, noon))
			assert.Zero(t, before.after(nil, noon))
		})
	}
}

// Whatever the server does, with --session the next process knows.
func TestASessionRemembersTheJudge(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	var calls, code atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		switch {
		case code.Load() != 0:
			w.WriteHeader(int(code.Load()))
		case strings.Contains(string(body), "response_format"):
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":"response_format is unknown","param":"response_format"}}`)
		default:
			verdict := `{"type":"status","confidence":0.95,"reason":"r","coaching_message":"Show the tests."}`
			json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": verdict}, "finish_reason": "stop"}}})
		}
	}))
	defer srv.Close()
	state := t.TempDir()
	decide := func() (string, int32) {
		before := calls.Load()
		out, errs, status := sidecoach(t, strings.NewReader(hollow), "--session", "s", "--state", state, "--max-continues",
			"99", "--llm", "--base-url", srv.URL, "--model", "m")
		require.Zero(t, status)
		require.Empty(t, errs)
		return out, calls.Load() - before
	}
	out, n := decide()
	assert.NotContains(t, out, "degraded")
	assert.EqualValues(t, 3, n, "schema, object, plain")
	code.Store(401)
	out, n = decide()
	assert.Contains(t, out, "degraded")
	assert.EqualValues(t, 1, n)
	code.Store(0)
	for range 3 {
		out, n = decide()
		assert.Contains(t, out, "no call is made for another ")
		assert.Zero(t, n)
	}
	// Another key may be the right one.
	t.Setenv("OPENAI_API_KEY", "sk-another")
	out, n = decide()
	assert.NotContains(t, out, "degraded")
	assert.EqualValues(t, 3, n)
}
