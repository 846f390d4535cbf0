package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Event is what a hook would have met in an old session: a prompt of the human, or a pause.
type Event struct {
	Session string // its ID, or the name of the file
	Agent   string // the sub-agent, in a transcript of its own
	Dir     string // where the agent works
	Line    int    // of the file; of a pause, where the agent's message ends

	Pause  bool
	Prompt string // the human's words, at most 16 KiB
	Turn   string // the host's ID of the prompt
	Trace  Trace  // of a pause: what the transcript said at that time
	Said   string // of a pause: all that the agent printed since the human spoke, for hosts that report that

	State *State // tell it what is sent, see [State.Sent]
}

// Account says what of a file was read.
type Account struct {
	Lines   int
	Bytes   int64
	Long    int // lines left out because they are longer than 4 MiB
	Damaged int // lines, or messages of a session that is one JSON object, that are not of the format
}

// Walk goes through the file from its beginning and calls visit for each event, in memory that does not grow with the
// file.
//
// An error wraps [ErrTruncated] or [ErrDamaged] when lines are cut off or are not of the format; it comes at the end
// of the file. It wraps [ErrInterleaved] when lines of another session or format are mixed with those before; Walk
// ends there. Other errors come from visit, ctx and reading.
func (t *Transcript) Walk(ctx context.Context, visit func(Event) error) (Account, error) {
	w := &walk{Transcript: t, visit: visit, ended: make(map[string]bool)}
	w.begin(t.name)
	err := w.run(ctx)
	if err == nil {
		err = w.verdict()
	}
	return w.account, err
}

const maxSessions = 10_000 // that are remembered to have ended

// walk is one walk through a file.
type walk struct {
	*Transcript
	visit   func(Event) error
	account Account

	ended   map[string]bool // sessions before
	session string
	agent   string
	state   *State
	spoken  bool   // something was said in the session
	mode    string // when the last message was printed
	base    int64  // where the session begins
	line    int    // where the last message ends
	now     int
	said    []said // since the human spoke

	damaged int  // the first line that is not of the format
	half    bool // the last line is cut off
}

type said struct{ id, text string }

func (w *walk) run(ctx context.Context) error {
	if w.document {
		return w.readDocument(ctx)
	}
	l := newLines(io.NewSectionReader(w.r, 0, w.size), 0)
	for n := 0; l.scan(); n++ {
		if n%256 == 255 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.account.Lines, w.account.Bytes, w.now = l.no, l.next, l.no
		if l.long {
			w.account.Long++
			w.state.add(entry{kind: lost})
			continue
		}
		if len(bytes.TrimSpace(l.text)) == 0 {
			continue
		}
		if err := w.one(l); err != nil {
			return err
		}
	}
	if l.err != nil {
		return cause(l.err)
	}
	if w.half {
		return nil // what came after is not known
	}
	return w.pause()
}

// one takes in a line.
func (w *walk) one(l *lines) error {
	parsed := readLine(w.Format, w.Subagent, l.text, l.at-w.base, w.state.Messages)
	if !parsed.known {
		return w.unknown(l)
	}
	if err := w.change(parsed.header, l); err != nil {
		return err
	}
	return w.take(parsed)
}

