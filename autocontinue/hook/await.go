package hook

import (
	"context"
	"strings"
	"time"
)

// awaited is how long a message is waited for. Its writer is milliseconds behind the hook, where it is.
const awaited = time.Second

// Await is [Event.Look] for a host whose pauses have no message. Where the transcript has not got it yet, and m holds none, it
// looks again for at most a second, or until ctx ends. Again, unless it is nil, reads the memory anew, for a host that tells
// what the agent printed in an event of its own, which another process may be at work on. For all others it looks once. The
// memory is the one that the trace belongs to.
func (e Event) Await(ctx context.Context, m Memory, again func() (Memory, error)) (Trace, Memory, error) {
	tr := e.Look(m)
	if e.Message.Is != Absent || e.Kind != Stop {
		return tr, m, nil
	}
	if status := strings.ToLower(e.Status.Value); status != "" && status != "completed" {
		return tr, m, nil
	}
	tells := again != nil && e.Host == Cursor
	tick := time.NewTicker(awaited / 20)
	defer tick.Stop()
	for n := 0; n < 20 && (tr.Read || tells) && tr.Message == "" && !tr.Aborted; n++ {
		if _, held := m.said(e); held || tells && m.told(e) {
			break
		}
		select {
		case <-ctx.Done():
			return tr, m, nil
		case <-tick.C:
		}
		if tells {
			var err error
			if m, err = again(); err != nil {
				return tr, m, err
			}
		}
		tr = e.Look(m)
	}
	return tr, m, nil
}

// told reports whether another hook of this pause was told of it before: then what the agent printed is judged already.
func (m Memory) told(e Event) bool {
	id := e.prompted()
	return id != "" && id == m.Timed.Last
}
