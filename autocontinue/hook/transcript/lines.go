package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

const (
	maxLine     = 4 << 20  // bytes of a line; a longer one is left out
	maxDocument = 16 << 20 // bytes of a session that is one JSON object
)

var byteOrderMark = []byte("\ufeff")

// lines reads a file's lines. It holds no more than one of them. A session that is one JSON object, as Gemini CLI wrote
// them before 2026, is one line.
type lines struct {
	r        *bufio.Reader
	document bool
	next     int64 // where the next line begins

	text  []byte // the line with its end; good until the next one
	at    int64  // where it begins
	no    int    // its number, from 1
	long  bool   // it is too long, and text is empty
	whole bool   // it has an end
	err   error
}

func newLines(r io.ReaderAt, at, size int64) *lines {
	return &lines{
		r:        bufio.NewReaderSize(io.NewSectionReader(r, at, size-at), 256<<10),
		next:     at,
		document: at == 0 && isDocument(r, size),
	}
}

// isDocument reports whether a file is one JSON object that is not on one line of a size that lines may have.
func isDocument(r io.ReaderAt, size int64) bool {
	head := make([]byte, min(size, 64<<10))
	n, _ := r.ReadAt(head, 0)
	head = bytes.TrimLeft(bytes.TrimPrefix(head[:n], byteOrderMark), " \t\r\n")
	first, _, broken := bytes.Cut(head, []byte("\n"))
	switch {
	case len(first) == 0 || first[0] != '{':
		return false
	case broken:
		return len(bytes.TrimSpace(first)) == 1
	}
	return bytes.Contains(first, []byte(`"messages"`)) && bytes.Contains(first, []byte(`"sessionId"`)) &&
		!json.Valid(first)
}

// scan goes to the next line. It reports false at the end of the file and after an error.
func (l *lines) scan() bool {
	l.text, l.at, l.long = l.text[:0], l.next, false
	most := maxLine
	if l.document {
		most = maxDocument
	}
	for l.err == nil {
		part, err := l.r.ReadSlice('\n')
		l.next += int64(len(part))
		if l.long = l.long || len(l.text)+len(part) > most+1; l.long {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull), err == nil && l.document:
			continue
		case err != nil && !errors.Is(err, io.EOF):
			l.err = err
		case l.next > l.at:
			l.no++
			l.whole = err == nil
			return true
		}
		return false
	}
	return false
}
