package hook

import (
	"bufio"
	"bytes"
	"io"
)

// document reads sessions that are one JSON object with all messages, as Gemini CLI wrote them before 2026, message by message
// from the first to the last: indented in whatever way, or on one line. It holds no more than one message.
type document struct {
	*lines // where a message is put, as if it stood on a line of its own
	in     *bufio.Reader
	all    io.ReaderAt
	size   int64

	pos    int64 // what was read
	line   int   // that it stands on
	ended  int   // the line on which the message before ended
	rec    []byte
	over   bool // what was read is longer than rec may be
	inside bool // the messages come next
	begun  bool // an object has begun, and not ended

	session string // the ID of the session
	hashed  bool   // it names a project
	found   bool   // it has messages
	start   int64  // where it begins

	fault   string // what is wrong, and ends the reading
	fault1  int    // the line of it
	faultAt int64  // where what is wrong begins
	cut     bool   // it ends too early
}

func newDocument(r io.ReaderAt, size int64, l *lines) *document {
	d := &document{lines: l, all: r, size: size, line: 1}
	d.from(0)
	if b, _ := d.in.Peek(3); bytes.Equal(b, []byte("\ufeff")) {
		d.take(3, 0)
	}
	return d
}

// from begins to read at an offset.
func (d *document) from(at int64) {
	d.pos = at
	d.in = bufio.NewReaderSize(io.NewSectionReader(d.all, at, d.size-at), 256<<10)
}

// scan goes to the next message. It reports false at the end, and where it cannot go on.
func (d *document) scan() bool {
	for d.inside || d.open() {
		c := d.peek()
		switch {
		case c == ']':
			d.take(1, 0)
			d.inside = false
			continue
		case c == ',':
			d.take(1, 0)
			continue
		case c == 0:
			return false
		}
		at, line := d.pos, d.line
		if !d.value(maxLine) {
			return false
		}
		l := d.lines
		l.text, l.long, l.whole = d.rec, d.over, true
		l.at, l.next, l.no = at, d.pos, d.line
		if d.over {
			l.text = nil
		}
		l.first = l.last + max(1, line-d.ended)
		l.last = l.first + d.line - line
		d.ended = d.line
		return true
	}
	return false
}

// open reads the members of the object up to its messages. Another object may follow, and is another session.
func (d *document) open() bool {
	for {
		c := d.peek()
		switch {
		case c == 0 && !d.begun:
			d.cut = false // all was read
			return false
		case c == 0:
			return false
		case !d.begun && c != '{':
			return d.wrong("what comes from here on belongs to no session")
		case !d.begun:
			d.begun, d.found, d.session, d.hashed, d.start = true, false, "", false, d.pos
			d.take(1, 0)
		case c == '}':
			d.take(1, 0)
			if d.begun = false; !d.found {
				d.wrong("the object that ends here has no messages")
				d.faultAt = d.start
				return false
			}
		case c == ',':
			d.take(1, 0)
		case c == '"':
			if d.member(); d.inside || d.cut || d.fault != "" {
				return d.inside
			}
		default:
			return d.wrong("what comes from here on is no JSON")
		}
	}
}

// member reads a member of the object, but not the messages.
func (d *document) member() {
	if !d.value(1 << 10) {
		return
	}
	key := textOf(d.rec)
	switch d.peek() {
	case ':':
	case 0:
		return
	default:
		d.wrong("what comes from here on is no JSON")
		return
	}
	d.take(1, 0)
	if c := d.peek(); key == "messages" && c == '[' {
		d.take(1, 0)
		d.inside, d.found = true, true
		if d.session == "" {
			d.session = d.later()
		}
		return
	}
	if !d.value(1 << 10) {
		return
	}
	switch key {
	case "sessionId":
		if !d.over && d.session == "" {
			d.session = textOf(d.rec)
		}
	case "projectHash":
		d.hashed = true
	}
}

