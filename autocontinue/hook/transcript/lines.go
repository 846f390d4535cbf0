package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

const maxLine = 4 << 20 // bytes of a line; a longer one is left out

// lines reads a file's lines. It holds no more than one of them.
type lines struct {
	r    *bufio.Reader
	next int64 // where the next line begins

	text  []byte // the line with its end; good until the next one
	at    int64  // where it begins
	no    int    // its number, from 1
	long  bool   // it is too long, and text is empty
	whole bool   // it has an end
	err   error

	value  value // of the line
	isJSON bool
}

func newLines(r io.ReaderAt, at, size int64) *lines {
	return &lines{r: bufio.NewReaderSize(io.NewSectionReader(r, at, size-at), 256<<10), next: at}
}

// scan goes to the next line. It reports false at the end of the file and after an error.
func (l *lines) scan() bool {
	l.text, l.at, l.long = l.text[:0], l.next, false
	for {
		part, err := l.r.ReadSlice('\n')
		l.next += int64(len(part))
		if l.long = l.long || len(l.text)+len(part) > maxLine+1; l.long {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			l.err = cause(err)
			return false
		}
		l.no++
		l.whole = err == nil
		l.value, l.isJSON = parse(l.text)
		return l.next > l.at
	}
}

func (l *lines) blank() bool { return len(bytes.TrimSpace(l.text)) == 0 }

// read reads the line. Seen are the IDs of the last messages, the last one last.
func (l *lines) read(f Format, subagent bool, seen []string) line {
	return read(f, l.value, "offset:"+strconv.FormatInt(l.at, 10), subagent, seen)
}
