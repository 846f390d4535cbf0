package hook

import (
	"bytes"
	"strings"
)

// geminiSession reads Gemini CLI's session files from their beginning, for [Transcript.Replay]. What is said of a message again
// stands in place of what was said before.
type geminiSession struct {
	record []byte // of an indented message, so far
	inside bool
	long   bool
	said   []geminiSaid // in this turn
	size   int
	anew   bool // what is said next begins a turn
}

type geminiSaid struct{ id, text string }

// entries calls emit like [script.entries], but for lines in their order.
func (s *geminiSession) entries(line []byte, at int64, emit func(entry)) bool {
	if s.inside || bytes.Equal(line, []byte("    {")) {
		return s.indented(line, at, emit)
	}
	if !isObject(line) {
		return bytes.HasPrefix(line, []byte("  ")) || len(line) == 1 && strings.ContainsAny(string(line), "{}")
	}
	var id, kind, session string
	var set, rewind, patch []byte
	for key, v := range members(line) {
		switch key {
		case "id":
			id = textOf(v)
		case "type":
			kind = textOf(v)
		case "sessionId":
			session = textOf(v)
		case "$set":
			set = v
		case "$rewindTo":
			rewind = v
		case "$patch":
			patch = v
		}
	}
	switch {
	case rewind != nil: // the human went back: the agent had paused
		emit(entry{kind: notice})
		s.anew = true
	case set != nil, patch != nil:
	case id != "" && kind != "":
		s.message(line, emit)
	default:
		return session != ""
	}
	return true
}

func (s *geminiSession) indented(line []byte, _ int64, emit func(entry)) bool {
	s.inside = true
	if s.long = s.long || len(s.record)+len(line) > maxLine; !s.long {
		s.record = append(append(s.record, line...), '\n')
	}
	if isMessageEnd(line) {
		if !s.long {
			s.message(bytes.TrimSuffix(bytes.TrimSpace(s.record), []byte(",")), emit)
		}
		s.record, s.inside, s.long = s.record[:0], false, false
	}
	return true
}

func (s *geminiSession) message(record []byte, emit func(entry)) {
	one := geminiScript{}
	one.message(record, func(e entry) {
		if e.kind == message {
			s.keep(e.id, e.text)
		}
		emit(e)
	})
}

// keep remembers what was printed in this turn, as far as a hook would be told of it.
func (s *geminiSession) keep(id, text string) {
	if s.anew {
		s.said, s.size, s.anew = nil, 0, false
	}
	for i := range s.said {
		if s.said[i].id == id {
			s.size += len(text) - len(s.said[i].text)
			s.said[i].text = text
			return
		}
	}
	if s.size+len(text) <= 4*maxLine {
		s.said, s.size = append(s.said, geminiSaid{id, text}), s.size+len(text)
	}
}

// printed is what the host says at a pause: all that was printed in this turn.
func (s *geminiSession) printed() string {
	parts := make([]string, len(s.said))
	for i, one := range s.said {
		parts[i] = one.text
	}
	return strings.Join(parts, "\n")
}
