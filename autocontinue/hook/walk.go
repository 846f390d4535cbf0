package hook

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// walk is one going through a transcript.
type walk struct {
	*Transcript
	ctx     context.Context
	r       io.ReaderAt
	size    int64
	start   func(string) (Loop, error)
	show    func(Moment) error
	account Account
	damaged int // the first line that is none of the format
	broken  int // the last such line

	reader interface { // of lines in their order
		entries(line []byte, at int64, emit func(entry)) bool
	}
	gemini *geminiSession
	object *document // of a session that is one JSON object
	doc    *markdown // of a format in Markdown

	tail    tail // what reads back, and what does so in an object
	records records

	seen    map[string]bool // sessions that ended
	session string
	base    int64 // where the session begins
	first   int   // the number of its first line
	loop    Loop
	mem     Memory
	marks   *marks

	workDir, id []byte // as JSON, of the line before
	heads       heads
	event       Event  // what is the same for all pauses
	active      bool   // a hook sent the agent on
	typed       *entry // a command, of which it is not known yet whether it went to the agent
	pause       int64  // where the message ends after which the agent may have paused; 0 is none
	line        int    // its number
	paused      Event  // what is known of it
	lines       int    // of the session at that point
	shown       *Moment
	err         error
}

const maxSessions = 10_000 // of which it is known that they ended

func (w *walk) run() error {
	l := newLines(io.NewSectionReader(w.r, 0, w.size))
	scan := l.scan
	if w.oneObject {
		w.object = newDocument(w.r, w.size, l)
		scan = w.object.scan
	}
	var half bool
	for n := 1; w.err == nil && scan(); n++ {
		if n%256 == 0 && w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		w.account.Lines, w.account.Bytes = l.no, l.next
		if l.no == 1 {
			l.text = bytes.TrimPrefix(l.text, []byte("\ufeff"))
		}
		half = !w.one(l)
	}
	if l.err != nil {
		return cause(l.err)
	}
	if s, ok := w.reader.(*specStory); ok {
		half = half || s.until != ""
	}
	if w.doc != nil && w.err == nil && !half {
		w.doc.close(func(e entry) { w.take(e, l) })
	}
	object := w.object
	if object != nil && w.err == nil {
		w.account.Lines, w.account.Bytes = object.line, object.pos
	}
	half = half || object == nil && w.broken > 1 && w.broken == w.account.Lines && w.account.Damaged == 1
	if half || object != nil && (object.cut || object.fault != "") {
		w.pause = 0 // what came after is not known
	}
	w.end()
	switch {
	case w.err != nil:
		return w.err
	case object != nil && object.fault != "":
		if other := object.other(); other != "" {
			return fault(ErrInterleaved, object.fault1, "from here on it is one of %s, after one of %s; "+apart, formatName(other), formatName(w.Format))
		}
		return fault(ErrDamaged, object.fault1, "%s", object.fault)
	case object != nil && object.cut:
		return fault(ErrTruncated, object.line, "the end of the session is cut off")
	case half && w.account.Damaged < 2:
		return fault(ErrTruncated, w.account.Lines, "the last line is cut off")
	case object == nil && w.damaged == 1 && w.account.Damaged == 1:
		return fault(ErrTruncated, 1, "the first line is cut off")
	case w.damaged > 0:
		what := "line"
		if object != nil {
			what = "message"
		}
		if w.account.Damaged == 1 {
			return fault(ErrDamaged, w.damaged, "it is no %s of %s", what, formatName(w.Format))
		}
		return fault(ErrDamaged, w.damaged, "this is the first of %d %ss that are none of %s", w.account.Damaged, what, formatName(w.Format))
	}
	return nil
}