// take takes in what a line says.
func (w *walk) take(l line) error {
	w.state.move(l.dir)
	w.agent = first(l.agent, w.agent)
	for _, e := range l.entries {
		if err := w.entry(e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(e entry) error {
	switch e.kind {
	case human, command, feedback, notice, forget:
		if err := w.pause(); err != nil {
			return err
		}
	case message:
		w.line, w.mode = w.now, w.state.Mode
		w.keep(e)
	}
	w.spoken = w.spoken || e.kind != mode
	if w.state.add(e) {
		return w.prompt(w.state.Request, w.state.Turn)
	}
	return nil
}

// keep remembers what was printed in this turn. What is said of a message again stands in its place.
func (w *walk) keep(e entry) {
	if w.Format != Gemini {
		return
	}
	for i := range w.said {
		if w.said[i].id == e.id {
			w.said[i].text = e.text
			return
		}
	}
	if len(w.said) < 1000 {
		w.said = append(w.said, said{e.id, clip(e.text, maxMessage)})
	}
}

// prompt tells of words of the human.
func (w *walk) prompt(text, turn string) error {
	w.said = nil
	e := w.event()
	e.Prompt, e.Turn = text, turn
	return w.visit(e)
}

// pause tells of a pause, where the agent paused.
func (w *walk) pause() error {
	t := w.state.trace()
	if t.Message == "" {
		return nil
	}
	t.Mode = w.mode // the next turn may have begun in another one
	e := w.event()
	e.Pause, e.Trace, e.Line, e.Turn = true, t, w.line, t.Turn
	parts := make([]string, len(w.said))
	for i, s := range w.said {
		parts[i] = s.text
	}
	e.Said = strings.Join(parts, "\n")
	return w.visit(e)
}

func (w *walk) event() Event {
	return Event{Session: w.session, Agent: w.agent, Dir: w.state.Dir, Line: w.now, State: w.state}
}

func (w *walk) begin(session string) {
	w.session, w.agent, w.spoken, w.said = session, "", false, nil
	w.state = &State{position{fold: fold{Work: nothing()}}}
	w.state.Known = true
}

// change begins another session, when the line says that it belongs to one.
func (w *walk) change(h header, l *lines) error {
	switch {
	case h.session == "" || h.session == w.session:
		return nil
	case !w.spoken: // it had no name so far; or it took over what was said in another, whose first lines it repeats
		if w.session == w.name {
			w.session = h.session
		}
		return nil
	case w.ended[h.session]:
		return fault(ErrInterleaved, l.no, "a session continues after another has begun; keep each in a file of its own")
	}
	if err := w.pause(); err != nil {
		return err
	}
	if len(w.ended) < maxSessions {
		w.ended[w.session] = true
	}
	w.begin(h.session)
	w.base = l.at
	return nil
}

// unknown looks at a line that is not of the format: of another one, of a newer version, or not a line at all.
func (w *walk) unknown(l *lines) error {
	if other := formatOf(l.text); other != "" && other != w.Format {
		return fault(ErrInterleaved, l.no, "a line of %s is among those of %s; keep each in a file of its own", other, w.Format)
	}
	switch {
	case json.Valid(l.text):
	case l.whole || l.next < w.size:
		if w.account.Damaged++; w.damaged == 0 {
			w.damaged = l.no
		}
	default:
		w.half = true
	}
	return nil
}

// verdict says what is wrong with the lines.
func (w *walk) verdict() error {
	what := "line"
	if w.document {
		what = "message"
	}
	switch {
	case w.half && w.account.Damaged == 0, w.account.Damaged == 1 && w.damaged > 1 && w.damaged == w.account.Lines && !w.document:
		return fault(ErrTruncated, w.account.Lines, "the last line is cut off")
	case w.account.Damaged == 0:
		return nil
	case w.damaged == 1 && w.account.Damaged == 1 && !w.document:
		return fault(ErrTruncated, 1, "the first line is cut off")
	case w.account.Damaged == 1:
		return fault(ErrDamaged, w.damaged, "it is not a %s of %s", what, w.Format)
	}
	return fault(ErrDamaged, w.damaged, "this is the first of %d %ss that are not of %s", w.account.Damaged, what, w.Format)
}

// readDocument goes through a session that is one JSON object.
func (w *walk) readDocument(ctx context.Context) error {
	d := newDocument(io.NewSectionReader(w.r, 0, w.size))
	for n := 0; d.next(); n++ {
		if n%256 == 255 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if d.session != "" && w.session == w.name {
			w.session = d.session
		}
		w.account.Lines, w.account.Bytes, w.now = d.line, d.dec.InputOffset(), d.line
		l := readGeminiMessage(d.message)
		if !l.known {
			if w.account.Damaged++; w.damaged == 0 {
				w.damaged = d.line
			}
			continue
		}
		if err := w.take(l); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(d.err, io.ErrUnexpectedEOF), errors.Is(d.err, io.EOF):
		return fault(ErrTruncated, w.account.Lines, "the end of the session is cut off")
	case d.err != nil:
		return fault(ErrDamaged, w.account.Lines, "what follows is not JSON of %s, or too long", w.Format)
	}
	return w.pause()
}
