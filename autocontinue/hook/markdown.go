package hook

import (
	"bytes"
	"strings"
)

// markdown is what the transcripts in Markdown have in common: a block of lines that one side said.
type markdown struct {
	who     entryKind // human or message; 0 is nobody
	at      int64     // where the block begins
	block   []byte
	long    bool
	code    bool   // in a fence of the block
	request string // the human's words of the turn of the last message
	asked   string // the human's last words
	typed   string // a command of the human's, of which it is not known yet whether it went to the agent
	anew    bool   // asked is of another turn
	last    entry  // the last message

	words func(entry) entry // tells the human's words to the agent from others
}

// open ends the block before and begins one of who.
func (m *markdown) open(who entryKind, at int64, emit func(entry)) {
	m.close(emit)
	m.who, m.at, m.code = who, at, false
}

func (m *markdown) line(line []byte) {
	if bytes.HasPrefix(bytes.TrimSpace(clipBytes(line, 200)), []byte("```")) {
		m.code = !m.code
	}
	switch {
	case m.who == 0:
	case len(m.block)+len(line) > maxLine:
		m.long = true
	default:
		m.block = append(append(m.block, line...), '\n')
	}
}

// close ends the block. One that is too long is left out.
func (m *markdown) close(emit func(entry)) {
	text := withoutRules(string(m.block))
	e := entry{kind: m.who, id: offsetID(m.at), text: text}
	m.block = m.block[:0]
	long := m.long
	m.long = false
	switch {
	case long:
		emit(entry{kind: call}) // the last message is not known
	case text == "" || m.who == 0:
	case m.who == human:
		e = m.words(e)
		m.heard(e)
		emit(e)
	default:
		m.heard(e)
		if m.anew { // not before: what was said last is still asked for
			m.request, m.anew = m.asked, false
		}
		m.last = e
		emit(e)
	}
}

// heard remembers the human's words to the agent. A command is to it unless output of it comes next.
func (m *markdown) heard(e entry) {
	typed := m.typed
	m.typed = ""
	switch {
	case e.kind == command:
		m.typed = e.text
	case e.kind == human && !e.aside:
		m.asked, m.anew = clip(e.text, maxRequest), true
	case e.kind != local && typed != "":
		m.asked, m.anew = clip(typed, maxRequest), true
	}
}

// withoutRules returns a text without the rulers, and the space, around it.
func withoutRules(text string) string {
	const ruler = "---"
	for {
		text = strings.TrimSpace(text)
		switch {
		case text == ruler:
			return ""
		case strings.HasPrefix(text, ruler+"\n"):
			text = text[len(ruler):]
		case strings.HasSuffix(text, "\n"+ruler):
			text = text[:len(text)-len(ruler)]
		default:
			return text
		}
	}
}

// trace is what is known of a pause.
func (m *markdown) trace() Trace {
	return Trace{Read: true, Whole: true, Request: m.request, Message: m.last.text, MessageID: m.last.id}
}

func clipBytes(b []byte, n int) []byte { return b[:min(len(b), n)] }
