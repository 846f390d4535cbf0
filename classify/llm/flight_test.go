package llm

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slow answers after d, or when the request is given up.
func slow(d time.Duration, then reply) reply {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d):
			return then(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

func TestIdenticalCallsShareOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{slow(time.Second, says(good))}}
		j := newJudge(t, f, Options{})
		var wg sync.WaitGroup
		attempts := make([]int, 20)
		for i := range attempts {
			wg.Go(func() {
				r, err := j.Classify(t.Context(), classify.Input{Text: "x"})
				if assert.NoError(t, err) {
					attempts[i] = r.Usage.Attempts
					assert.Equal(t, time.Second, r.Usage.Latency)
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 1, f.calls())
		sum := 0
		for _, n := range attempts {
			sum += n
		}
		assert.Equal(t, 1, sum, "one of them paid")

		_, err := j.Classify(t.Context(), classify.Input{Text: "x"})
		require.NoError(t, err)
		assert.Equal(t, 2, f.calls(), "later ones pay again, without a cache")
	})
}

func TestOtherCallsDoNotShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{slow(time.Second, says(good))}}
		j := newJudge(t, f, Options{})
		var wg sync.WaitGroup
		for _, in := range []classify.Input{{Text: "x"}, {Text: "y"}, {Text: "x", Request: "r"}, {Text: "x", Coached: 1}} {
			wg.Go(func() { _, _ = j.Classify(t.Context(), in) })
		}
		wg.Wait()
		assert.Equal(t, 4, f.calls())
	})
}

// TestOneLeavesTheOthersStay: the caller that began the call gives up; the others get its answer.
func TestOneLeavesTheOthersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{slow(3*time.Second, says(good))}}
		j := newJudge(t, f, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := j.Classify(ctx, classify.Input{Text: "x"})
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				r, err := j.Classify(t.Context(), classify.Input{Text: "x"})
				if assert.NoError(t, err) {
					assert.Equal(t, 3*time.Second, r.Usage.Latency)
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 1, f.calls())
	})
}

func TestTheLastToLeaveEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Time, 1)
		f := &fake{replies: []reply{func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			ended <- time.Now()
			return nil, r.Context().Err()
		}}}
		j := newJudge(t, f, Options{})
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Duration(i+1)*time.Second, cancel)
			wg.Go(func() {
				_, err := j.Classify(ctx, classify.Input{Text: "x"})
				assert.ErrorIs(t, err, context.Canceled)
			})
		}
		wg.Wait()
		assert.Equal(t, 3*time.Second, (<-ended).Sub(start))
		assert.Equal(t, 1, f.calls())

		f.replies = []reply{says(good)}
		_, err := j.Classify(t.Context(), classify.Input{Text: "x"})
		assert.NoError(t, err, "nobody joins a call that was given up")
	})
}

// TestNobodyJoinsACallThatIsGivenUp, not even while its transport has not noticed yet.
func TestNobodyJoinsACallThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			time.Sleep(5 * time.Second)
			return nil, r.Context().Err()
		}, says(good)}}
		j := newJudge(t, f, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := j.Classify(ctx, classify.Input{Text: "x"})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = j.Classify(t.Context(), classify.Input{Text: "x"})
		assert.NoError(t, err)
		assert.Equal(t, time.Second, time.Since(start))
		time.Sleep(10 * time.Second) // until the first call has ended
	})
}

// TestAStuckCallIsNotKeptAlive: callers that join one after another do not make it last longer than the timeout. Those who
// have time left when it ends share another one.
func TestAStuckCallIsNotKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{stuck, slow(2500*time.Millisecond, says(good))}}
		j := newJudge(t, f, Options{})
		start := time.Now()
		attempts := make([]int, 5)
		var wg sync.WaitGroup
		for i, after := range []time.Duration{9 * time.Second, 12500 * time.Millisecond, 12500 * time.Millisecond, 12500 * time.Millisecond, 18500 * time.Millisecond} {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 4 * time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
				defer cancel()
				began := time.Now()
				r, err := j.Classify(ctx, classify.Input{Text: "x"})
				assert.Equal(t, after, time.Since(start), i)
				if i == 0 {
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				} else if assert.NoError(t, err) {
					assert.Equal(t, time.Since(began), r.Usage.Latency, i)
					attempts[i] = r.Usage.Attempts
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 3, f.calls(), "the last one came when the second had been answered")
		assert.Equal(t, 1, attempts[1]+attempts[2]+attempts[3], "one of them paid")
	})
}

// TestTheSecondCallIsTheLast: who joined a stuck call gets one more, not one after another.
func TestTheSecondCallIsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{stuck}}
		j := newJudge(t, f, Options{}, func(c *Config) { c.NoBreaker = true })
		start := time.Now()
		var wg sync.WaitGroup
		for _, comes := range []time.Duration{0, time.Second, 9 * time.Second} {
			wg.Go(func() {
				time.Sleep(comes)
				_, err := j.Classify(t.Context(), classify.Input{Text: "x"})
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, comes+10*time.Second, time.Since(start))
			})
		}
		wg.Wait()
		assert.Equal(t, 2, f.calls())
	})
}

