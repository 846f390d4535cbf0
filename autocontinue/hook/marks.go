package hook

import "io"

// mark is a line that says of tests or edits, so that reading back over what was said before the human's last words need not
// look at all the others. Marking too many lines costs time and changes nothing.
type mark struct {
	at   int64
	size int
	no   int // of the line
}

// marks are the lines of a session of that kind, as far back as a transcript is read. A nil one knows none: all are read.
type marks struct {
	list   []mark
	reach  reach
	calls  map[string]bool // calls that matter, for their results
	anyone bool            // there are too many of these: each result matters
	work   project         // that the agent works in
	named  *named          // of a host whose lines may change what earlier ones say
	buf    []byte          // a line that is read again
}

func newMarks(r reach) *marks { return &marks{reach: r, calls: make(map[string]bool)} }

// add takes in what a line says, of which there may be nothing.
func (m *marks) add(es []entry, k mark) {
	if m == nil {
		return
	}
	matters := false
	for _, e := range es {
		switch {
		case e.kind == call && m.matters(e.tool):
			matters = true
			if m.named != nil { // its result stands on the same line
				continue
			}
			if m.calls[e.tool.id] = true; len(m.calls) > 1<<16 {
				m.calls, m.anyone = make(map[string]bool), true
			}
		case e.kind == result && (m.anyone || m.calls[e.done.id]):
			matters = true
		}
	}
	if m.named != nil {
		matters = m.named.add(m, k, matters)
	}
	if matters {
		m.list = append(m.list, k)
	}
	if n := len(m.list); n > 2*min(1024, m.reach.lines) && !m.reach.has(m.list[n/2], k.at+int64(k.size), k.no) { // forget what is out of reach, seldom
		m.list = append([]mark(nil), m.list[n/2:]...)
	}
}

// matters reports whether a call can say something of tests.
func (m *marks) matters(t tool) bool {
	if len(t.edits) > 0 || t.named != "" || t.poll != "" {
		return true
	}
	for _, step := range m.work.parseScript(t.script) {
		if step.edits || step.tests {
			return true
		}
	}
	return false
}

// back gives the collector the marked lines before the line at an offset, of a file of that size whose last line has that
// number, as reading all of them would. It reports whether it came to the file's beginning.
func (m *marks) back(r io.ReaderAt, s script, c *collector, at, size int64, last int) bool {
	var entries []entry
	ender, _ := s.(interface{ ended() bool })
	for i := len(m.list) - 1; i >= 0 && !c.done; i-- {
		if ender != nil && ender.ended() {
			break
		}
		k := m.list[i]
		if k.at >= at {
			continue
		}
		if !m.reach.has(k, size, last) {
			return false
		}
		if cap(m.buf) < k.size {
			m.buf = make([]byte, k.size)
		}
		line := m.buf[:k.size]
		if _, err := r.ReadAt(line, k.at); err != nil && err != io.EOF {
			return false
		}
		entries = entries[:0]
		s.entries(line, k.at, func(e entry) { entries = append(entries, e) })
		for j := len(entries) - 1; j >= 0 && !c.done; j-- {
			c.add(entries[j])
		}
	}
	return m.reach.whole(size, last)
}
