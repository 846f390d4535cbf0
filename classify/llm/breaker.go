package llm

import (
	"fmt"
	"sync"
	"time"
)

// A breaker leaves an endpoint alone for a while once calls failed in a row.
const (
	maxUnparseable = 3
	maxFailed      = 5
	openFor        = 30 * time.Second
)

// outcome is what became of a call.
type outcome int

const (
	answered outcome = iota
	failed
	unparseable
	abandoned // by the caller: says nothing about the endpoint
)

// breaker is closed when the zero value. Once the time it is open for is over, one call is let through, the probe: its
// outcome closes it, or opens it again.
type breaker struct {
	mu          sync.Mutex
	failed      int // calls in a row, the unparseable ones included
	unparseable int // calls in a row
	until       time.Time
	probing     bool
}

// allow returns an error if no call may be made now. Else done must be told what became of the call, and whether it was
// the probe.
func (b *breaker) allow(now time.Time) (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return false, nil
	}
	if left := b.until.Sub(now); left > 0 {
		return false, fmt.Errorf("%w for another %s", ErrOpen, left.Round(time.Second))
	}
	if b.probing {
		return false, fmt.Errorf("%w until the call that tries it comes back", ErrOpen)
	}
	b.probing = true
	return true, nil
}

func (b *breaker) done(probe bool, o outcome, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch o {
	case abandoned:
		return
	case answered:
		b.failed, b.unparseable, b.until = 0, 0, time.Time{}
		return
	case unparseable:
		b.unparseable++
	case failed:
		b.unparseable = 0
	}
	b.failed++
	if probe || b.until.IsZero() && (b.failed >= maxFailed || b.unparseable >= maxUnparseable) {
		b.until = now.Add(openFor)
	}
}
