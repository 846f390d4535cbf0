package transcript

import (
	"cmp"
	"slices"
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
	case speaks:
		l.claudeMessage(v, cmp.Or(v.text("uuid"), id))
	case kind == "attachment" && side == subagent && v.text("attachment", "type") == "queued_command":
		// What the agent was told between two calls: the human's words, or that a task has ended.
		a := v.at("attachment")
		e := claudeWords(a.words("prompt"), "", false)
		isPrompt := cmp.Or(a.text("commandMode"), "prompt") == "prompt" && isHuman(a)
		if e.result.ended != "" || e.kind == human && !blank(e.text) && isPrompt {
			l.add(e)
		}
	}
	// Within a turn, only what the agent is told says that it plans, or works in any other mode.
	told := map[string]string{"plan_mode": "plan", "plan_mode_exit": "default"}[v.text("attachment", "type")]
	if name := cmp.Or(v.text("permissionMode"), told); name != "" && !subagent && !side {
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

// isHuman reports whether the human wrote a prompt, by what Claude Code says of its origin.
func isHuman(v value) bool {
	return !v.isTrue("isMeta") && (v.text("origin", "kind") == "" || v.text("origin", "kind") == "human")
}

// claudeMessage reads a line to or of the model, or one that Claude Code wrote in its name: that the turn broke, or,
// where a session is resumed, that nothing was to be said.
func (l *line) claudeMessage(v value, id string) {
	group, answers := cmp.Or(v.text("message", "id"), id), v.text("type") == "assistant"
	synthetic := v.text("message", "model") == "<synthetic>"
	broke := synthetic || v.isTrue("isApiErrorMessage")
	var words []string
	results := false
	for _, b := range claudeBlocks(v.at("message", "content")) {
		switch kind, said := b.text("type"), b.text("text"); {
		case kind == "text" && !answers:
			words = append(words, said)
		case kind == "text" && !blank(said) && !(synthetic && isPhrase("claude-nothing", strings.TrimSpace(said))):
			l.add(entry{kind: message, id: id, group: group, text: said, broke: broke})
		case kind == "tool_use" && answers:
			t := tool{id: b.text("id"), name: b.text("name"), input: b.at("input")}
			l.add(entry{kind: call, group: group, tool: t})
		case kind == "tool_result" && !answers:
			results = true
			l.add(entry{kind: outcome, result: claudeResult(b, v.at("toolUseResult"))})
		}
	}
	if v.isTrue("isCompactSummary") && !answers {
		l.add(entry{kind: notice, summary: true})
	} else if len(words) > 0 {
		l.add(claudeWords(strings.Join(words, "\n"), v.text("promptId"), !isHuman(v) || results))
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
	r.running = cmp.Or(r.running, map[string]string{"async_launched": used.text("agentId"), "running": "task"}[status])
	r.task = r.running != "" && status != "running"
	failure := strings.TrimPrefix(strings.TrimSpace(r.output), "Error: ")
	rest, exited := strings.CutPrefix(failure, "Exit code ")
	switch {
	case !r.failed:
		r.status(0)
	case exited:
		r.readStatus(rest)
		r.stopped = r.stopped || strings.Contains(clip(rest, 200), "Command timed out")
		_, r.output, _ = strings.Cut(rest, "\n")
	default:
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
	for i, b := range claudeBlocks(v.at("message", "content")) {
		switch {
		case b.text("type") == "text" && !blank(b.text("text")):
			said = append(said, b.text("text"))
		case b.text("type") == "tool_use" && role == "assistant": // an answer with calls is not the last
			callID := id + "/" + strconv.Itoa(i)
			l.add(entry{kind: call, tool: tool{id: callID, name: b.text("name"), input: b.at("input")}})
			l.add(entry{kind: outcome, result: result{id: callID, running: "?"}})
		}
	}
	text := strings.Join(said, "\n")
	switch {
	case role == "user":
		l.add(entry{kind: human, id: id, text: cmp.Or(strings.TrimSpace(find("user-query", text)), text)})
	case text != "":
		l.entries = slices.Insert(l.entries, 0, entry{kind: message, id: id, group: id, text: text})
	}
	return l
}
