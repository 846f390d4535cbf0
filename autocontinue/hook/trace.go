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
	return look(f, size, d.transcript(e), e.project(), func(s string) bool { return e.ours(s, m) })
}

// look reads a transcript from its end.
func look(r io.ReaderAt, size int64, s script, at project, ours func(string) bool) Trace {
	t := newTail(r, size)
	c := collector{ours: ours, at: at}
	var entries []entry
	lines, known := 0, 0
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
	}
	tr := c.trace(t.whole())
	switch {
	case t.err != nil:
		return Trace{Err: cause(t.err)}
	case known > 0:
		tr.Read = true
		return tr
	case lines == 0 && t.long == 0:
		return Trace{Err: errors.New("it is empty")}
	}
	return Trace{Err: errors.New("none of its lines is one that this host writes")}
}