// TestNoTimeForARetry: a shared call that gives up because its time is short is made again by those who have more.
func TestNoTimeForARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{slow(8*time.Second, status(503, "", "Retry-After", "3")), says(good)}}
		j := newJudge(t, f, Options{})
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := j.Classify(t.Context(), classify.Input{Text: "x"})
			assert.ErrorIs(t, err, StatusError{503, 3 * time.Second})
		})
		wg.Go(func() {
			time.Sleep(5 * time.Second)
			_, err := j.Classify(t.Context(), classify.Input{Text: "x"})
			assert.NoError(t, err)
			assert.Equal(t, 8*time.Second, time.Since(start))
		})
		wg.Wait()
		assert.Equal(t, 2, f.calls())
	})
}

// TestAnErrorIsShared: it is no want of time, so nobody asks again.
func TestAnErrorIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{slow(time.Second, status(401, ""))}}
		j := newJudge(t, f, Options{})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := j.Classify(t.Context(), classify.Input{Text: "x"})
				assert.ErrorIs(t, err, StatusError{Code: 401})
			})
		}
		wg.Wait()
		assert.Equal(t, 1, f.calls())
	})
}

func TestRetryAfterBeyondAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{replies: []reply{status(429, "", "Retry-After", "5"), says(good)}}
		j := newJudge(t, f, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		_, err := j.Classify(ctx, classify.Input{Text: "x"})
		assert.ErrorIs(t, err, StatusError{429, 5 * time.Second})
		assert.Zero(t, time.Since(start), "no use in waiting")
	})
}

// TestStuckCallsOpenTheCircuit: that the callers leave when their time is up does not hide it from the breaker.
func TestStuckCallsOpenTheCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJudge(t, &fake{replies: []reply{stuck}}, Options{})
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := j.Classify(ctx, classify.Input{Text: "x"})
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			synctest.Wait()
		}
		_, err := j.Classify(t.Context(), classify.Input{Text: "x"})
		require.ErrorIs(t, err, ErrOpen)
	})
}

// TestATransportThatExits: one that ends its goroutine, as a test's FailNow does, leaves nobody waiting.
func TestATransportThatExits(t *testing.T) {
	j := newJudge(t, &fake{replies: []reply{func(*http.Request) (*http.Response, error) { runtime.Goexit(); return nil, nil }}}, Options{})
	_, err := j.Classify(t.Context(), classify.Input{Text: "x"})
	assert.ErrorIs(t, err, errVanished)
}

// TestATransportThatPanics: it does so where the host can recover.
func TestATransportThatPanics(t *testing.T) {
	j := newJudge(t, &fake{replies: []reply{func(*http.Request) (*http.Response, error) { panic("transport") }}}, Options{})
	assert.PanicsWithValue(t, "transport", func() { _, _ = j.Classify(t.Context(), classify.Input{Text: "x"}) })
}

func TestCache(t *testing.T) {
	f := &fake{replies: []reply{says(rejectedAnswer)}}
	j := newJudge(t, f, Options{Cache: 2})
	ask := func(text string) classify.Result {
		r, err := j.Classify(t.Context(), classify.Input{Text: text})
		require.NoError(t, err)
		return r
	}
	first := ask("a")
	again := ask("a")
	assert.Equal(t, 1, f.calls())
	assert.Equal(t, classify.Usage{Model: "judge-2"}, *again.Usage)
	again.Usage = first.Usage
	assert.Equal(t, first, again)

	ask("b")
	ask("a")
	ask("c") // b was used last before a
	assert.Equal(t, 3, f.calls())
	ask("a")
	assert.Equal(t, 3, f.calls())
	ask("b")
	assert.Equal(t, 4, f.calls())
	assert.Equal(t, 2, j.cache.used.Len())
	assert.Len(t, j.cache.by, 2)
}

func TestFailuresAreNotCached(t *testing.T) {
	f := &fake{replies: []reply{says("prose"), says(good)}}
	j := newJudge(t, f, Options{Cache: 2})
	_, err := j.Classify(t.Context(), classify.Input{Text: "a"})
	require.Error(t, err)
	r, err := j.Classify(t.Context(), classify.Input{Text: "a"})
	require.NoError(t, err)
	assert.Equal(t, classify.Completion, r.Type)
}

func TestCacheKeepsVerdictsNotSpans(t *testing.T) {
	f := &fake{replies: []reply{says(rejectedAnswer)}}
	j := newJudge(t, f, Options{Cache: 2})
	for _, text := range []string{"Line.\nFixed it, should work now.", "Line.\r\nFixed it, should work now."} {
		r, err := j.Classify(t.Context(), classify.Input{Text: text})
		require.NoError(t, err)
		for _, s := range r.Signals {
			assert.NotContains(t, text[s.Start:s.End], "Line", fmt.Sprint(s))
		}
	}
	assert.Equal(t, 1, f.calls(), "the same bytes for the judge")
}
