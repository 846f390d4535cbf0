package hook

import (
	"context"
	"strings"
	"time"
)

// awaited is how long a transcript is waited for. Its writer is milliseconds behind the hook, where it is.
const awaited = time.Second

// Await is [Event.Look] for a host whose pauses have no message. Where the transcript has not got it yet, and m holds none, it
// looks again for at most a second, or until ctx ends. For all others it looks once.
func (e Event) Await(ctx context.Context, m Memory) Trace {
	tr := e.Look(m)
	if _, held := m.said(e); held || e.Message.Is != Absent || e.Kind != Stop {
		return tr
	}
	if status := strings.ToLower(e.Status.Value); status != "" && status != "completed" {
		return tr
	}
	tick := time.NewTicker(awaited / 20)
	defer tick.Stop()
	for n := 0; n < 20 && tr.Read && tr.Message == "" && !tr.Aborted; n++ {
		select {
		case <-ctx.Done():
			return tr
		case <-tick.C:
			tr = e.Look(m)
		}
	}
	return tr
}