// one takes in a line. It reports false for one that is cut off.
func (w *walk) one(l *lines) bool {
	if w.reader == nil {
		w.begin(w.name, l)
	}
	if l.long {
		w.account.Long++
		w.pause = 0 // it may be anything
		return true
	}
	if space(l.text, 0) == len(l.text) && w.doc == nil {
		return true
	}
	if w.change(l); w.err != nil {
		return true
	}
	w.heads.only = w.heads.only && w.heads.this
	if other := w.among(l.text); other != "" {
		w.err = fault(ErrInterleaved, l.no, "it is one of %s, among those of %s; "+apart, formatName(other), formatName(w.Format))
		return true
	}
	var es []entry
	known := w.reader.entries(l.text, l.at-w.base, func(e entry) { es = append(es, e) })
	if !known && !w.unknown(l) {
		return w.err != nil
	}
	for _, e := range es {
		if w.err == nil {
			w.take(e, l)
		}
	}
	if w.gemini != nil {
		w.marks.named.about = w.gemini.about
	}
	w.marks.add(es, mark{l.at - w.base, len(l.text), l.first - w.first + 1})
	return w.doc == nil || l.whole // who writes Markdown ends each line
}

// unknown looks at a line that is none of the format, and reports whether it may be one of a version that is not known. It is
// an error when it is one of another format.
func (w *walk) unknown(l *lines) bool {
	if other := formatOf(l.text); other != "" && other != w.Format {
		w.err = fault(ErrInterleaved, l.no, "it is one of %s, among those of %s; "+apart, formatName(other), formatName(w.Format))
		return false
	}
	if isObject(l.text) {
		return true
	}
	if l.whole || l.next < w.size {
		if w.account.Damaged++; w.damaged == 0 {
			w.damaged = l.no
		}
		w.broken = l.no
		return true
	}
	return false
}

func (w *walk) work(dir string) {
	if dir == "" || dir == w.event.WorkDir.Value {
		return
	}
	w.event.WorkDir = Value(dir)
	if w.marks != nil {
		w.marks.work = w.event.project()
	}
}

// begin begins a session.
func (w *walk) begin(id string, l *lines) {
	dir, agent := w.event.WorkDir, w.event.Agent
	w.session, w.base, w.first = id, l.at, l.first
	if id != w.name && len(w.seen) < maxSessions {
		w.seen[id] = true
	}
	w.heads.only = true
	w.loop, w.mem, w.active, w.typed, w.pause, w.marks, w.gemini, w.doc = nil, Memory{}, false, nil, 0, nil, nil, nil
	w.event = Event{Host: w.Format, Name: "replay", Kind: Stop, Session: id, WorkDir: dir, Agent: agent}
	if w.sidechain {
		w.event.Kind = SubagentStop
	}
	switch w.Format {
	case Claude:
		w.reader, w.marks = claudeScript{sidechain: w.sidechain}, newMarks(w.far)
	case Codex:
		w.reader, w.marks = codexScript{}, newMarks(w.far)
	case Copilot:
		w.reader, w.marks = &copilotScript{}, newMarks(w.far)
	case Cursor:
		w.reader = cursorScript{}
	case Gemini:
		w.gemini = &geminiSession{document: w.object != nil}
		w.reader, w.marks = w.gemini, newMarks(w.far)
		w.marks.named = newNamed()
	case SpecStory:
		s := newSpecStory()
		w.reader, w.doc = s, &s.markdown
	case Aider:
		a := newAider()
		w.reader, w.doc = a, &a.markdown
	}
	if w.marks != nil {
		w.marks.work = w.event.project()
	}
}

// need gets the session its loop. A session in which nobody speaks has none.
func (w *walk) need() bool {
	if w.err == nil && w.loop == nil {
		if w.loop, w.err = w.start(w.event.SessionKey()); w.err == nil && w.loop == nil {
			w.err = errors.New("there is no loop")
		}
	}
	return w.err == nil
}

// end ends a session.
func (w *walk) end() {
	if w.err == nil {
		w.settle(nil)
		w.stop()
	}
	w.flush()
}

