package llm

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
)

// key is the content hash of a call.
type key [sha256.Size]byte

// judged is what a call came to.
type judged struct {
	verdict Verdict
	usage   classify.Usage
	err     error
	hurried bool // it failed for want of time: with more it might have been answered
}

// flights lets identical calls at the same time share one. A caller that gives up leaves it to the others; the call ends
// when the last one has left, or when its own time is over, which may be before that of those who joined it.
type flights struct {
	mu sync.Mutex
	by map[key]*flight
}

type flight struct {
	done     chan struct{} // closed when result is there
	result   judged
	panicked any // what the call panicked with; then it panics where it is waited for

	mu      sync.Mutex
	waiting int
	until   time.Time // the latest deadline of those who wait
	cancel  context.CancelCauseFunc
}

var errVanished = errors.New("llm: the call ended without a result")

// do returns what call returns, and whether this caller began it. A call takes no longer than timeout, whoever joins it.
func (fs *flights) do(ctx context.Context, timeout time.Duration, k key, call func(context.Context) judged) (r judged, began bool) {
	fs.mu.Lock()
	f := fs.by[k]
	if began = f == nil; began {
		f = &flight{done: make(chan struct{}), result: judged{err: errVanished}}
		inner, stop := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		inner, f.cancel = context.WithCancelCause(inner)
		if fs.by == nil {
			fs.by = make(map[key]*flight)
		}
		fs.by[k] = f
		f.join(ctx)
		go func() {
			defer stop()
			defer f.cancel(nil)
			defer close(f.done)
			defer fs.forget(k, f)
			defer func() { f.panicked = recover() }()
			f.result = call(patient{inner, f})
		}()
	} else {
		f.join(ctx)
	}
	fs.mu.Unlock()

	select {
	case <-f.done:
		f.leave(nil)
		if f.panicked != nil {
			panic(f.panicked)
		}
		return f.result, began
	case <-ctx.Done():
		fs.mu.Lock()
		if f.leave(context.Cause(ctx)) && fs.by[k] == f {
			delete(fs.by, k) // nobody can join a call that is cancelled
		}
		fs.mu.Unlock()
		return judged{err: late(ctx)}, began
	}
}

func (fs *flights) forget(k key, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.by[k] == f {
		delete(fs.by, k)
	}
}

func (f *flight) join(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting++
	if d, ok := ctx.Deadline(); ok && d.After(f.until) {
		f.until = d
	}
}

// leave reports whether the caller was the last; then the call is cancelled.
func (f *flight) leave(why error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting--
	if f.waiting > 0 {
		return false
	}
	f.cancel(why)
	return true
}

// patient is the context of a shared call: its deadline is the latest of those who wait for it, and moves when another one
// joins.
type patient struct {
	context.Context
	f *flight
}

func (p patient) Deadline() (time.Time, bool) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	d, ok := p.Context.Deadline()
	if u := p.f.until; !u.IsZero() && (!ok || u.Before(d)) {
		return u, true
	}
	return d, ok
}
