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
	r.now, r.warn = func() time.Time { return now }, func(err error) { t.Error(err) }
	return r
}

// Each process makes one call: one that failed is made once, then after a while, which grows.
func TestADeadJudgeIsLeftAlone(t *testing.T) {
	k, err := keeperOptions{state: t.TempDir()}.open(filestore.Options{}, io.Discard)
	require.NoError(t, err)
	d := &dead{err: context.DeadlineExceeded}
	now := noon
	for _, pause := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		_, err := process(t, k, d, now).Classify(t.Context(), classify.Input{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		asked := d.asked
		for _, after := range []time.Duration{0, time.Second, pause*time.Minute - 1} {
			_, err := process(t, k, d, now.Add(after)).Classify(t.Context(), classify.Input{})
			require.ErrorIs(t, err, llm.ErrOpen)
		}
		require.Equal(t, asked, d.asked)
		now = now.Add(pause * time.Minute)
	}
	d.err = nil
	_, err = process(t, k, d, now).Classify(t.Context(), classify.Input{})
	require.NoError(t, err)
	d.err = errors.New("again")
	_, err = process(t, k, d, now).Classify(t.Context(), classify.Input{})
	require.ErrorIs(t, err, d.err, "it answered, so it is asked")
	_, err = process(t, k, d, now.Add(firstPause)).Classify(t.Context(), classify.Input{})
	require.ErrorIs(t, err, d.err, "and the pauses begin anew")
}

// While one process tries it the others leave it alone.
func TestOneProcessTriesADeadJudge(t *testing.T) {
	k, err := keeperOptions{state: t.TempDir()}.open(filestore.Options{}, io.Discard)
	require.NoError(t, err)
	_, err = process(t, k, &dead{err: errors.New("dead")}, noon).Classify(t.Context(), classify.Input{})
	require.EqualError(t, err, "dead")
	later := noon.Add(time.Hour)
	other := &dead{}
	trying := classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
		_, err := process(t, k, other, later).Classify(ctx, in)
		require.ErrorIs(t, err, llm.ErrOpen)
		return classify.Result{}, context.Canceled
	})
	_, err = process(t, k, trying, later).Classify(t.Context(), classify.Input{})
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, other.asked)
	_, err = process(t, k, other, later.Add(probeTime)).Classify(t.Context(), classify.Input{})
	require.NoError(t, err, "the one that tried it may have been killed")
}

func TestMemoryAfterACall(t *testing.T) {
	alone := func(failed int, d time.Duration) judgeMemory { return judgeMemory{Failed: failed, Until: noon.Add(d)} }
	for _, tt := range []struct {
		name   string
		before judgeMemory
		err    error
		want   judgeMemory
	}{
		{"answered", judgeMemory{Failed: 3, Odd: 2, Until: noon}, nil, judgeMemory{}},
		{"refused", alone(1, 0), fmt.Errorf("x: %w", &llm.Error{Kind: llm.Refused}), judgeMemory{}},
		{"timed out", judgeMemory{Odd: 1}, context.DeadlineExceeded, alone(1, 2*time.Minute)},
		{"no rights", judgeMemory{}, &llm.Error{Kind: llm.Rejected, Status: 401}, alone(1, 2*time.Minute)},
		{"asks for time", judgeMemory{}, &llm.Error{Kind: llm.Rejected, Status: 429, RetryAfter: 9 * time.Minute}, alone(1,
			9*time.Minute)},
		{"asks for too much", judgeMemory{}, &llm.Error{Kind: llm.Rejected, Status: 429, RetryAfter: 9 * time.Hour}, alone(1,
			time.Hour)},
		{"asks for less", alone(3, 0), &llm.Error{Kind: llm.Rejected, Status: 503, RetryAfter: 1}, alone(4, 16*time.Minute)},
		{"for ever", alone(99, 0), io.EOF, alone(100, time.Hour)},
		{"useless", judgeMemory{}, &llm.Error{Kind: llm.Unparseable}, judgeMemory{Odd: 1}},
		{"useless after a failure", alone(1, 0), &llm.Error{Kind: llm.Unparseable}, judgeMemory{Odd: 1}},
		{"useless for the third " +
			"time", judgeMemory{Odd: 2}, &llm.Error{Kind: llm.Unparseable}, judgeMemory{Failed: 1, Odd: 2,
			Until: noon.Add(2 * time.Minute)}},
		{"and again", judgeMemory{Failed: 1, Odd: 2}, &llm.Error{Kind: llm.Unparseable}, judgeMemory{Failed: 2, Odd: 2,
			Until: noon.Add(4 * time.Minute)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.before.after(tt.err, noon)
			if tt.err != nil {
				tt.want.Fallbacks = tt.before.Fallbacks + 1
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestAWrongClock(t *testing.T) {
	assert.Zero(t, judgeMemory{Until: noon.Add(longestPause + 1)}.left(noon))
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