// take takes in what a line says.
func (w *walk) take(e entry, l *lines) {
	if w.err != nil {
		return
	}
	if e.kind != command && e.kind != mode {
		w.settle(&e)
	}
	switch e.kind {
	case message:
		w.pause, w.line, w.paused, w.lines = l.next-w.base, l.no, w.event, l.last-w.first+1
		switch {
		case e.broke && w.sidechain:
			w.paused.Status = Value("error")
		case e.broke:
			w.paused.Kind = StopFailure
		}
	case call, result, abort:
		w.pause = 0
	case command:
		w.stop()
		w.settle(nil)
		w.typed = &e
	case human:
		w.stop()
		w.prompt(e)
	case feedback:
		w.stop()
		w.active = true
	case notice:
		w.stop()
		if e.turn != "" {
			w.event.Turn = Value(e.turn)
			w.mem = w.mem.Heard(Event{Host: w.Format, Kind: Prompt, Session: w.session, Prompt: Value(noticeOf(w.Format)), Turn: w.event.Turn})
		}
		w.active = false
	}
}

// noticeOf is a prompt that a host writes itself.
func noticeOf(h Host) string {
	switch h {
	case Claude:
		return claudeNotices[0]
	case Codex:
		return codexNotices[0]
	}
	return ""
}

// settle finds out what a command was by what comes after it: output of it, or anything else.
func (w *walk) settle(next *entry) {
	typed := w.typed
	if typed == nil {
		return
	}
	w.typed = nil
	if next == nil || next.kind != local {
		w.prompt(*typed)
	}
}

// prompt takes in a prompt that is the human's, or ours.
func (w *walk) prompt(e entry) {
	p := Event{Host: w.Format, Name: "replay", Kind: Prompt, Session: w.event.Session, Agent: w.event.Agent, Prompt: Value(e.text)}
	if e.turn != "" {
		p.Turn, w.event.Turn = Value(e.turn), Value(e.turn)
	}
	if !p.FromHuman(w.mem) {
		w.mem, w.active = w.mem.Heard(p), true
		return
	}
	w.mem, w.active = w.mem.Heard(p), false
	if w.gemini != nil {
		w.gemini.anew = true
	}
	if w.shown != nil {
		w.shown.Next = clip(e.text, maxRequest)
	}
	w.flush()
	if w.need() {
		w.err = w.loop.Reset(w.ctx, p.SessionKey())
	}
}

// flush shows the last pause.
func (w *walk) flush() {
	if w.shown == nil {
		return
	}
	m := *w.shown
	w.shown = nil
	if err := w.show(m); w.err == nil {
		w.err = err
	}
}

// stop decides about a pause, if there is one.
func (w *walk) stop() {
	at := w.pause
	w.pause = 0
	if at == 0 || !w.need() {
		return
	}
	w.flush()
	e := w.paused
	e.StopActive = Value(w.active)
	tr := w.look(e, at)
	if tr.Err != nil {
		w.err = tr.Err
		return
	}
	if tr.Message == "" || w.err != nil {
		return
	}
	switch {
	case w.gemini != nil:
		e.Message = Value(w.gemini.printed())
	case w.Format == Claude, w.Format == Codex:
		e.Message = Value(tr.Message)
	}
	out := e.Output(tr, w.mem)
	d, err := w.loop.Handle(w.ctx, out)
	if w.err = err; err != nil {
		return
	}
	w.mem = w.mem.After(e, out, d)
	w.shown = &Moment{Event: e, Output: out, Decision: d, Line: w.line}
}

// look is what [Event.Look] would have found when the transcript was no longer than that.
func (w *walk) look(e Event, size int64) Trace {
	if w.doc != nil {
		return w.doc.trace()
	}
	r := io.NewSectionReader(w.r, w.base, size)
	s := w.Format.dialect().transcript(e)
	var t backward
	if w.object == nil {
		t = w.tail.anew(r, size, w.far)
	} else {
		w.records = records{r: r, list: w.marks.named.list, reach: w.far, size: size, last: w.lines, buf: w.records.buf}
		s, t = &geminiElement{}, &w.records
	}
	var before func(*collector, int64) bool
	if m, last := w.marks, w.lines; m != nil && !w.unmarked {
		before = func(c *collector, at int64) bool { return m.back(r, s, c, at, size, last) }
	}
	return lookWith(before, t, s, e.project(), e.oursIn(w.mem))
}

var _ Loop = (*autocontinue.AutoContinue)(nil)
