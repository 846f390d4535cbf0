package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// Transcript is the file of an old session, or of several, whose pauses can be gone through again.
type Transcript struct {
	Format Host // whose it is, or [SpecStory] or [Aider]

	r         io.ReaderAt
	size      int64
	name      string
	sidechain bool // of a sub-agent of Claude Code's
	oneLine   bool // of Gemini CLI, all messages on one line
}

// Loop decides. [autocontinue.AutoContinue] is one.
type Loop interface {
	Reset(ctx context.Context, session string) error
	Handle(ctx context.Context, out autocontinue.Output) (autocontinue.Decision, error)
}

// Moment is a pause, what was decided about it, and what the human wrote then.
type Moment struct {
	Event    Event
	Output   autocontinue.Output
	Decision autocontinue.Decision
	Line     int    // of the transcript, where the agent's message ends
	Next     string // the human's next words, at most 64 KiB; empty when there were none before the next pause or the end
}

// Account says what of a transcript was read.
type Account struct {
	Lines   int   // of the file
	Bytes   int64 // of the file
	Long    int   // lines left out because they are longer than 4 MiB
	Damaged int   // lines that are none of the format
}

// OpenTranscript recognizes a transcript by its content. Name is what a session is called that has no ID. What is none of the
// [Formats] is an error that wraps [ErrFormat], and [ErrNoSession] or [ErrNotRead] where it is known what the file is.
func OpenTranscript(r io.ReaderAt, size int64, name string) (*Transcript, error) {
	t := &Transcript{r: r, size: size, name: name}
	l := newLines(io.NewSectionReader(r, 0, min(size, maxHead)))
	told := false // whether it is a sub-agent's is known
	for l.no < maxHeadLines && l.scan() {
		if len(l.text) == 0 {
			continue
		}
		format := formatOf(l.text)
		switch {
		case format == "":
			continue
		case t.Format == "":
			t.Format = format
			t.oneLine = format == Gemini && isObject(l.text) && len(member(l.text, "messages")) > 0
		}
		if t.Format != Claude {
			break
		}
		if side := member(l.text, "isSidechain"); side != nil && member(l.text, "message") != nil {
			t.sidechain = isTrue(side) // a sub-agent may speak first in its caller's transcript, as in 2025
			told = !t.sidechain
		}
		if told {
			break
		}
	}
	switch {
	case l.err != nil:
		return nil, fmt.Errorf("hook: transcript: %w", cause(l.err))
	case t.Format != "":
		return t, nil
	case size == 0:
		return nil, stranger{is: "empty", then: "there was nothing to keep", holds: ErrNoSession}
	}
	if err := strange(r, size); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("hook: %w: none of its first lines is one of a transcript", ErrFormat)
}

// Replay goes through the pauses of the transcript, as a hook would have met them while it grew: with the transcript up to
// there, what was remembered then, and the human's prompts between them. Start gives a loop, without any memory, for each
// session; show gets each pause, once it is known what the human wrote next. What a payload alone tells is not known: work in
// the background, and wake-ups; of Gemini CLI and Cursor, where the agent worked; of Cursor, that the human interrupted it after
// it had said something; so is what was said while a line was longer than 4 MiB.
//
// Memory does not grow with the file. An error wraps [ErrTruncated], [ErrDamaged] or [ErrInterleaved] when something is wrong
// with the file: the first two come at its end, the last where the lines of another session, or another format, are mixed with
// those before, which is as far as it goes. Other errors are those of start, loop, show, ctx and of reading.
func (t *Transcript) Replay(ctx context.Context, start func(session string) (Loop, error), show func(Moment) error) (Account, error) {
	r, size := t.r, t.size
	if t.oneLine {
		data, err := t.oneByOne()
		if err != nil {
			return Account{}, err
		}
		r, size = bytes.NewReader(data), int64(len(data))
	}
	w := &walk{Transcript: t, ctx: ctx, r: r, size: size, start: start, show: show, seen: make(map[string]bool)}
	err := w.run()
	return w.account, err
}

// oneByOne returns a session of Gemini's that stands on one line with a line a message.
func (t *Transcript) oneByOne() ([]byte, error) {
	l := newLines(io.NewSectionReader(t.r, 0, t.size))
	for l.scan() {
		messages := member(l.text, "messages")
		if messages == nil {
			continue
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "{\"sessionId\":%s,\"projectHash\":\"\"}\n", orNull(member(l.text, "sessionId")))
		for m := range elements(messages) {
			b.Write(bytes.ReplaceAll(m, []byte("\n"), []byte(" ")))
			b.WriteByte('\n')
		}
		return b.Bytes(), nil
	}
	return nil, errors.Join(fault(ErrFormat, 1, "its messages cannot be found"), l.err)
}

func orNull(v []byte) []byte {
	if v == nil {
		return []byte(`""`)
	}
	return v
}
