package hook

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
)

// How long a message is waited for. Claude Code writes it to the transcript up to 110 ms after it has called the hook.
const (
	awaited     = 300 * time.Millisecond // a message that the event carries
	awaitedLast = time.Second            // the last one, whatever it is
)

// Await reads what is new in the transcript of a pause, and waits until it has the message of the event, as a message after
// the last prompt. For an event without a message, it waits for any message. When time is up, the trace is Behind. Again,
// unless it is nil, reads the memory anew, for a host that tells what the agent printed in an event of its own, which another
// process may be at work on. The memory that is returned has read the transcript.
func (e Event) Await(ctx context.Context, m Memory, again func() (Memory, error)) (transcript.Trace, Memory, error) {
	if e.Host.dialect() == nil || !e.Kind.IsPause() {
		return transcript.Trace{Err: errors.New("there is nothing to look for")}, m, nil
	}
	src := transcript.Source{
		Format: transcript.Format(e.Host), Path: e.Transcript.Value, Dir: e.WorkDir.Value, Subagent: e.Kind == SubagentStop,
	}
	msg, reported := e.Message.Get()
	status := strings.ToLower(e.Status.Value)
	tells := again != nil && e.Host == Cursor
	var failed error
	patience := awaited
	done := func(t transcript.Trace) bool { return t.Err != nil || t.Aborted || t.Shows(msg, e.Host.Accumulates()) }
	switch {
	case e.Kind != Stop && e.Kind != SubagentStop, reported && blank(msg), e.Message.Is == Null, status != "" && status != "completed":
		done = nil
	case !reported:
		patience = awaitedLast
		done = func(t transcript.Trace) bool {
			if tells && failed == nil {
				var fresh Memory
				if fresh, failed = again(); failed == nil {
					fresh.Transcript, m = m.Transcript, fresh
				}
			}
			_, held := m.said(e)
			return failed != nil || held || tells && m.told(e) || t.Aborted || t.Err != nil && !tells || t.Message != "" && !t.Old
		}
	}
	state := m.Transcript
	t := state.Await(ctx, src, patience, done)
	m.Transcript = state
	return t, m, failed
}

// told reports whether another hook of this pause was told of it before: then what the agent printed is judged already.
func (m Memory) told(e Event) bool {
	id := e.prompted()
	return id != "" && id == m.Timed.Last
}
