package transcript

// cursorLine is a line of Cursor's transcripts: JSON Lines of {"role", "message": {"content": […]}}, without IDs.
// They have the calls of tools and not their results, so it is unknown how a check ended.
type cursorLine struct {
	Role    string `json:"role"`
	Message *struct {
		Content claudeBlocks `json:"content"`
	} `json:"message"`
}

func readCursor(data []byte, at int64) (l line) {
	var c cursorLine
	if !decode(data, &c) || c.Message == nil || c.Message.Content == nil || c.Role != "user" && c.Role != "assistant" {
		return l
	}
	l.known = true
	id, said, calls := offsetID(at), "", 0
	for _, b := range c.Message.Content {
		switch {
		case b.Type == "text" && !blank(b.Text) && said != "":
			said += "\n" + b.Text
		case b.Type == "text" && !blank(b.Text):
			said = b.Text
		case b.Type == "tool_use":
			calls++
		}
	}
	if c.Role == "user" {
		l.add(entry{kind: human, id: id, text: userQuery(said)})
		return l
	}
	if said != "" {
		l.add(entry{kind: message, id: id, group: id, text: said})
	}
	for i, b := range c.Message.Content {
		if b.Type == "tool_use" { // an answer with calls is not the last
			callID := id + "/" + offsetID(int64(i))
			l.add(entry{kind: call, tool: tool{id: callID, name: b.Name, input: b.Input}})
			l.add(entry{kind: outcome, result: result{id: callID, running: "?"}})
		}
	}
	return l
}
