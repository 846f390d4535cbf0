package hook

import (
	"bytes"
	"cmp"
	"time"
)

// heads is what tells the sessions of one file apart, where lines do not name theirs.
type heads struct {
	only   bool      // the session has nothing but lines that begin one
	this   bool      // the line is such a one
	at     time.Time // of Codex: when that was written
	fork   bool      // of Codex: the session took over what was said in another
	last   string    // of Copilot CLI: the event of the line before
	before string    // and the last one of the session before
	begun  bool      // of SpecStory: a file began, and has not named its session yet
}

// change finds out whether a line begins another session.
func (w *walk) change(l *lines) {
	id := w.session
	w.heads.this = false
	switch w.Format {
	case Claude:
		if len(w.id) > 0 && bytes.Contains(l.text, w.id) && bytes.Contains(l.text, w.workDir) {
			return
		}
		var message []byte
		var session, dir []byte
		for key, v := range members(l.text) {
			switch key {
			case "sessionId":
				session = v
			case "cwd":
				dir = v
			case "message":
				message = v
			case "agentId":
				if w.sidechain {
					w.event.Agent = Value(textOf(v))
				}
			}
		}
		if message == nil || session == nil {
			return
		}
		if s := textOf(session); s != "" {
			id = s
		}
		w.id = bytes.Join([][]byte{[]byte(`"sessionId":`), session}, nil)
		if dir != nil {
			w.workDir = bytes.Join([][]byte{[]byte(`"cwd":`), dir}, nil)
			w.work(textOf(dir))
		}
	case Codex:
		id = w.changeCodex(l.text)
	case Copilot:
		id = w.changeCopilot(l)
	case Gemini:
		if w.object != nil {
			id = cmp.Or(w.object.session, id)
		} else if bytes.Contains(l.text, []byte(`"sessionId"`)) && member(l.text, "id") == nil && member(l.text, "type") == nil {
			if s := textOf(member(l.text, "sessionId")); s != "" {
				id = s
				said := false
				for range elements(member(l.text, "messages")) {
					said = true
					break
				}
				w.heads.this = !said
			}
		}
	case SpecStory:
		switch s := specStorySession(l.text); {
		case w.reader.(*specStory).hidden():
		case isSpecStoryStart(l.text):
			if w.heads.begun {
				w.err = fault(ErrInterleaved, l.no, tooSoon)
				return
			}
			w.doc.close(func(e entry) { w.take(e, l) })
			w.doc.who, w.heads.begun = 0, true
		case s != "" && w.doc.who == 0 && (w.heads.begun || w.session == w.name):
			id, w.heads.begun = s, false
		}
	case Aider:
		if at, ok := aiderStart(l.text); ok {
			w.doc.close(func(e entry) { w.take(e, l) })
			id = cmp.Or(at, id)
		}
	}
	if id == w.session || w.err != nil {
		return
	}
	switch {
	case w.session == w.name && w.loop == nil && w.pause == 0: // it had no name so far
		w.session, w.event.Session = id, id
		w.seen[id] = true
		return
	case w.seen[id]:
		w.err = fault(ErrInterleaved, l.no, "a session goes on after another has begun; "+apart)
		return
	case w.heads.this && w.heads.only && w.object == nil:
		w.err = fault(ErrInterleaved, l.no, tooSoon)
		return
	}
	w.end()
	if w.err == nil {
		w.begin(id, l)
	}
}

const (
	tooSoon = "another session begins before anything was said in the one before; " + apart
	apart   = "keep each in a file of its own" // what to do
)

// changeCodex returns the session that a line of Codex's belongs to. A session that took over what was said in others repeats
// their first lines right after its own.
func (w *walk) changeCodex(line []byte) string {
	if s := codexOldStart(line); s != "" {
		w.heads.this = true
		return s
	}
	if !bytes.Contains(line, []byte(`"cwd"`)) {
		return w.session
	}
	payload := member(line, "payload")
	id := w.session
	switch textOf(member(line, "type")) {
	case "turn_context":
		w.work(textOf(member(payload, "cwd")))
	case "session_meta":
		w.heads.this = true
		at, _ := time.Parse(time.RFC3339Nano, textOf(member(line, "timestamp")))
		if s := textOf(member(payload, "id")); s != "" && s != id {
			if w.session != w.name && w.heads.only && (w.heads.fork || at.Sub(w.heads.at).Abs() < codexBurst) {
				return id
			}
			id = s
			w.heads.at = at
			w.heads.fork = textOf(member(payload, "forked_from_id")) != "" || member(member(payload, "source"), "subagent") != nil
		}
		w.work(textOf(member(payload, "cwd")))
	}
	return id
}

// codexBurst is how long it takes at most to write down what was said in another session.
const codexBurst = 5 * time.Second

// changeCopilot returns the session that an event of Copilot CLI's belongs to. Each event names the one before it.
func (w *walk) changeCopilot(l *lines) string {
	var kind, event, parent string
	for key, v := range members(l.text) {
		switch key {
		case "type":
			kind = textOf(v)
		case "id":
			event = textOf(v)
		case "parentId":
			parent = textOf(v)
		}
	}
	if event == "" {
		return w.session
	}
	if kind != "session.start" && parent != "" && parent == w.heads.before {
		w.err = fault(ErrInterleaved, l.no, "a session goes on after another has begun; "+apart)
		return w.session
	}
	id := w.session
	if kind == "session.start" {
		w.heads.this = true
		data := member(l.text, "data")
		if s := textOf(member(data, "sessionId")); s != "" && s != id {
			id, w.heads.before = s, w.heads.last
		}
		w.work(textOf(member(member(data, "context"), "cwd")))
	}
	w.heads.last = event
	return id
}

// among returns the format of a line that stands in a transcript in Markdown and is none of it, "" where it may be one: what
// the human said, or what stands in a fence, is not looked at.
func (w *walk) among(line []byte) Host {
	if w.doc == nil || w.doc.who == human || w.doc.code {
		return ""
	}
	if s, ok := w.reader.(*specStory); ok && s.hidden() {
		return ""
	}
	_, starts := aiderStart(line)
	switch {
	case len(line) > 0 && line[0] == '{', geminiIndented(line) != "":
		return formatOf(line)
	case starts && w.Format != Aider:
		return Aider
	case isSpecStoryStart(line) && w.Format != SpecStory:
		return SpecStory
	}
	return ""
}
