package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// document reads a session that is one JSON object, as Gemini CLI wrote them before 2026, message by message. It
// holds no more than one message.
type document struct {
	in      *countedReader
	dec     *json.Decoder
	session string
	message []byte // the last one that was read
	line    int    // on which it ends
	inside  bool   // it stands in the messages
	err     error
}

func newDocument(r io.Reader) *document {
	in := &countedReader{r: r, lines: 1}
	return &document{in: in, dec: json.NewDecoder(in)}
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
	return bytes.Contains(first, []byte(`"messages"`)) && bytes.Contains(first, []byte(`"sessionId"`)) && !json.Valid(first)
}

// next goes to the next message. It reports false at the end and after an error.
func (d *document) next() bool {
	for d.err == nil {
		d.in.left = maxRead
		switch {
		case d.dec.InputOffset() == 0:
			d.token('{')
		case d.inside && d.dec.More():
			var raw json.RawMessage
			if d.err = d.dec.Decode(&raw); d.err == nil {
				d.message, d.line = raw, d.in.lineAt(d.dec.InputOffset())
				return true
			}
		case d.inside:
			d.token(']')
			d.inside = false
		case d.dec.More():
			d.member()
		default:
			d.token('}')
			if d.err == nil {
				return false
			}
		}
	}
	return false
}

func (d *document) token(want json.Delim) {
	token, err := d.dec.Token()
	if err == nil && token != want {
		err = errors.New("unexpected JSON")
	}
	d.err = err
}

// member reads a member of the object, up to the messages.
func (d *document) member() {
	key, err := d.dec.Token()
	if err != nil {
		d.err = err
		return
	}
	if key == "messages" {
		d.token('[')
		d.inside = d.err == nil
		return
	}
	var raw json.RawMessage
	if d.err = d.dec.Decode(&raw); key == "sessionId" && d.err == nil {
		_ = json.Unmarshal(raw, &d.session)
	}
}

var errLongMessage = errors.New("a message is longer than 32 MiB")

// countedReader counts lines, and ends when too much is read for one message.
type countedReader struct {
	r      io.Reader
	left   int
	at     int64
	breaks []int64 // offsets of line ends that were not counted yet
	lines  int
}

func (c *countedReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLongMessage
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	if c.at == 0 && bytes.HasPrefix(p[:n], byteOrderMark) {
		copy(p, "   ")
	}
	for i, b := range p[:n] {
		if b == '\n' {
			c.breaks = append(c.breaks, c.at+int64(i))
		}
	}
	c.at += int64(n)
	c.left -= n
	return n, err
}

// lineAt returns the number of the line at an offset. Offsets grow from call to call.
func (c *countedReader) lineAt(offset int64) int {
	for len(c.breaks) > 0 && c.breaks[0] < offset {
		c.breaks = c.breaks[1:]
		c.lines++
	}
	return c.lines
}
