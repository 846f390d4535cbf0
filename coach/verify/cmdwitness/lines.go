package cmdwitness

import "bytes"

// Lines is a writer that hands on what is written to it line by line, without line ends. Of a line that is longer than its
// limit the beginning is handed on, marked as cut; memory is that of one such line. It never fails. It is for one goroutine.
type Lines struct {
	max    int
	handle func(line []byte, cut bool) // line is valid during the call only
	buf    []byte
	cut    bool
}

// NewLines returns a writer that calls handle with each line, of which it keeps at most max bytes.
func NewLines(max int, handle func(line []byte, cut bool)) *Lines {
	return &Lines{max: max, handle: handle}
}

// Write takes p and hands on the lines that it ends.
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		if room := l.max - len(l.buf); len(part) > room {
			l.cut = true
			part = part[:max(0, room)]
		}
		l.buf = append(l.buf, part...)
		if i < 0 {
			return n, nil
		}
		l.end()
		p = p[i+1:]
	}
	return n, nil
}

// Close hands on the last line, if it has no end.
func (l *Lines) Close() error {
	if len(l.buf) > 0 || l.cut {
		l.end()
	}
	return nil
}

func (l *Lines) end() {
	l.handle(bytes.TrimSuffix(l.buf, []byte("\r")), l.cut)
	l.buf, l.cut = l.buf[:0], false
}
