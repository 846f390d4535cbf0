package main

import (
	"context"
	"errors"
	"time"
)

const (
	hookMargin  = 5 * time.Second        // the hook gives up this long before its host does
	hookGrace   = time.Second            // after that, the process ends
	parentCheck = 100 * time.Millisecond // how often a hook looks whether its host is still there
)

var (
	errTooLate  = errors.New("the time for a hook is over")
	errHostGone = errors.New("the host has gone")
)

// watchdog ends a hook that takes too long, whatever it is doing. Hosts such as Gemini CLI wait for a hook even after
// they have sent it a signal. The context of the hook ends first, and with it the commands that the hook has started.
type watchdog struct {
	limit  time.Duration
	more   func() bool // reports whether verifySeconds are added to the limit
	parent func() int  // the ID of the process that waits for the hook
	exit   func()      // ends the process
}

// run calls do and returns its error. It calls w.exit if do has not returned [hookGrace] after its context has ended.
func (w watchdog) run(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer func() { _ = recover() }() // the runtime's exit status means "block" to a host
		w.watch(ctx, cancel)
		select {
		case <-done:
		case <-time.After(hookGrace):
			w.exit()
		}
	}()
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && (cause == errTooLate || cause == errHostGone) {
		return letStop(cause)
	}
	return err
}

// watch returns when ctx has ended. It ends ctx at the limit, and when the host has gone.
func (w watchdog) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	check := time.NewTicker(parentCheck)
	defer check.Stop()
	start, host := time.Now(), w.parent()
	for {
		select {
		case <-ctx.Done():
			return
		case <-check.C:
			limit := w.limit
			if w.more() {
				limit += verifySeconds * time.Second
			}
			switch {
			case time.Since(start) >= limit:
				cancel(errTooLate)
			case w.parent() != host:
				cancel(errHostGone)
			}
		}
	}
}
