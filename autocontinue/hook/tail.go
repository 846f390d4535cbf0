package hook

import (
	"bytes"
	"io"
)

// How much of a transcript is read.
const (
	maxTail  = 32 << 20 // bytes from its end
	maxLines = 50_000
	maxLine  = 4 << 20 // bytes of one line; a longer one is left out
	tailRead = 64 << 10
)

// tail reads the lines of a file from its last to its first. It holds no more than one line and one read of it, and can begin
// anew with the memory that it has.
type tail struct {
	r     io.ReaderAt
	start int64  // of buf in the file
	buf   []byte // what was read and not handed out yet
	room  []byte // which buf is a part of
	at    int    // where in room it begins
	lines int
	left  int64 // bytes that may still be read
	most  int   // lines that may be
	long  int   // lines left out because they are too long
	err   error
}

// backward hands out what a transcript holds from its end.
type backward interface {
	prev() (line []byte, at int64, ok bool)
	whole() bool    // it was read to its beginning
	leftOut() int   // lines that are too long
	failure() error // that ended it
}

func newTail(r io.ReaderAt, size int64, far reach) *tail { return new(tail).anew(r, size, far) }

// anew begins with another file, or the same at another size.
func (t *tail) anew(r io.ReaderAt, size int64, far reach) *tail {
	*t = tail{r: r, start: size, left: far.bytes, most: far.lines, room: t.room, at: len(t.room)}
	return t
}

// prev returns the line before those it returned, without its end, and where in the file it begins. The line is good until
// the next call. ok is false at the beginning of the file, at the limits and after an error.
func (t *tail) prev() (line []byte, at int64, ok bool) {
	tooLong := false
	from := len(t.buf) // no newline in buf[from:]
	for t.lines < t.most {
		if n := bytes.LastIndexByte(t.buf[:from], '\n'); n >= 0 {
			line, at = t.buf[n+1:], t.start+int64(n)+1
			t.buf = t.buf[:n]
			t.lines++
			if tooLong || len(line) > maxLine {
				t.long++
				tooLong, from = false, len(t.buf)
				continue
			}
			return bytes.TrimSuffix(line, []byte("\r")), at, true
		}
		if t.start == 0 {
			if t.buf == nil {
				return nil, 0, false
			}
			line = t.buf
			t.buf = nil
			t.lines++
			if tooLong || len(line) > maxLine {
				t.long++
				return nil, 0, false
			}
			return bytes.TrimSuffix(line, []byte("\r")), 0, true
		}
		if len(t.buf) > maxLine {
			tooLong, t.buf = true, t.buf[:0]
		}
		n := t.fill()
		if n == 0 {
			return nil, 0, false
		}
		from = n
	}
	return nil, 0, false
}

// fill reads what stands before buf, the more the longer buf is, and returns how many bytes that is.
func (t *tail) fill() int {
	n := min(int64(max(tailRead, len(t.buf))), t.start, t.left)
	if n <= 0 {
		return 0
	}
	if size := int(n) + len(t.buf); int(n) > t.at {
		room := t.room
		if size > len(room) {
			room = make([]byte, size)
		}
		t.at = len(room) - len(t.buf)
		copy(room[t.at:], t.buf)
		t.room, t.buf = room, room[t.at:]
	}
	from := t.at - int(n)
	if got, err := t.r.ReadAt(t.room[from:t.at], t.start-n); int64(got) < n {
		t.err, t.left = err, 0 // it shrank while it was read
		return 0
	}
	t.buf, t.at = t.room[from:t.at+len(t.buf)], from
	t.start -= n
	t.left -= n
	return int(n)
}

// whole reports whether the file was read to its beginning.
func (t *tail) whole() bool    { return t.start == 0 && t.buf == nil && t.err == nil }
func (t *tail) leftOut() int   { return t.long }
func (t *tail) failure() error { return t.err }