// later returns the ID of a session whose messages come before it, as where members were sorted.
func (d *document) later() string {
	rest := &document{lines: &lines{}, all: d.all, size: d.size, begun: true, found: true}
	rest.from(d.start + 1)
	for rest.begun {
		switch c := rest.peek(); c {
		case ',', '}':
			rest.take(1, 0)
			rest.begun = c == ','
		case '"':
			if !rest.value(1 << 10) {
				return ""
			}
			key := textOf(rest.rec)
			if rest.peek() != ':' {
				return ""
			}
			rest.take(1, 0)
			if rest.peek(); !rest.value(1 << 10) {
				return ""
			}
			if key == "sessionId" && !rest.over {
				return textOf(rest.rec)
			}
		default:
			return ""
		}
	}
	return ""
}

// wrong ends the reading.
func (d *document) wrong(what string) bool {
	d.fault, d.fault1, d.faultAt = what, d.line, d.pos
	return false
}

// other returns the format of what stands where something is wrong, "" where that is none or the same.
func (d *document) other() Host {
	l := newLines(io.NewSectionReader(d.all, d.faultAt, d.size-d.faultAt))
	l.scan()
	if h := formatOf(l.text); h != Gemini {
		return h
	}
	return ""
}

// peek returns the next byte that is no white space, 0 at the end.
func (d *document) peek() byte {
	for {
		b := d.window()
		if len(b) == 0 {
			d.cut = true
			return 0
		}
		n := space(b, 0)
		d.take(n, 0)
		if n == len(b) {
			continue
		}
		if b[n] == 0 { // as a system leaves behind that broke down
			d.wrong("what comes from here on is no JSON")
			return 0
		}
		return b[n]
	}
}

// window returns what was read ahead, nothing at the end and after an error.
func (d *document) window() []byte {
	if _, err := d.in.Peek(1); err != nil {
		if err != io.EOF {
			d.err = err
		}
		return nil
	}
	b, _ := d.in.Peek(d.in.Buffered())
	return b
}

// take goes on by n bytes of the window. Most is how long what is kept of a value may become; 0 keeps nothing.
func (d *document) take(n, most int) {
	b, _ := d.in.Peek(n)
	switch {
	case most == 0 || d.over:
	case len(d.rec)+n > most:
		d.over, d.rec = true, d.rec[:0]
	default:
		d.rec = append(d.rec, b...)
	}
	d.line += bytes.Count(b, []byte("\n"))
	d.pos += int64(n)
	d.in.Discard(n)
}

// value reads a value into rec. It reports false where it has no end.
func (d *document) value(most int) bool {
	d.rec, d.over = d.rec[:0], false
	depth, quoted, escaped := 0, false, false
	for {
		b := d.window()
		if len(b) == 0 {
			d.cut = true
			return false
		}
		i, done := 0, false
		for ; i < len(b) && !done; i++ {
			c := b[i]
			if quoted {
				switch {
				case escaped:
					escaped = false
				case c == '\\':
					escaped = true
				case c == '"':
					quoted, done = false, depth == 0
				case c == '\n':
					d.take(i, 0)
					return d.wrong("a string has no end")
				}
				continue
			}
			switch c {
			case '"':
				quoted = true
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth < 0 {
					i--
				}
				done = depth <= 0
			case ',', ':', ' ', '\t', '\r', '\n', 0:
				if depth == 0 {
					i--
					done = true
				}
			}
		}
		if i == 0 && done && len(d.rec) == 0 && !d.over {
			return d.wrong("what comes from here on is no JSON")
		}
		if d.take(i, most); done {
			return true
		}
	}
}

// isDocument reports whether a file is such a session of Gemini CLI's.
func isDocument(r io.ReaderAt, size int64) bool {
	d := newDocument(r, min(size, maxHead), &lines{})
	if !d.open() {
		return false
	}
	named, many := d.session != "" || d.hashed, d.line > 1
	if c := d.peek(); c == ']' {
		return named && many // else lines follow
	}
	if named {
		return true
	}
	return d.value(maxLine) && geminiKinds[textOf(member(d.rec, "type"))] && member(d.rec, "id") != nil
}
