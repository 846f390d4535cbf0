package transcript

import (
	"bytes"
	"context"
	"fmt"
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
	Bytes int64
	Long  int // lines left out because they are longer than 4 MiB
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
	err := w.lines(ctx)
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
	told    string // ID of the message at whose pause the turn ended

	damaged, firstDamaged int // lines that are not of the format, and the first of them
}

type said struct{ id, text string }

func (w *walk) lines(ctx context.Context) error {
	l := newLines(w.r, 0, w.size)
	cutOff := false
	for l.scan() {
		if l.no%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.account.Bytes, w.now = l.next, l.no
		switch {
		case l.long:
			w.account.Long++
			w.state.add(entry{kind: lost})
			continue
		case len(bytes.TrimSpace(l.text)) == 0:
			continue
		}
		parsed := readLine(w.Format, w.Subagent, l.text, l.at-w.base, w.state.Messages)
		switch {
		case parsed.known:
			if err := w.change(parsed.session, l); err != nil {
				return err
			}
			if err := w.take(parsed); err != nil {
				return err
			}
		case !parsed.isJSON && !l.whole && l.next >= w.size:
			cutOff = true
		case !parsed.isJSON:
			if w.damaged++; w.damaged == 1 {
				w.firstDamaged = l.no
			}
		default: // of another format, or of a newer version
			v, _ := parse(l.text)
			if other := formatOf(v); other != "" && other != w.Format {
				return fault(
					ErrInterleaved,
					l.no,
					"a line of %s is among those of %s; keep each in a file of its own",
					other,
					w.Format,
				)
			}
		}
	}
	if l.err != nil {
		return cause(l.err)
	}
	if !cutOff { // or what came after is not known
		if err := w.pause(); err != nil {
			return err
		}
	}
	switch {
	case w.damaged == 0 && cutOff, w.damaged == 1 && w.firstDamaged > 1 && w.firstDamaged == w.now:
		return fault(ErrTruncated, w.now, "the last line is cut off")
	case w.damaged == 1 && w.firstDamaged == 1:
		return fault(ErrTruncated, 1, "the first line is cut off")
	}
	switch w.damaged {
	case 0:
		return nil
	case 1:
		return fault(ErrDamaged, w.firstDamaged, "it is not a line of %s", w.Format)
	}
	return fault(ErrDamaged, w.firstDamaged, "this is the first of %d lines that are not of %s", w.damaged, w.Format)
}

// fault is what is wrong at a line. It quotes nothing.
func fault(kind error, line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w: %s", line, kind, fmt.Sprintf(format, args...))
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
	case ended:
		err := w.pause()
		w.told = w.state.trace().MessageID
		return err
	case human, command, feedback, notice, forget:
		if e.summary && w.told != "" { // after the end of a turn, Codex has the model write the summary
			w.told = w.state.trace().MessageID
		}
		if err := w.pause(); err != nil {
			return err
		}
		w.told = ""
	case message:
		w.line, w.mode = w.now, w.state.Mode
		w.keep(e)
	}
	w.spoken = w.spoken || e.kind != mode
	if !w.state.add(e) {
		return nil
	}
	w.said = nil
	spoke := w.event()
	spoke.Prompt, spoke.Turn = w.state.Request, w.state.Turn
	return w.visit(spoke)
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

// pause tells of a pause, where the agent paused.
func (w *walk) pause() error {
	t := w.state.trace()
	if t.Message == "" || w.told != "" && t.MessageID == w.told {
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
	w.state = &State{position{Known: true, fold: fold{Work: nothing()}}}
}

// change begins another session, when the line says that it belongs to one.
func (w *walk) change(session string, l *lines) error {
	switch {
	case session == "" || session == w.session:
		return nil
	case !w.spoken: // it had no name so far; or it took over what was said in another, whose first lines it repeats
		if w.session == w.name {
			w.session = session
		}
		return nil
	case w.ended[session]:
		return fault(ErrInterleaved, l.no, "a session continues after another has begun; keep each in a file of its own")
	}
	if err := w.pause(); err != nil {
		return err
	}
	if len(w.ended) < maxSessions {
		w.ended[w.session] = true
	}
	w.begin(session)
	w.base = l.at
	return nil
}
