package transcript

import (
	"cmp"
	"strconv"
	"strings"
)

// readCursor reads a line of Cursor. They have the calls of tools and not their results.
func readCursor(v value, id string) (l line) {
	role := v.text("role")
	if !v.at("message").has("content") || role != "user" && role != "assistant" {
		return l
	}
	l.known = true
	var said []string
	var calls []entry
	for i, b := range claudeBlocks(v.at("message", "content")) {
		switch {
		case b.text("type") == "text" && !blank(b.text("text")):
			said = append(said, b.text("text"))
		case b.text("type") == "tool_use": // an answer with calls is not the last
			callID := id + "/" + strconv.Itoa(i)
			calls = append(calls,
				entry{kind: call, tool: tool{id: callID, name: b.text("name"), input: b.at("input")}},
				entry{kind: outcome, result: result{id: callID, running: "?"}})
		}
	}
	text := strings.Join(said, "\n")
	switch {
	case role == "user":
		l.add(entry{kind: human, id: id, text: cmp.Or(strings.TrimSpace(find("user-query", text)), text)})
		return l
	case text != "":
		l.add(entry{kind: message, id: id, group: id, text: text})
	}
	l.entries = append(l.entries, calls...)
	return l
}
