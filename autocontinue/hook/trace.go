package hook

import (
	"errors"
	"io"
)

// Trace is what the end of a transcript says about a pause. The zero value says nothing.
type Trace struct {
	Read bool  // there is a transcript, and it is one of the host's
	Err  error // why it was not read; nil when it was

	Whole   bool   // it was read back to the human's last words, or to its beginning
	Request string // the human's last words, at most 64 KiB of them; empty when they were not found
	Turn    string // the host's ID of that prompt, if it has such

	Message   string // what the agent printed last, if nothing of the conversation comes after it
	MessageID string // the host's ID of it, or where in the file it begins; empty when Message is

	Continues int    // how often a message of ours sent the agent on since the human's last words
	Mode      string // the permission mode of the turn, where the transcript has it; an event's own comes before it
	Aborted   bool   // the human interrupted the agent, and nothing came after
	Tests     Tests  // since the last edit of this turn
	Why       string // a few words for people: the run, or why there is none that counts
}

// Look reads the end of the event's transcript. M is what is remembered of the session; the zero Memory will do.
func (e Event) Look(m Memory) Trace {
	d := e.Host.dialect()
	if d == nil || !e.Kind.IsPause() {
		return Trace{Err: errors.New("there is nothing to look for")}
	}
	f, size, err := e.open()
	if err != nil {
		return Trace{Err: err}
	}
	defer f.Close()
	return look(f, size, d.transcript(e), e.project(), e.oursIn(m))
}

// oursIn reports which messages of a transcript are ours, given them from the last to the first. Those without our prefix are
// as many as were sent since the human spoke, where that is remembered: before them, the human may have said the same.
func (e Event) oursIn(m Memory) func(string) bool {
	plain := len(m.Sent)
	return func(s string) bool {
		if isOurs(s) {
			return true
		}
		if !e.ours(s, m) || plain == 0 && m.Pauses > 0 {
			return false
		}
		if len(m.Sent) < maxSent { // else there were more
			plain--
		}
		return true
	}
}

// look reads a transcript from its end.
func look(r io.ReaderAt, size int64, s script, at project, ours func(string) bool) Trace {
	return lookWith(nil, newTail(r, size, farReach), s, at, ours)
}

// lookWith is look. Before, where it is not nil, reads in its place what comes before the human's last words, above the line at
// an offset, and reports whether that was all.
func lookWith(before func(c *collector, at int64) bool, t backward, s script, at project, ours func(string) bool) Trace {
	c := collector{ours: ours, at: at}
	var entries []entry
	lines, known, whole := 0, 0, false
	for !c.done {
		line, at, ok := t.prev()
		if !ok {
			break
		}
		if space(line, 0) == len(line) {
			continue
		}
		lines++
		entries = entries[:0]
		if s.entries(line, at, func(e entry) { entries = append(entries, e) }) {
			known++
		}
		for i := len(entries) - 1; i >= 0 && !c.done; i-- {
			c.add(entries[i])
		}
		if before != nil && c.before && !c.done {
			whole = before(&c, at)
			break
		}
	}
	tr := c.trace(whole || t.whole())
	switch {
	case t.failure() != nil:
		return Trace{Err: cause(t.failure())}
	case known > 0:
		tr.Read = true
		return tr
	case lines == 0 && t.leftOut() == 0:
		return Trace{Err: errors.New("it is empty")}
	}
	return Trace{Err: errors.New("none of its lines is one that this host writes")}
}
