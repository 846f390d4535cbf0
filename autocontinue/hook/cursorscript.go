package hook

import "strings"

// cursorScript reads Cursor's transcripts: JSON Lines of {"role", "message": {"content": […]}}, without IDs. They have the
// calls of tools and not what became of them, so they say nothing of tests.
type cursorScript struct{}

func (cursorScript) entries(line []byte, at int64, emit func(entry)) bool {
	if !isObject(line) {
		return false
	}
	var role string
	var msg []byte
	for key, v := range members(line) {
		switch key {
		case "role":
			role = textOf(v)
		case "message":
			msg = v
		}
	}
	content := member(msg, "content")
	if content == nil || role != "user" && role != "assistant" {
		return false
	}
	id := offsetID(at)
	if role == "user" {
		emit(entry{kind: human, id: id, text: cursorQuery(blocks(content))})
		return true
	}
	emit(entry{kind: call, group: id, tool: tool{opaque: true}})
	var said []string
	called := false
	for block := range elements(content) {
		switch textOf(member(block, "type")) {
		case "text":
			if s := textOf(member(block, "text")); !blank(s) {
				said = append(said, s)
			}
		case "tool_use":
			called = true
		}
	}
	if s, ok := text(content); ok {
		said = append(said, s)
	}
	if len(said) > 0 {
		emit(entry{kind: message, id: id, group: id, text: strings.Join(said, "\n")})
	}
	if called { // then it is not the last answer
		emit(entry{kind: call, tool: tool{opaque: true}})
	}
	return true
}
