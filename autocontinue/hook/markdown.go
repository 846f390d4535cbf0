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
	request string // the human's words of the turn of the last message
	asked   string // the human's last words
	anew    bool   // they are of another turn
	last    entry  // the last message

	words func(string) (string, bool) // parts the words to the agent from others; nil is all
}

// open ends the block before and begins one of who.
func (m *markdown) open(who entryKind, at int64, emit func(entry)) {
	m.close(emit)
	m.who, m.at = who, at
}

func (m *markdown) line(line []byte) {
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
	text := strings.TrimSpace(string(m.block))
	for {
		rest, ok := strings.CutSuffix(text, "\n---")
		if !ok {
			break
		}
		text = strings.TrimSpace(rest)
	}
	e := entry{kind: m.who, id: offsetID(m.at), text: text}
	m.block = m.block[:0]
	long := m.long
	m.long = false
	switch {
	case long:
		emit(entry{kind: call}) // the last message is not known
	case text == "" || text == "---" || m.who == 0:
	case m.who == human && fromUs(text):
		emit(entry{kind: feedback, text: text})
	case m.who == human && m.words != nil:
		var ok bool
		if e.text, ok = m.words(text); !ok {
			emit(entry{kind: notice})
			return
		}
		text = e.text
		fallthrough
	case m.who == human:
		m.asked, m.anew = clip(text, maxRequest), true
		emit(e)
	default:
		if m.anew { // not before: what was said last is still asked for
			m.request, m.anew = m.asked, false
		}
		m.last = e
		emit(e)
	}
}

// trace is what is known of a pause.
func (m *markdown) trace() Trace {
	return Trace{Read: true, Whole: true, Request: m.request, Message: m.last.text, MessageID: m.last.id}
}

// specStory reads SpecStory's Markdown from its beginning.
type specStory struct {
	markdown
	until string // the end of what is left out, such as a tool's use
}

// specStorySession returns the session that a comment near the top names: <!-- Claude Code Session <id> (time) -->.
func specStorySession(line []byte) string {
	text := string(clipBytes(line, 300))
	if !strings.HasPrefix(text, "<!-- ") {
		return ""
	}
	_, rest, _ := strings.Cut(text, " Session ")
	id, _, _ := strings.Cut(rest, " ")
	return id
}

// isSpecStoryHead reports whether a line says who speaks: _**User (time)**_, _**Agent (model time)**_, _**Assistant**_.
func isSpecStoryHead(line string) bool {
	in, ok := strings.CutPrefix(line, "_**")
	if !ok {
		return false
	}
	in, ok = strings.CutSuffix(in, "**_")
	return ok && startsWith(in, "User", "Agent", "Assistant")
}

func (s *specStory) entries(line []byte, at int64, emit func(entry)) bool {
	text := string(bytes.TrimSpace(clipBytes(line, 4096)))
	switch {
	case s.until != "":
		if bytes.Contains(line, []byte(s.until)) {
			s.until = ""
		}
	case isSpecStoryHead(text):
		who := human
		if !strings.HasPrefix(text, "_**User") {
			who = message
		}
		if strings.Contains(text, "- sidechain") {
			who = 0
		}
		s.open(who, at, emit)
	case s.who == message && startsWith(text, "<tool-use", "<think>", "<details>", "Tool use: **"):
		s.open(message, at, emit)
		if !strings.HasPrefix(text, "<think>") {
			emit(entry{kind: call})
		}
		for _, tag := range []string{"tool-use", "think", "details"} {
			if strings.HasPrefix(text, "<"+tag) && !bytes.Contains(line, []byte("</"+tag+">")) {
				s.until = "</" + tag + ">"
			}
		}
	default:
		s.line(line)
	}
	return true
}

// aider reads aider's history from its beginning. Each start of aider is a session.
type aider struct {
	markdown
	speaking bool // the line before was the human's
	started  bool
}

const aiderHead = "# aider chat started at "

func (a *aider) entries(line []byte, at int64, emit func(entry)) bool {
	head := string(clipBytes(line, 200))
	speaking := a.speaking
	a.speaking = false
	switch {
	case strings.HasPrefix(head, aiderHead):
		a.open(0, at, emit)
		a.started = true
	case strings.HasPrefix(head, "#### "):
		if !speaking {
			a.open(human, at, emit)
		}
		a.line(line[len("#### "):])
		a.speaking = true
	case strings.HasPrefix(head, "> ") && bytes.HasSuffix(line, []byte("  ")): // of aider itself; the agent's quotes end otherwise
		a.open(message, at, emit)
	default:
		if speaking || a.who == 0 && a.started {
			a.open(message, at, emit)
		}
		a.line(line)
	}
	return true
}

// aiderWords parts the human's words to aider itself, /add and the like, from those to the agent.
func aiderWords(text string) (string, bool) {
	if !strings.HasPrefix(text, "/") {
		return text, true
	}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "/ask", "/code", "/architect", "/context":
		return rest, rest != ""
	}
	return "", false
}

func clipBytes(b []byte, n int) []byte { return b[:min(len(b), n)] }
