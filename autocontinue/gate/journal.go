package gate

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// firstPrev stands in the first line, which has no line before it.
var firstPrev = strings.Repeat("0", 2*sha256.Size)

// maxLine is longer than any line of a session.
const maxLine = 2*maxMaxBody + 4*maxPolicy

const sumField = `"sum":"`

// encode writes an event as its line and sets its Sum: the hash of the line up to the field that holds the hash.
func encode(e *Event) ([]byte, error) {
	e.Sum = ""
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	line := b.Bytes()[:b.Len()-len("\"}\n")]
	e.Sum = lineSum(line[:len(line)-len(sumField)])
	return append(append(line, e.Sum...), "\"}\n"...), nil
}

func lineSum(line []byte) string {
	h := sha256.New()
	io.WriteString(h, "sidecoach gate line 1\n")
	h.Write(line)
	return hex.EncodeToString(h.Sum(nil))
}

// decode reads a line, with its newline. seq and prev are the number and the hash of the line before.
func decode(line []byte, seq uint64, prev string) (Event, error) {
	end := len(line) - len("\"}\n") - len(firstPrev)
	if end < len(sumField) || !bytes.HasSuffix(line[:end], []byte(sumField)) {
		return Event{}, errors.New("it does not end with its own hash: it was changed, or it is something else")
	}
	sum := lineSum(line[:end-len(sumField)])
	if string(line[end:end+len(sum)]) != sum {
		return Event{}, errors.New("its hash does not match its contents: it was changed")
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, errors.New("it is not an event")
	}
	switch {
	case e.Seq != seq+1:
		return Event{}, fmt.Errorf("its number is %d instead of %d: a line is missing or was moved", e.Seq, seq+1)
	case e.Prev != prev:
		return Event{}, errors.New("it does not follow the line before it: that line was changed or exchanged")
	}
	again := e
	if written, err := encode(&again); err != nil || !bytes.Equal(written, line) {
		return Event{}, errors.New("a session writes this event in another way")
	}
	return e, nil
}

// replay applies the whole lines of a journal.
func (s *Session) replay(journal io.Reader) error {
	damaged := func(line int, err error) error {
		return fmt.Errorf("%w, line %d: %w", ErrCorrupt, line, err)
	}
	r := bufio.NewReaderSize(journal, 64<<10)
	reached := s.options.Head == "" || s.options.Head == s.st.sum
	for n := 1; ; n++ {
		line, err := readLine(r, maxLine)
		switch {
		case errors.Is(err, io.EOF) && !reached:
			return damaged(n, errors.New("the journal ends before the line of Options.Head: lines are missing"))
		case errors.Is(err, io.EOF):
			return nil // text after the last newline was not written completely, and nobody was told of it
		case err != nil:
			return damaged(n, err)
		}
		e, err := decode(line, s.st.seq, s.st.sum)
		if err == nil {
			err = s.st.check(e)
		}
		if err == nil {
			err = s.st.apply(e, len(line))
		}
		if err != nil {
			return damaged(n, err)
		}
		reached = reached || e.Sum == s.options.Head
		s.events.add(e, len(line))
	}
}

var errLongLine = errors.New("it is longer than any line of a session")

// readLine returns the next line with its newline, or io.EOF when there is not a whole one.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > limit:
			return nil, errLongLine
		}
	}
}
