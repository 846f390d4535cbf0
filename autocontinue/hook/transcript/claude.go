package transcript

import (
	"cmp"
	"strconv"
	"strings"
)

// readClaude reads a line of Claude Code. One answer of the model stands on several lines with the same message.id, one
// block of its content each. Results of tools are "user" lines. Subagent says that the transcript is a sub-agent's own.
func readClaude(v value, id string, subagent bool) (l line) {
	kind := v.text("type")
	speaks := among(" user assistant ", kind) && v.at("message").isObject()
	l.known = speaks || kind != "" && v.text("uuid") != "" || isPhrase("claude-line", kind)
	side := v.isTrue("isSidechain") || v.text("parent_tool_use_id") != ""
	if speaks {
		l.session, l.dir = v.first("sessionId", "session_id"), v.text("cwd") // the latter of what "claude -p" prints
	}
	if subagent {
		l.agent = v.text("agentId")
	}
	switch {
	case speaks && side != subagent:
		return l
	case speaks && kind == "assistant":
		l.claudeAnswer(v, cmp.Or(v.text("uuid"), id))
	case speaks:
		l.claudeUser(v)
	case kind == "attachment" && side == subagent:
		l.claudeQueued(v.at("attachment"))
	}
	if name := v.text("permissionMode"); name != "" && !subagent {
		l.add(entry{kind: mode, text: name})
	}
	return l
}

// claudeBlocks returns the blocks of a message. A text is one block.
func claudeBlocks(content value) []value {
	if s := content.text(); s != "" {
		return []value{{map[string]any{"type": "text", "text": s}}}
	}
	return content.list()
}

// claudeAnswer reads a line of the model, or one that Claude Code wrote in its name: that the turn broke, or, where a
// session is resumed, that nothing was to be said.
func (l *line) claudeAnswer(v value, id string) {
	group := cmp.Or(v.text("message", "id"), id)
	synthetic := v.text("message", "model") == "<synthetic>"
	for _, b := range claudeBlocks(v.at("message", "content")) {
		switch b.text("type") {
		case "text":
			said := strings.TrimSpace(b.text("text"))
			if said != "" && !(synthetic && (said == "No response requested." || said == "(no content)")) {
				broke := synthetic || v.isTrue("isApiErrorMessage")
				l.add(entry{kind: message, id: id, group: group, text: b.text("text"), broke: broke})
			}
		case "tool_use":
			t := tool{id: b.text("id"), name: b.text("name"), input: b.at("input")}
			l.add(entry{kind: call, group: group, tool: t})
		}
	}
}

// isHuman reports whether the human wrote a prompt, by what Claude Code says of its origin.
func isHuman(v value) bool {
	return !v.isTrue("isMeta") && (v.text("origin", "kind") == "" || v.text("origin", "kind") == "human")
}

func (l *line) claudeUser(v value) {
	var words []string
	results := false
	for _, b := range claudeBlocks(v.at("message", "content")) {
		switch b.text("type") {
		case "text":
			words = append(words, b.text("text"))
		case "tool_result":
			results = true
			l.add(entry{kind: outcome, result: claudeResult(b, v.at("toolUseResult"))})
		}
	}
	switch turn := v.text("promptId"); {
	case v.isTrue("isCompactSummary"):
		l.add(entry{kind: notice, summary: true})
	case len(words) > 0:
		l.add(claudeWords(strings.Join(words, "\n"), turn, !isHuman(v) || results))
	}
}

// claudeQueued reads what the agent was told between two calls: the human's words, or that a task has ended.
func (l *line) claudeQueued(a value) {
	if a.text("type") != "queued_command" {
		return
	}
	e := claudeWords(a.words("prompt"), "", false)
	isPrompt := cmp.Or(a.text("commandMode"), "prompt") == "prompt" && isHuman(a)
	if e.result.ended != "" || e.kind == human && !blank(e.text) && isPrompt {
		l.add(e)
	}
}

// claudeWords tells the human's words from what Claude Code writes in their place. Other words are not the human's.
func claudeWords(s, turn string, other bool) entry {
	e := entry{kind: human, turn: turn, text: s}
	t := strings.TrimSpace(s)
	if words := withoutWrapping(s); words != "" && words != t {
		e.text, t = words, words
	}
	switch {
	case strings.HasPrefix(t, "[Request interrupted by user"):
		e.kind = abort
	case startsWith(t, "Stop hook feedback:", "SubagentStop hook feedback:"):
		_, e.text, _ = strings.Cut(t, ":")
		e.kind = feedback
	case strings.HasPrefix(t, "<task-notification>"):
		_, status, _ := strings.Cut(between(t, "summary"), "exit code ")
		e.kind, e.result.ended = notice, between(t, "task-id")
		e.result.stopped = !e.result.readStatus(status)
	case other:
		e.kind = notice
	case startsWith(t, "<command-name>", "<command-message>"):
		e.text = strings.TrimSpace(between(t, "command-name") + " " + between(t, "command-args"))
		if pattern("claude-local").MatchString(e.text) {
			e.kind = notice
		}
	case claude.IsNotice(t):
		e.kind = notice
	}
	return e
}

// between returns what stands in the first element of that name.
func between(s, element string) string {
	_, rest, _ := strings.Cut(s, "<"+element+">")
	in, _, _ := strings.Cut(rest, "</"+element+">")
	return strings.TrimSpace(in)
}

// claudeResult reads a result. Used is what Claude Code itself kept of it.
func claudeResult(b, used value) result {
	r := result{
		id: b.text("tool_use_id"), output: b.words("content"), failed: b.isTrue("is_error"),
		stopped: used.isTrue("interrupted"), running: used.text("backgroundTaskId"),
	}
	if _, rest, ok := strings.Cut(clip(r.output, 200), "launched in background. Task ID: "); ok {
		r.running, _, _ = strings.Cut(rest, "\n")
	}
	status := used.text("status")
	switch status {
	case "async_launched":
		r.running = cmp.Or(r.running, used.text("agentId"))
	case "running":
		r.running = cmp.Or(r.running, "task")
	}
	r.task = r.running != "" && status != "running"
	failure := strings.TrimPrefix(strings.TrimSpace(r.output), "Error: ")
	if !r.failed {
		r.status(0)
	} else if rest, ok := strings.CutPrefix(failure, "Exit code "); ok {
		r.readStatus(rest)
		r.stopped = r.stopped || strings.Contains(clip(rest, 200), "Command timed out")
		_, r.output, _ = strings.Cut(rest, "\n")
	} else {
		r.stopped = r.stopped || pattern("claude-stopped").MatchString(failure)
		r.denied = pattern("claude-denied").MatchString(failure)
	}
	if r.running == "" { // what was seen of a command in the background
		r.readStatus(between(r.output, "exit_code"))
	}
	return r
}

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
