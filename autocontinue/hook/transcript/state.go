package transcript

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

const (
	maxRead = 32 << 20 // bytes that are read at most at a time, from the end
	poll    = 10 * time.Millisecond
)

// Source says where a transcript is and how to read it.
type Source struct {
	Format   Format
	Path     string // a relative one is below Dir
	Dir      string // where the agent works, as far as the host says
	Subagent bool   // the transcript is a sub-agent's own

	// Secrets are masked in all texts, beside the kinds that [plaintext.Redact] knows.
	Secrets []string
}

// State is what the lines of a transcript came to, up to an offset. The zero value has read nothing. It is JSON, to
// be kept between two events, with secrets masked. A copy of a State must not be used beside the original.
type State struct{ reading }

// Expect says that the agent paused or that a prompt goes to it. Its next message comes after a prompt, ours or
// another, so no message counts as new until a prompt is in the transcript.
func (s *State) Expect() { s.Expects = true }

// Sent says that the agent paused, and whether a message of ours goes to it and comes back as a prompt. That prompt is
// not the human's, though it may be without our prefix.
func (s *State) Sent(echoes bool) {
	s.Echoes = echoes
	s.Expect()
}

// Await reads the lines that are new in the transcript, and returns what all lines say. Without a kept state at most
// 32 MiB are read, from the end of the file; the work before them is unknown.
//
// A host may write the last lines a moment after it has called the hook, so Await reads again until done is satisfied,
// for at most limit. When done is not satisfied then, the trace is Behind. A nil done is satisfied at once.
func (s *State) Await(ctx context.Context, src Source, limit time.Duration, done func(Trace) bool) (t Trace) {
	if ctx == nil {
		panic("transcript: Await with a nil context")
	}
	end := time.After(limit)
	for {
		if err := s.readNew(ctx, src); err != nil {
			t = Trace{Err: cause(err)}
		} else {
			t = s.trace()
		}
		if done == nil || done(t) {
			return t
		}
		select {
		case <-time.After(poll):
			continue
		case <-ctx.Done():
		case <-end:
		}
		if t.Behind = t.Err == nil; t.Work.Session != classify.EditedCode {
			t.Work.Session = ""
		}
		t.Work.Edited = "" // what the transcript does not show may have been done
		return t
	}
}

// readNew reads what is new in the file. The errors hold no path: it is the user's, and may be long.
func (s *State) readNew(ctx context.Context, src Source) error {
	path := src.Path
	if path == "" {
		return errors.New("the host names none")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(src.Dir, path)
	}
	f, size, err := OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = s.read(ctx, f, size, src); err == nil && !s.Known {
		err = errors.New("none of its lines is one that this host writes")
	}
	return err
}

func (s *State) read(ctx context.Context, r io.ReaderAt, size int64, src Source) error {
	if src.Path != s.File || s.Offset > size { // another file, or one that was written anew
		*s = State{reading{File: src.Path, Expects: s.Expects, Echoes: s.Echoes, Work: newWork()}}
	}
	s.secrets = src.Secrets
	s.move(src.Dir)
	l := newLines(ctx, r, max(s.Offset, size-maxRead), size)
	if l.next > s.Offset {
		s.add(entry{kind: lost})
		l.scan() // it begins within a line
		s.Offset = l.next
	}
	for l.scan() && (l.whole || l.isJSON || l.long) { // or it is still being written
		parsed := l.read(src.Format, src.Subagent, s.Messages)
		s.Known = s.Known || parsed.known
		s.move(parsed.dir)
		for _, e := range parsed.entries {
			s.add(e)
		}
		s.Offset = l.next
	}
	return l.err
}

// OpenFile opens a regular file and returns its size. It does not wait for the writer of a pipe. Errors hold no name.
func OpenFile(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, cause(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, 0, cause(err)
	}
	return f, info.Size(), nil
}

