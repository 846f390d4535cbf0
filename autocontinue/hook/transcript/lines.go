package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const maxLine = 4 << 20 // bytes of a line; a longer one is left out

var byteOrderMark = []byte("\ufeff")

// lines reads a file's lines. It holds no more than one of them.
type lines struct {
	r    *bufio.Reader
	next int64 // where the next line begins
	buf  []byte

	text  []byte // the line, without its end and a byte order mark; good until the next one
	at    int64  // where it begins
	no    int    // its number, from 1
	long  bool   // it is longer than maxLine, and text is empty
	whole bool   // it has an end
	err   error
}

func newLines(r io.Reader, at int64) *lines {
	return &lines{r: bufio.NewReaderSize(r, 256<<10), next: at}
}

// scan goes to the next line. It reports false at the end of the file and after an error.
func (l *lines) scan() bool {
	l.text, l.at, l.long, l.whole, l.buf = nil, l.next, false, false, l.buf[:0]
	for l.err == nil {
		part, err := l.r.ReadSlice('\n')
		l.next += int64(len(part))
		if !l.long && len(l.buf)+len(bytes.TrimSuffix(part, []byte("\n"))) > maxLine {
			l.long, l.buf = true, l.buf[:0]
		}
		switch {
		case err == nil && len(l.buf) == 0 && !l.long:
			l.text = part // no copy
		case !l.long:
			l.buf = append(l.buf, part...)
			l.text = l.buf
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			l.err = err
			return false
		}
		if err != nil && l.next == l.at {
			return false
		}
		l.no++
		l.whole = err == nil
		l.text = bytes.TrimSuffix(bytes.TrimSuffix(l.text, []byte("\n")), []byte("\r"))
		l.text = bytes.TrimPrefix(l.text, byteOrderMark)
		if l.long {
			l.text = nil
		}
		return true
	}
	return false
}
