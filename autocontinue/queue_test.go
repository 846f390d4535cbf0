package autocontinue

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// inside calls fn while it is alone in the session, or returns the error of ctx.
func (q *queue) inside(ctx context.Context, session string, fn func()) error {
	unlock, err := q.lock(ctx, session)
	if err != nil {
		return err
	}
	defer unlock()
	fn()
	return nil
}

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue{lines: map[string]*line{}}
		var order []int
		assert.NoError(t, q.inside(t.Context(), "s", func() {
			for i := range 50 {
				go func() { assert.NoError(t, q.inside(t.Context(), "s", func() { order = append(order, i) })) }()
				synctest.Wait()
			}
			assert.NoError(t, q.inside(t.Context(), "other", func() {}), "sessions do not wait for each other")
		}))
		synctest.Wait()
		assert.Len(t, order, 50)
		for i := range order {
			assert.Equal(t, i, order[i])
		}
		assert.Empty(t, q.lines, "nothing is kept of idle sessions")
	})
}

func TestQueueGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue{lines: map[string]*line{}}
		var gaveUp, entered atomic.Int32
		assert.NoError(t, q.inside(t.Context(), "s", func() {
			for i := range 100 {
				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%2+1)*time.Minute)
					defer cancel()
					if err := q.inside(ctx, "s", func() { entered.Add(1) }); err != nil {
						assert.ErrorIs(t, err, context.DeadlineExceeded)
						gaveUp.Add(1)
					}
				}()
			}
			time.Sleep(90 * time.Second) // of the bubble's clock
		}))
		synctest.Wait()
		assert.EqualValues(t, 50, gaveUp.Load())
		assert.EqualValues(t, 50, entered.Load())
		assert.Empty(t, q.lines)
	})
}

// Entering and giving up at the same moment loses no turn.
func TestQueueUnderLoad(t *testing.T) { synctest.Test(t, queueUnderLoad) }

func queueUnderLoad(t *testing.T) {
	q := queue{lines: map[string]*line{}}
	var inside [3]atomic.Int32
	var wg sync.WaitGroup
	for i := range 600 {
		wg.Go(func() {
			s := i % len(inside)
			ctx, cancel := context.WithCancel(t.Context())
			if i%3 == 0 {
				go cancel()
			}
			defer cancel()
			_ = q.inside(ctx, fmt.Sprint(s), func() {
				assert.EqualValues(t, 1, inside[s].Add(1))
				inside[s].Add(-1)
			})
		})
	}
	wg.Wait()
	synctest.Wait()
	assert.Empty(t, q.lines)
}
