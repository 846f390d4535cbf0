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

// firstPrev stands where the first line would hold the hash of the line before.
var firstPrev = strings.Repeat("0", 2*sha256.Size)

// maxLine is longer than any line that a session writes, whose bodies have at most maxMaxBody bytes.
const maxLine = 2*maxMaxBody + maxPolicy*2

// JournalError says which line of a journal cannot be what the session wrote.
type JournalError struct {
	Line    int // from 1
	Problem string
}

func (e *JournalError) Error() string { return fmt.Sprintf("journal, line %d: %s", e.Line, e.Problem) }

// Unwrap makes the error an [ErrCorrupt].
func (e *JournalError) Unwrap() error { return ErrCorrupt }

const sumField = `"sum":"`

// encode writes an event as its line and sets its Sum: the hash of the line up to the field that holds it.
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
	sum := sha256.Sum256(append([]byte("sidecoach gate line 1\n"), line...))
	return hex.EncodeToString(sum[:])
}

// decode reads a line, with its newline, that follows the one numbered seq whose hash is prev.
func decode(line []byte, seq uint64, prev string) (Event, error) {
	end := len(line) - len("\"}\n") - len(firstPrev)
	if end < len(sumField) || !bytes.HasSuffix(line[:end], []byte(sumField)) {
		return Event{}, errors.New("it does not end with its own hash: it was changed, or is of something else")
	}
	sum := lineSum(line[:end-len(sumField)])
	if string(line[end:end+len(sum)]) != sum {
		return Event{}, errors.New("its hash is not that of its contents: it was changed")
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, errors.New("it is not an event")
	}
	switch {
	case e.Seq != seq+1:
		return Event{}, fmt.Errorf("it is number %d and should be %d: a line is missing, or stands elsewhere", e.Seq, seq+1)
	case e.Prev != prev:
		return Event{}, errors.New("it follows another line than the one before it: that one was changed or exchanged")
	}
	again := e
	if written, err := encode(&again); err != nil || !bytes.Equal(written, line) {
		return Event{}, errors.New("it is not written as a session writes it")
	}
	return e, nil
}

// replay applies the journal's whole lines.
func (s *Session) replay(journal io.Reader) error {
	r := bufio.NewReaderSize(journal, 64<<10)
	reached := s.options.Head == "" || s.options.Head == s.st.sum
	for n := 1; ; n++ {
		line, err := readLine(r, maxLine)
		switch {
		case errors.Is(err, io.EOF) && !reached:
			return &JournalError{n, "the journal ends before the line whose hash it must hold: lines are missing at its end"}
		case errors.Is(err, io.EOF):
			return nil // what stands after the last newline was never written wholly, and nobody was told of it
		case errors.Is(err, errLongLine):
			return &JournalError{n, err.Error()}
		case err != nil:
			return fmt.Errorf("%w: reading line %d: %w", ErrCorrupt, n, err)
		}
		e, err := decode(line, s.st.seq, s.st.sum)
		if err == nil {
			err = s.st.apply(e, len(line))
		}
		if err != nil {
			return &JournalError{n, err.Error()}
		}
		reached = reached || e.Sum == s.options.Head
		s.events.add(e, len(line))
	}
}

var errLongLine = errors.New("it is longer than any line of a session")

// readLine returns the next line with its newline, or io.EOF when there is no whole one.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if len(line) > most {
			return nil, errLongLine
		}
	}
}
