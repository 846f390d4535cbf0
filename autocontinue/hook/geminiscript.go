package hook

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// geminiScript reads Gemini CLI's session files. They are JSON Lines: what is known of the session, then a message a line, a
// later line with the same ID in place of an earlier one, and changes: {"$rewindTo": id} takes back that message and what
// came after it, {"$set": {"messages": …}} replaces all of them, {"$patch": …} changes some. Before 2026 a session was one
// indented JSON object with all messages, written anew each time, which [document] reads from its beginning. A hook's reason is a user message like the human's.
type geminiScript struct {
	seen    map[string]bool   // messages of which a later version was read, or that were taken back
	patches map[string][]byte // later changes of messages that were not read yet
	rewind  string            // what is read now was taken back, up to this message
	over    bool              // what is read now was replaced
	blind   bool              // what tools printed is of no interest

	lines [][]byte // of an indented message, the last one first
	size  int
}

func (s *geminiScript) entries(line []byte, _ int64, emit func(entry)) bool {
	if s.lines != nil || isMessageEnd(line) {
		return s.indented(line, emit)
	}
	l, ok := geminiLineOf(line)
	if !ok {
		return false
	}
	switch {
	case l.rewind != nil:
		if s.rewind == "" {
			s.rewind = textOf(l.rewind)
		}
	case l.set != nil:
		if m := member(l.set, "messages"); m != nil {
			s.all(m, emit)
		}
	case l.patch != nil:
		s.patch(l.patch)
	case l.messages != nil && l.session != "":
		s.all(l.messages, emit)
	case l.id != "" && l.kind != "":
		s.message(line, emit)
	default:
		return l.session != ""
	}
	return true
}

// geminiLine is what tells a line of Gemini CLI's sessions from others.
type geminiLine struct {
	id, kind, session            string
	messages, set, patch, rewind []byte
}

// geminiLineOf reports false for what is no object.
func geminiLineOf(line []byte) (l geminiLine, ok bool) {
	if !isObject(line) {
		return l, false
	}
	for key, v := range members(line) {
		switch key {
		case "id":
			l.id = textOf(v)
		case "type":
			l.kind = textOf(v)
		case "sessionId":
			l.session = textOf(v)
		case "messages":
			l.messages = v
		case "$set":
			l.set = v
		case "$patch":
			l.patch = v
		case "$rewindTo":
			l.rewind = v
		}
	}
	return l, true
}

// all reads an array of messages that stand in place of all before.
func (s *geminiScript) all(messages []byte, emit func(entry)) {
	if s.over || s.rewind != "" {
		return
	}
	for m := range elements(messages) {
		s.message(m, emit)
	}
	s.over = true
}

func isMessageEnd(line []byte) bool {
	return bytes.Equal(line, []byte("    }")) || bytes.Equal(line, []byte("    },"))
}

// indented takes the lines of a message together. Messages stand two levels deep, and nothing else that is an object does.
func (s *geminiScript) indented(line []byte, emit func(entry)) bool {
	s.size += len(line)
	if s.size <= maxLine {
		s.lines = append(s.lines, slices.Clone(line))
	}
	if !bytes.Equal(line, []byte("    {")) {
		return s.lines != nil
	}
	slices.Reverse(s.lines)
	if s.size <= maxLine {
		s.message(bytes.TrimSuffix(bytes.Join(s.lines, []byte("\n")), []byte(",")), emit)
	}
	s.lines, s.size = nil, 0
	return true
}

// patch remembers changes of messages that stand before it.
func (s *geminiScript) patch(patch []byte) {
	if s.over || s.rewind != "" {
		return
	}
	for id := range elements(member(patch, "removeIds")) {
		s.mark(textOf(id))
	}
	for u := range elements(member(patch, "updates")) {
		id := textOf(member(u, "id"))
		if _, later := s.patches[id]; id == "" || later || s.seen[id] || len(u) > maxLine/8 {
			continue
		}
		if s.patches == nil {
			s.patches = make(map[string][]byte)
		}
		s.patches[id] = slices.Clone(u)
	}
}

// ended reports whether nothing that stands before it counts.
func (s *geminiScript) ended() bool { return s.over }

func (s *geminiScript) mark(id string) {
	if s.seen == nil {
		s.seen = make(map[string]bool)
	}
	s.seen[id] = true
}

