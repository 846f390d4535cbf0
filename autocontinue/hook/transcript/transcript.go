package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
)

// Format names the agent that wrote a transcript.
type Format string

// The formats. They are the names of the hosts in package hook.
const (
	claude  Format = "claude"  // Claude Code
	codex   Format = "codex"   // Codex CLI
	gemini  Format = "gemini"  // Gemini CLI
	cursor  Format = "cursor"  // Cursor
	copilot Format = "copilot" // GitHub Copilot CLI
)

// Locations says, for people, which files are transcripts and where the agents keep them.
const Locations = "replay reads the sessions of Claude Code (~/.claude/projects), Codex (~/.codex/sessions), " +
	"Gemini CLI (~/.gemini/tmp/*/chats), Cursor (~/.cursor/projects) and Copilot CLI (~/.copilot/session-state)"

// ErrFormat says that a file is not a transcript.
var ErrFormat = errors.New("not a transcript")

// Transcript is the file of an old session.
type Transcript struct {
	Format   Format
	Subagent bool // it is a sub-agent's own

	r    io.ReaderAt
	size int64
	name string
}

// How much of a file is looked at to tell its format.
const (
	maxHead      = 8 << 20
	maxHeadLines = 400
)

// Open recognizes a transcript by its content. Name is the name of a session that has no ID. The error of a file that
// is not a transcript wraps [ErrFormat]. Other errors come from reading.
func Open(r io.ReaderAt, size int64, name string) (*Transcript, error) {
	t := &Transcript{r: r, size: size, name: name}
	l := newLines(context.Background(), r, 0, size)
	for l.no < maxHeadLines && l.next < maxHead && l.scan() {
		f := formatOf(l.value)
		if f == "" || t.Format != "" && f != t.Format {
			continue
		}
		t.Format, t.Subagent = f, f == claude && l.value.isTrue("isSidechain")
		// A sub-agent may speak first in its caller's transcript.
		if f != claude || l.value.isFalse("isSidechain") && l.value.has("message") {
			return t, nil
		}
	}
	switch {
	case l.err != nil:
		return nil, fmt.Errorf("transcript: %w", l.err)
	case t.Format != "":
		return t, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrFormat, Locations)
}

// formatOf tells a format by one line. It returns "" where the line does not show it.
func formatOf(v value) Format {
	for _, f := range []Format{claude, codex, copilot, gemini, cursor} {
		if read(f, v, "", false, nil).known {
			return f
		}
	}
	return ""
}

// Event is what a hook would have met in an old session: a prompt of the human, or a pause.
type Event struct {
	Session string // its ID, or the name of the file
	Agent   string // the sub-agent, in a transcript of its own
	Dir     string // where the agent works
	Line    int    // of the file; of a pause, where the agent's message ends

	Pause  bool
	Prompt string // the human's words, at most 16 KiB
	Trace  Trace  // of a pause: what the transcript said at that time

	State *State // tell it what is sent, see [State.Sent]
}

// Walk goes through the file from its beginning and calls visit for each event, in memory that does not grow with the
// file. Long counts the lines that it left out because they are longer than 4 MiB. It skips lines that are cut off,
// of another format or of another session, and reports them with an error at the end of the file. Other errors come
// from visit, ctx and reading.
func (t *Transcript) Walk(ctx context.Context, visit func(Event) error) (long int, err error) {
	state := &State{reading{Known: true, Work: newWork()}}
	w := &walk{visit: visit, State: state, at: Event{Session: t.name, State: state}}
	l := newLines(ctx, t.r, 0, t.size)
	unread, firstUnread, cutOff := 0, 0, false
	for l.scan() {
		w.at.Line = l.no
		parsed := l.read(t.Format, t.Subagent, w.Messages)
		switch {
		case l.long:
			long++
			w.add(parsed.entries[0])
		case w.known(parsed):
			w.move(parsed.dir)
			w.at.Dir, w.at.Agent = w.Dir, cmp.Or(parsed.agent, w.at.Agent)
			for _, e := range parsed.entries {
				if err := w.entry(e); err != nil {
					return long, err
				}
			}
		case !blank(string(l.text)) && (!l.isJSON || formatOf(l.value) != ""): // or it is of a newer version
			cutOff = !l.isJSON && !l.whole
			unread++
			firstUnread = cmp.Or(firstUnread, l.no)
		}
	}
	if err = l.err; err == nil && !cutOff { // or what came after is not known
		err = w.pause()
	}
	if err == nil && unread > 0 {
		err = fmt.Errorf("%w: %d, the first at line %d", errUnread, unread, firstUnread)
	}
	return long, err
}

var errUnread = errors.New("lines could not be read")

type walk struct {
	*State
	visit  func(Event) error
	at     Event  // without what happened
	named  bool   // the session, by a line
	spoken bool   // something was said in the session
	other  bool   // the lines are of another one
	mode   string // when the last message was printed
	line   int    // where the last message ends
	told   string // ID of the message at whose pause the turn ended
}

// known reports whether a line belongs to the session, and takes its name from the first one. A session may also take
// over what was said in another, whose first lines it repeats.
func (w *walk) known(l line) bool {
	if l.known && l.session != "" {
		if !w.named {
			w.at.Session, w.named = l.session, true
		}
		w.other = w.spoken && l.session != w.at.Session
	}
	return l.known && !w.other
}

func (w *walk) entry(e entry) error {
	switch e.kind {
	case ended:
		err := w.pause()
		w.told = w.MessageID
		return err
	case human, feedback, notice, forget:
		if e.summary && w.told != "" { // after the end of a turn, Codex has the model write the summary
			w.told = w.MessageID
		}
		if err := w.pause(); err != nil {
			return err
		}
		w.told = ""
	case message:
		w.line, w.mode = w.at.Line, w.Mode
	}
	w.spoken = w.spoken || e.kind != mode
	if !w.add(e) {
		return nil
	}
	spoke := w.at
	spoke.Prompt = w.Request
	return w.visit(spoke)
}

func (w *walk) pause() error {
	e := w.at
	e.Pause, e.Trace, e.Line = true, w.trace(), w.line
	if e.Trace.Message == "" || w.told != "" && w.MessageID == w.told {
		return nil
	}
	e.Trace.Mode = w.mode // the next turn may have begun in another one
	return w.visit(e)
}
