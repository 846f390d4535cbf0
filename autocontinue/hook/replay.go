package hook

import (
	"context"
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
	oneObject bool // of Gemini CLI, all messages in one JSON object
	headless  bool // of which the beginning is not there
	far       reach
	unmarked  bool // all is read back over, for tests
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
	Long    int   // lines left out because they are longer than 4 MiB; messages, of a session that is one JSON object
	Damaged int   // the same, that are none of the format
}

// OpenTranscript recognizes a transcript by its content. Name is what a session is called that has no ID. What is none of the
// [Formats] is a [*FormatError], which says what the file is where that is known (UTF-16, packed, a database, a list of prompts,
// a session of another program), and what to do about it. Another error is one of reading.
func OpenTranscript(r io.ReaderAt, size int64, name string) (*Transcript, error) {
	t := &Transcript{r: r, size: size, name: name, far: farReach}
	if size == 0 {
		return nil, &FormatError{What: "it is empty; there was nothing to keep", Holds: HoldsNone}
	}
	if what := isForeign(r, size); what != "" {
		return nil, &FormatError{What: what}
	}
	if isDocument(r, size) {
		t.Format, t.oneObject = Gemini, true
		return t, nil
	}
	if what := isUnlined(r, size); what != "" {
		return nil, &FormatError{What: what, Holds: HoldsSession}
	}
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
			t.headless = geminiIndented(l.text) != ""
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
	}
	return nil, strange(r, size)
}

// Replay goes through the pauses of the transcript, as a hook would have met them while it grew: with the transcript up to
// there, what was remembered then, and the human's prompts between them. Start gives a loop, without any memory, for each
// session; show gets each pause, once it is known what the human wrote next. What a payload alone tells is not known: work in
// the background, and wake-ups; of Gemini CLI and Cursor, where the agent worked; of Cursor, that the human interrupted it after
// it had said something; so is what was said while a line was longer than 4 MiB. A session of Gemini CLI's that is one JSON
// object is read message by message, on however many lines each stands.
//
// Memory does not grow with the file. An error wraps [ErrTruncated], [ErrDamaged] or [ErrInterleaved] when something is wrong
// with the file: the first two come at its end, the last where the lines of another session, or another format, are mixed with
// those before, which is as far as it goes. Other errors are those of start, loop, show, ctx and of reading.
func (t *Transcript) Replay(ctx context.Context, start func(session string) (Loop, error), show func(Moment) error) (Account, error) {
	if t.headless {
		return Account{}, fault(ErrTruncated, 1, "the beginning of the session is cut off")
	}
	w := &walk{Transcript: t, ctx: ctx, r: t.r, size: t.size, start: start, show: show, seen: make(map[string]bool)}
	err := w.run()
	return w.account, err
}