// cause returns what the system said, without the name of the file.
func cause(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// Bounds of what is kept of a conversation.
const (
	maxRequest = 16 << 10  // bytes of the human's words
	maxMessage = 256 << 10 // bytes of the last message: its end, where an agent says what it claims
	maxCalls   = 64        // calls without a result
	maxIDs     = 64        // calls and messages that are remembered as seen
)

// Trace is what a transcript says about a pause. The zero value says nothing.
type Trace struct {
	Err    error `json:"-"` // why no transcript was read, or none that the host wrote
	Behind bool  `json:"-"` // it does not have the message of the pause yet

	Request   string `json:"request,omitempty"`    // the human's words of the turn, at most 16 KiB; empty if not found
	Turn      string `json:"turn,omitempty"`       // the host's ID of that prompt
	Message   string `json:"-"`                    // what the agent printed last, when nothing comes after it
	MessageID string `json:"message_id,omitempty"` // the host's ID of it, or where in the file it begins
	Old       bool   `json:"-"`                    // a prompt went to the agent since, which is not in the transcript yet
	Broke     bool   `json:"broke,omitempty"`      // the host wrote the message itself, because the turn broke
	Continues int    `json:"continues,omitempty"`  // how often a message of ours continued the agent in the turn
	Continued bool   `json:"continued,omitempty"`  // a hook, ours or another, continued the agent in the turn
	Mode      string `json:"mode,omitempty"`       // the permission mode, where the transcript has it
	Aborted   bool   `json:"aborted,omitempty"`    // the human interrupted the agent, and nothing came after
	Waits     bool   `json:"-"`                    // a task in the background goes on, and will wake the agent

	Work classify.Work `json:"-"` // what the agent did
}

// Shows reports whether the transcript has a message that the host reported, as the last message. White space does
// not count. A host may report more than the last message: all that the agent printed in the turn.
func (t Trace) Shows(reported string, all bool) bool {
	a, b := strings.Join(strings.Fields(reported), " "), strings.Join(strings.Fields(t.Message), " ")
	cut := len(t.Message) > maxMessage-utf8.UTFMax
	return b != "" && !t.Old && (a == b || all && strings.HasSuffix(a, " "+b) || cut && strings.HasSuffix(a, b))
}

// Lack says why the trace lacks facts, for people. It returns "" when the transcript was read up to the message.
func (t Trace) Lack() string {
	switch {
	case t.Behind:
		return "the transcript was behind: it did not have the message in time"
	case t.Err != nil:
		return "the transcript was not read: " + t.Err.Error()
	}
	return ""
}

// reading is what the lines came to so far.
type reading struct {
	Trace

	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset,omitempty"` // where the next line begins
	Known  bool   `json:"known,omitempty"`  // a line was one of the host

	Dir      string     `json:"dir,omitempty"` // where the agent works
	Root     project    `json:"root,omitempty"`
	Parts    []string   `json:"parts,omitempty"` // of the last message
	Group    string     `json:"group,omitempty"`
	Expects  bool       `json:"expects,omitempty"`  // a prompt went to the agent, and has not come in the transcript yet
	Echoes   bool       `json:"echoes,omitempty"`   // a message of ours comes back as a prompt
	Messages []string   `json:"messages,omitempty"` // IDs that were seen
	Called   []string   `json:"called,omitempty"`   // IDs of calls that were seen
	Calls    []openCall `json:"calls,omitempty"`
	Tasks    []string   `json:"tasks,omitempty"` // in the background
	Work     work       `json:"work,omitzero"`

	secrets []string // see [Source]
}

// openCall is a call that waits for its result.
type openCall struct {
	ID      string   `json:"id"`
	Effects []effect `json:"effects,omitempty"`
	Polls   string   `json:"polls,omitempty"`
}

// move takes note of where the agent works. The project stays that of the session's first folder while the agent is
// in it.
func (f *reading) move(dir string) {
	if dir == "" || dir == f.Dir {
		return
	}
	f.Dir = dir
	if f.Root == "" || !below(string(f.Root), slashed(dir)+"/x") {
		f.Root = projectOf(dir)
	}
}

// add takes in an entry. It reports whether the human spoke.
func (f *reading) add(e entry) (spoke bool) {
	e.text = plaintext.Redact(e.text, f.secrets...)
	sameAnswer := e.kind == call && e.group != "" && e.group == f.Group
	if !sameAnswer && e.kind != mode && e.kind != message && e.kind != ended {
		f.clearMessage()
	}
	switch e.kind {
	case mode:
		f.Mode = e.text
	case message:
		f.message(e)
	case call:
		f.call(e.tool)
	case outcome:
		f.result(e.result)
	case human:
		return f.prompt(e.text, e.turn)
	case feedback:
		f.Continued, f.Expects = true, false
		if isOurFeedback(e.text) {
			f.Continues++
		}
	case notice:
		f.Expects = false
		f.end(e.result.ended, e.result)
		if e.summary && f.Request == "" { // of another transcript
			f.Work.forget()
		}
	case abort:
		f.Aborted = true
	case forget:
		f.Request, f.Turn, f.Continues, f.Continued = "", "", 0, false
		f.Work.forget()
	case lost:
		f.Work.forget()
	}
	return false
}

// clearMessage says that the last message is not the end of the conversation any more.
func (f *reading) clearMessage() {
	f.Parts, f.MessageID, f.Group, f.Broke, f.Aborted = nil, "", "", false, false
}

// IsOurs reports whether a prompt is a message of ours.
func (f *reading) IsOurs(prompt string) bool {
	return plaintext.IsOurs(prompt) || f.Echoes && isPlain(prompt)
}

// prompt takes in words in the human's name. It reports whether they are the human's.
func (f *reading) prompt(text, turn string) bool {
	f.Expects = false
	if f.IsOurs(text) { // the host fed it back
		f.Continues++
		f.Continued = true
		return false
	}
	f.Request, f.Turn, f.Continues, f.Continued, f.Echoes = clip(text, maxRequest), turn, 0, false, false
	if ReadReply(text) == replyOther { // a new request: the human takes the work as it is
		f.Work.checked()
	}
	return true
}

// message takes the last message together, which may stand on several lines. A repeated message is not a new one.
func (f *reading) message(e entry) {
	switch {
	case f.Expects: // it was printed before the prompt that did not come yet
		return
	case e.id != "" && e.id == f.MessageID:
		f.Parts[len(f.Parts)-1] = end(e.text, maxMessage)
		return
	case e.id != "" && slices.Contains(f.Messages, e.id):
		return
	case e.group == "" || e.group != f.Group:
		f.clearMessage()
	}
	before, last := strings.Join(f.Parts, "\n"), end(e.text, maxMessage)
	if f.Parts = append(f.Parts, last); len(before)+len(last) > maxMessage {
		f.Parts = []string{end(before, maxMessage-len(last)), last}
	}
	f.MessageID, f.Group, f.Broke, f.Aborted = e.id, e.group, e.broke, false
	f.Messages = latest(f.Messages, maxIDs, e.id)
}

// call takes in a call. One that is there twice counts once.
func (f *reading) call(t tool) {
	if t.id != "" && slices.Contains(f.Called, t.id) {
		return
	}
	f.Called = latest(f.Called, maxIDs, t.id)
	o := openCall{ID: t.id, Effects: t.effects(f.Root, f.Dir, f.secrets)}
	if kindOfTool(t.name, false) == "poll" {
		o.Polls = t.input.first("bash_id", "shell_id", "shellId", "task_id", "session_id")
	}
	if len(f.Calls) == maxCalls {
		f.Work.apply(f.Root, f.Calls[0].Effects, result{})
		f.Calls = f.Calls[1:]
	}
	f.Calls = append(f.Calls[:len(f.Calls):len(f.Calls)], o)
}

func (f *reading) result(r result) {
	at := slices.IndexFunc(f.Calls, func(o openCall) bool { return o.ID == r.id })
	if at < 0 {
		return
	}
	o := f.Calls[at]
	f.Calls = slices.Delete(slices.Clone(f.Calls), at, at+1)
	if r.task {
		f.Tasks = latest(f.Tasks, maxIDs, r.running)
	}
	if o.Polls != "" && r.running == "" {
		f.end(o.Polls, r)
	}
	f.Work.apply(f.Root, o.Effects, r)
}

// end takes in that a command or task in the background has ended.
func (f *reading) end(name string, r result) {
	f.Tasks = slices.DeleteFunc(slices.Clone(f.Tasks), func(t string) bool { return t == name })
	f.Work.end(name, r)
}

func (f *reading) trace() Trace {
	t := f.Trace
	t.Message, t.Waits = strings.Join(f.Parts, "\n"), len(f.Tasks) > 0
	t.Old = f.Expects && t.Message != ""
	w := f.Work
	w.Checks = slices.Clone(w.Checks)
	for _, o := range f.Calls { // what has no result may have done its work
		w.apply(f.Root, o.Effects, result{running: "?"})
	}
	t.Work = w.facts()
	return t
}
