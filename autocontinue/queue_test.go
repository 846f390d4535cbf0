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

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		assert.NoError(t, q.enter(t.Context(), "s"))
		var order []int
		for i := range 50 {
			go func() {
				assert.NoError(t, q.enter(t.Context(), "s"))
				order = append(order, i)
				q.leave("s")
			}()
			synctest.Wait()
		}
		assert.True(t, q.tryEnter("other"), "sessions do not wait for each other")
		assert.False(t, q.tryEnter("s"))
		q.leave("s")
		q.leave("other")
		synctest.Wait()
		for i := range order {
			assert.Equal(t, i, order[i])
		}
		assert.Len(t, order, 50)
		assert.Empty(t, q.busy, "nothing is kept of idle sessions")
	})
}

func TestQueueGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		assert.NoError(t, q.enter(t.Context(), "s"))
		var gaveUp, entered atomic.Int32
		for i := range 100 {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%2+1)*time.Minute)
				defer cancel()
				if err := q.enter(ctx, "s"); err != nil {
					assert.ErrorIs(t, err, context.DeadlineExceeded)
					gaveUp.Add(1)
					return
				}
				entered.Add(1)
				q.leave("s")
			}()
		}
		time.Sleep(90 * time.Second) // of the bubble's clock
		assert.EqualValues(t, 50, gaveUp.Load())
		q.leave("s")
		synctest.Wait()
		assert.EqualValues(t, 50, entered.Load())
		assert.Empty(t, q.busy)
	})
}

func TestQueueTurnThatComesWhileGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		for range 200 {
			assert.NoError(t, q.enter(t.Context(), "s"))
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if q.enter(ctx, "s") == nil {
					q.leave("s")
				}
			}()
			synctest.Wait()
			cancel()
			q.leave("s")
			synctest.Wait()
			assert.Empty(t, q.busy, "the turn was passed on")
		}
	})
}

// Entering and giving up at the same moment loses no turn.
func TestQueueUnderLoad(t *testing.T) {
	var q queue
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
			if q.enter(ctx, fmt.Sprint(s)) != nil {
				return
			}
			assert.EqualValues(t, 1, inside[s].Add(1))
			inside[s].Add(-1)
			q.leave(fmt.Sprint(s))
		})
	}
	wg.Wait()
	assert.Empty(t, q.busy)
}