func (s *geminiScript) message(record []byte, emit func(entry)) {
	if s.over {
		return
	}
	var id, kind string
	var content, typed, calls []byte
	for key, v := range members(record) {
		switch key {
		case "id":
			id = textOf(v)
		case "type":
			kind = textOf(v)
		case "content":
			content = v
		case "displayContent": // without the files that were named
			typed = v
		case "toolCalls":
			calls = v
		}
	}
	switch {
	case s.rewind != "":
		if id == s.rewind {
			s.rewind = ""
			s.mark(id)
		}
		return
	case s.seen[id]:
		return
	}
	s.mark(id)
	patch := s.patches[id]
	delete(s.patches, id)
	if c := member(patch, "content"); c != nil {
		content = c
	}
	said := geminiText(content)
	switch kind {
	case "user":
		if (gemini{}).machine(said) {
			emit(entry{kind: notice})
			return
		}
		if words := geminiText(typed); !blank(words) {
			said = words
		}
		emit(entry{kind: human, id: id, text: said})
	case "info":
		if said == "Request cancelled." {
			emit(entry{kind: abort})
		}
	case "gemini":
		if !blank(said) {
			emit(entry{kind: message, id: id, group: id, text: said})
		}
		for part := range elements(content) {
			if c := member(part, "functionCall"); c != nil && calls == nil {
				emit(entry{kind: call, group: id, tool: toolOf(textOf(member(c, "id")), textOf(member(c, "name")), member(c, "args"))})
			}
		}
		later := make(map[string][]byte)
		for c := range elements(member(patch, "toolCalls")) {
			later[textOf(member(c, "id"))] = c
		}
		for c := range elements(calls) {
			var change []byte
			if len(later) > 0 {
				change = later[textOf(member(c, "id"))]
			}
			s.call(c, change, id, emit)
		}
	}
}

// geminiKinds are types of messages.
var geminiKinds = map[string]bool{"user": true, "gemini": true, "info": true, "error": true, "warning": true}

// geminiElement reads the messages of a session that is one JSON object, each as a line of its own.
type geminiElement struct{ geminiScript }

func (s *geminiElement) entries(record []byte, _ int64, emit func(entry)) bool {
	if member(record, "id") == nil || member(record, "type") == nil {
		return false
	}
	s.message(record, emit)
	return true
}

// geminiText decodes what Gemini calls a list of parts: a string, a part, or an array of either. What the model thought is left
// out, and what a hook added.
func geminiText(content []byte) string {
	said := func(part []byte) (string, bool) {
		s, ok := text(part)
		if !ok {
			s, ok = text(member(part, "text"))
		}
		return s, ok && !isTrue(member(part, "thought")) && !strings.HasPrefix(strings.TrimSpace(s), "<hook_context>")
	}
	if s, ok := said(content); ok {
		return s
	}
	var parts []string
	for part := range elements(content) {
		if s, ok := said(part); ok {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}

// call reads a call, with its result. Later are changes of the call.
func (s *geminiScript) call(c, later []byte, group string, emit func(entry)) {
	var id, name, status string
	var args, res []byte
	background := false
	read := func(c []byte) {
		for key, v := range members(c) {
			switch key {
			case "id":
				id = textOf(v)
			case "name":
				name = textOf(v)
			case "status":
				status = textOf(v)
			case "args":
				args = v
				background = isTrue(member(v, "is_background"))
			case "result":
				res = v
			}
		}
	}
	read(c)
	read(later)
	emit(entry{kind: call, group: group, tool: toolOf(id, name, args)})
	if status == "" || res == nil && status != "error" && status != "cancelled" {
		return
	}
	o := outcome{id: id, failed: status == "error"}
	if s.blind {
		emit(entry{kind: result, done: o})
		return
	}
	if status == "cancelled" {
		o.stopped = interrupted
	}
	for part := range elements(res) {
		response := member(member(part, "functionResponse"), "response")
		if s, ok := text(member(response, "output")); ok {
			o.said += s
		} else if s, ok := text(member(response, "error")); ok {
			o.said += s
		}
	}
	if name == "run_shell_command" {
		geminiShell(&o, background)
	}
	emit(entry{kind: result, done: o})
}

// geminiShell reads how a command ended out of what the model was told about it. An exit status of 0 may be left out.
func geminiShell(o *outcome, background bool) {
	s := "\n" + o.said
	switch i := strings.LastIndex(s, "\nExit Code: "); {
	case background, strings.Contains(s, "\nCommand moved to background"):
		o.running = o.id
	case strings.Contains(s, "\nCommand timed out"), strings.Contains(s, "\nCommand was cancelled"), strings.Contains(s, "\nCommand was automatically cancelled"):
		o.stopped = interrupted
	case i >= 0:
		line, _, _ := strings.Cut(s[i+len("\nExit Code: "):], "\n")
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			o.status(n)
		}
	case !o.failed:
		o.status(0)
	}
	for _, head := range []string{"\nOutput: ", "\nStdout: "} {
		if i := strings.Index(s, head); i >= 0 {
			o.said = s[i+len(head):]
			return
		}
	}
}
