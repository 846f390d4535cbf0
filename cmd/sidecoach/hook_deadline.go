package main

import (
	"context"
	"errors"
	"os"
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
	more   func() bool // reports whether verifySeconds are added to the limit; nil is no
	parent func() int  // the ID of the process that waits for the hook; nil when none does
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
		w.watch(ctx, cancel, done)
	}()
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && (cause == errTooLate || cause == errHostGone) {
		return letStop(cause)
	}
	return err
}

func (w watchdog) watch(ctx context.Context, cancel context.CancelCauseFunc, done <-chan struct{}) {
	limit := time.NewTimer(w.limit)
	defer limit.Stop()
	check := time.NewTicker(parentCheck)
	defer check.Stop()
	host := 0
	if w.parent != nil {
		host = w.parent()
	}
	for ctx.Err() == nil {
		select {
		case <-done:
			return
		case <-ctx.Done():
		case <-limit.C:
			if w.more != nil && w.more() {
				limit.Reset(verifySeconds * time.Second)
				w.more = nil
				continue
			}
			cancel(errTooLate)
		case <-check.C:
			if w.parent != nil && w.parent() != host {
				cancel(errHostGone)
			}
		}
	}
	select {
	case <-done:
	case <-time.After(hookGrace):
		w.exit()
	}
}

// exitWith returns a function that ends the process. It calls print first, but does not wait long for it.
func exitWith(print func()) func() {
	return func() {
		printed := make(chan struct{})
		go func() {
			defer func() { _ = recover() }()
			print()
			close(printed)
		}()
		select {
		case <-printed:
		case <-time.After(hookGrace / 4):
		}
		os.Exit(exitFailure)
	}
}
