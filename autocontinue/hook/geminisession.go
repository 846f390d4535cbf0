package hook

import "strings"

// geminiSession reads Gemini CLI's session files from their beginning, for [Transcript.Replay]. What is said of a message again
// stands in place of what was said before.
type geminiSession struct {
	document bool // what is read are the messages of one
	about    about
	said     []geminiSaid // in this turn
	size     int
	anew     bool // what is said next begins a turn
}

type geminiSaid struct{ id, text string }

// entries calls emit like [script.entries], but for lines in their order.
func (s *geminiSession) entries(line []byte, _ int64, emit func(entry)) bool {
	s.about = about{}
	l, ok := geminiLineOf(line)
	switch {
	case !ok, s.document && (l.id == "" || l.kind == ""):
		return false
	case l.rewind != nil: // the human went back: the agent had paused
		s.about.targets = []string{textOf(l.rewind)}
		emit(entry{kind: notice})
		s.anew = true
	case l.set != nil:
		s.about.changes = member(l.set, "messages") != nil
	case l.patch != nil:
		s.patch(l.patch)
	case l.messages != nil && l.session != "":
		s.about.changes = true
	case l.id != "" && geminiKinds[l.kind]:
		s.about.names = []string{l.id}
		s.message(line, emit)
	default:
		return l.session != "" && l.kind == ""
	}
	return true
}

// patch says what messages a change is about. One that gives a call another name or other arguments makes another call of it.
func (s *geminiSession) patch(patch []byte) {
	for id := range elements(member(patch, "removeIds")) {
		s.about.names = append(s.about.names, textOf(id))
	}
	for update := range elements(member(patch, "updates")) {
		id := textOf(member(update, "id"))
		s.about.names = append(s.about.names, id)
		for call := range elements(member(update, "toolCalls")) {
			if member(call, "name") != nil || member(call, "args") != nil {
				s.about.targets = append(s.about.targets, id)
			}
		}
	}
}

func (s *geminiSession) message(record []byte, emit func(entry)) {
	one := geminiScript{blind: true}
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
