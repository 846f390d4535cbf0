package llm

import (
	"fmt"
	"sync"
	"time"
)

const (
	maxFailures = 5
	openFor     = 30 * time.Second
)

// breaker counts the calls that failed in a row. From maxFailures on it lets one call through every openFor, until one
// is answered. The zero value is ready to use.
type breaker struct {
	mu       sync.Mutex
	failures int
	until    time.Time // no call before
}

// allow returns an error if no call may be made now.
func (b *breaker) allow(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if left := b.until.Sub(now); left > 0 {
		return fmt.Errorf("%w for another %s", ErrOpen, left.Round(time.Second))
	}
	if b.failures >= maxFailures {
		b.until = now.Add(openFor) // this call tries; the others wait for what it finds
	}
	return nil
}

// done notes how a call ended.
func (b *breaker) done(failed bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed {
		b.failures, b.until = 0, time.Time{}
		return
	}
	if b.failures++; b.failures >= maxFailures {
		b.until = now.Add(openFor)
	}
}
