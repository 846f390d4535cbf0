package llm

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	downReply  = status(401, "")
	proseReply = says("no verdict")
)

func TestBreakerOpens(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replies []reply
		calls   int // after which it is open
	}{
		{"failed", []reply{downReply}, 5},
		{"unparseable", []reply{proseReply}, 3},
		{"not JSON at all", []reply{status(200, "<html>")}, 3},
		{"unparseable, not in a row", []reply{proseReply, proseReply, downReply, proseReply, proseReply, downReply}, 5},
		{"an answer between", []reply{proseReply, proseReply, says(good), proseReply}, 6},
		{"an answer between failures", []reply{downReply, downReply, downReply, downReply, says(good), downReply}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{replies: tt.replies}
				c := newClient(t, f)
				for range tt.calls {
					_, err := c.JSON(t.Context(), call())
					require.NotErrorIs(t, err, ErrOpen)
				}
				for range 3 {
					start := time.Now()
					a, err := c.JSON(t.Context(), call())
					require.ErrorIs(t, err, ErrOpen)
					assert.Zero(t, time.Since(start))
					assert.Zero(t, a.Usage.Attempts)
				}
				assert.Equal(t, tt.calls, f.calls())
			})
		})
	}
}

// What a model refuses, filters or cuts says nothing about the endpoint, and a measurement makes every call.
func TestBreakerStaysClosed(t *testing.T) {
	for name, r := range map[string]reply{
		"refusal": status(200, completion(map[string]any{"refusal": "no"}, "stop")),
		"cut":     status(200, completion(map[string]any{"content": "{"}, "length")),
		"filter":  status(200, completion(map[string]any{"content": ""}, "content_filter")),
	} {
		c := newClient(t, &fake{replies: []reply{r}})
		for range 8 {
			_, err := c.JSON(t.Context(), call())
			require.Error(t, err, name)
			require.NotErrorIs(t, err, ErrOpen, name)
		}
	}
	c, err := NewClient(Config{Model: "m", BaseURL: "http://llm.test/v1", Retries: -1, NoBreaker: true, Transport: &fake{replies: []reply{proseReply}}})
	require.NoError(t, err)
	for range 8 {
		_, err := c.JSON(t.Context(), call())
		require.ErrorAs(t, err, new(ParseError))
	}
}

func TestBreakerCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{downReply, downReply, downReply, downReply, downReply, downReply, says(good), downReply}}
		c := newClient(t, f)
		for range 5 {
			_, _ = c.JSON(t.Context(), call())
		}
		time.Sleep(30*time.Second - time.Nanosecond)
		_, err := c.JSON(t.Context(), call())
		require.ErrorIs(t, err, ErrOpen)

		time.Sleep(time.Nanosecond)
		_, err = c.JSON(t.Context(), call())
		require.ErrorIs(t, err, StatusError{Code: 401}, "the probe")
		_, err = c.JSON(t.Context(), call())
		require.ErrorIs(t, err, ErrOpen, "it failed, so the circuit is open again")

		time.Sleep(30 * time.Second)
		_, err = c.JSON(t.Context(), call())
		require.NoError(t, err)
		for range 5 {
			_, err = c.JSON(t.Context(), call())
			require.ErrorIs(t, err, StatusError{Code: 401}, "closed, and the count begins anew")
		}
		_, err = c.JSON(t.Context(), call())
		require.ErrorIs(t, err, ErrOpen)
	})
}

func TestBreakerLetsOneTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{downReply, downReply, downReply, downReply, downReply, stuck}}
		c := newClient(t, f)
		for range 5 {
			_, _ = c.JSON(t.Context(), call())
		}
		time.Sleep(31 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.JSON(ctx, call())
			assert.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		_, err := c.JSON(t.Context(), call())
		assert.ErrorIs(t, err, ErrOpen)
		cancel()
		wg.Wait()
		f.replies = []reply{says(good)}
		_, err = c.JSON(t.Context(), call())
		assert.NoError(t, err, "a probe that was cancelled leaves its place")
	})
}

func TestBreakerAndContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{stuck}}
		c := newClient(t, f)
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := c.JSON(ctx, call())
			require.ErrorIs(t, err, context.Canceled, "what the caller cancels counts for nothing")
		}
		for range 5 {
			_, err := c.JSON(t.Context(), call())
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		_, err := c.JSON(t.Context(), call())
		require.ErrorIs(t, err, ErrOpen)
	})
}

func TestBreakerHasAClockOfItsOwn(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := &fake{replies: []reply{downReply}}
	c := newClient(t, f, func(c *Config) { c.Now = func() time.Time { return now } })
	for range 5 {
		_, _ = c.JSON(t.Context(), call())
	}
	_, err := c.JSON(t.Context(), call())
	require.ErrorIs(t, err, ErrOpen)
	assert.EqualError(t, err, "llm: the endpoint failed too often in a row and is left alone for another 30s")
	now = now.Add(30 * time.Second)
	_, err = c.JSON(t.Context(), call())
	require.False(t, errors.Is(err, ErrOpen))
}

// TestLateFailuresDoNotProlong: a call that began before the circuit opened, and fails after it did, changes nothing.
func TestLateFailuresDoNotProlong(t *testing.T) {
	var b breaker
	t0 := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for range maxFailed {
		probe, err := b.allow(t0)
		require.NoError(t, err)
		b.done(probe, failed, t0)
	}
	b.done(false, failed, t0.Add(20*time.Second))
	probe, err := b.allow(t0.Add(30 * time.Second))
	require.NoError(t, err)
	assert.True(t, probe)
	b.done(false, failed, t0.Add(31*time.Second))
	_, err = b.allow(t0.Add(32 * time.Second))
	assert.ErrorIs(t, err, ErrOpen, "the probe is still under way")
}
