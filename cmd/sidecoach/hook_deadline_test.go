package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// The context of a hook ends at its limit and when its host has gone. A hook that goes on all the same is ended.
func TestWatchdog(t *testing.T) {
	ends := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	hangs := func(context.Context) error { time.Sleep(time.Hour); return errors.New("late") }
	for name, tt := range map[string]struct {
		do      func(context.Context) error
		limit   time.Duration
		orphan  time.Duration // when the host goes
		want    string
		took    time.Duration
		exitsAt time.Duration // 0 is never
	}{
		"in time":       {func(context.Context) error { return nil }, time.Minute, 0, "", 0, 0},
		"its own error": {func(context.Context) error { return errors.New("own") }, time.Minute, 0, "own", 0, 0},
		"too late":      {ends, time.Minute, 0, "no decision: the time for a hook is over", time.Minute, 0},
		"more time": {ends, -time.Minute, 0, "no decision: the time for a hook is over",
			time.Minute + verifySeconds*time.Second, 0},
		"host gone": {ends, time.Minute, 3 * time.Second, "no decision: the host has gone", 3 * time.Second, 0},
		"hangs":     {hangs, time.Minute, 0, "no decision: the time for a hook is over", time.Hour, time.Minute + hookGrace},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				exited := time.Duration(0)
				w := watchdog{limit: max(tt.limit, -tt.limit), more: func() bool { return tt.limit < 0 }, exit: func() {
					exited = time.Since(start)
				}, parent: func() int {
					if tt.orphan > 0 && time.Since(start) >= tt.orphan {
						return 1
					}
					return 7
				}}
				err := w.run(t.Context(), tt.do)
				synctest.Wait()
				if tt.want == "" {
					assert.NoError(t, err)
				} else {
					assert.EqualError(t, err, tt.want)
				}
				assert.InDelta(t, tt.took.Seconds(), time.Since(start).Seconds(), 0.2)
				assert.InDelta(t, tt.exitsAt.Seconds(), exited.Seconds(), 0.2)
			})
		})
	}
}
