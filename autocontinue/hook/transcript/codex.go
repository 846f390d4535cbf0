package transcript

import (
	"cmp"
	"html"
	"strings"
)

// readCodex reads a line of Codex's rollouts. What went to the model and came from it stands in lines of type
// response_item; event_msg lines repeat some of it. What a program of the model did ("code mode") is not read.
func readCodex(v value, id string) (l line) {
	kind, item := v.text("type"), v.at("payload")
	if l.known = isPhrase("codex-line", kind) && item.isObject(); !l.known {
		return l
	}
	if kind == "response_item" || kind == "event_msg" {
		kind += " " + item.text("type")
	}
	switch kind {
	case "response_item message":
		l.codexMessage(item, id)
	case "response_item function_call", "response_item local_shell_call", "response_item custom_tool_call":
		args, ok := parse([]byte(item.text("arguments")))
		t := tool{id: item.text("call_id"), name: cmp.Or(item.text("name"), "shell"), input: args, patch: item.text("input")}
		if !ok {
			t.input = item.at("action")
		}
		l.add(entry{kind: call, tool: t})
	case "response_item function_call_output", "response_item custom_tool_call_output",
		"response_item local_shell_call_output":
		l.add(entry{kind: outcome, result: codexResult(item.text("call_id"), item.at("output"))})
	case "event_msg turn_aborted":
		l.add(entry{kind: abort})
	case "event_msg task_complete":
		l.add(entry{kind: ended})
	case "session_meta":
		l.session, l.dir = item.text("id"), item.text("cwd")
	case "compacted":
		l.add(entry{kind: notice, summary: true})
	case "turn_context":
		l.dir = item.text("cwd")
		if m := item.text("collaboration_mode", "mode"); m != "" {
			l.add(entry{kind: mode, text: m})
		}
	}
	return l
}

// codexMessage reads a message. A user message is the human's, a hook's, or one of many that Codex writes itself.
func (l *line) codexMessage(c value, id string) {
	kinds := c.list("internal_chat_message_metadata_passthrough", "content_item_kinds")
	var parts, typed []string
	for i, block := range c.list("content") {
		if kind := block.text("type"); strings.HasSuffix(kind, "_text") || kind == "text" {
			parts = append(parts, block.text("text"))
			if i >= len(kinds) || strings.HasPrefix(kinds[i].text(), "user.") {
				typed = append(typed, block.text("text"))
			}
		}
	}
	said := strings.Join(parts, "\n")
	opening := strings.TrimSpace(said)
	switch role := c.text("role"); {
	case role == "assistant" && opening != "":
		l.add(entry{kind: message, id: cmp.Or(c.text("id"), id), text: said})
	case role != "user":
	case strings.HasPrefix(opening, "<hook_prompt"):
		for _, p := range parts {
			l.add(entry{kind: feedback, text: html.UnescapeString(pattern("hook-prompt").ReplaceAllString(p, ""))})
		}
	case strings.HasPrefix(opening, "<turn_aborted>"):
		l.add(entry{kind: abort})
	case len(typed) == 0 && len(kinds) > 0, len(kinds) == 0 && codex.IsNotice(opening):
		l.add(entry{kind: notice})
	default:
		l.add(entry{kind: human, text: withoutWrapping(strings.Join(typed, "\n"))})
	}
}

// codexResult reads what a call came to. Codex has written it in several forms: a text with a head that says how the
// command ended, a JSON object in a text, an array of texts, an object with one of these.
func codexResult(id string, out value) result {
	r := result{id: id, output: out.words() + out.words("content"), failed: out.isFalse("success")}
	if v, ok := parse([]byte(r.output)); ok && v.at("output").any != nil {
		r.output = v.text("output")
		r.readStatus(v.at("metadata").first("exit_code"))
		return r
	}
	head, body, _ := strings.Cut("\n"+r.output, "\nOutput:\n")
	head = clip(head, 2000)
	if r.readStatus(find("codex-status", head)) {
		r.output = body
	}
	r.running = find("codex-running", head)
	r.stopped, r.denied = pattern("codex-stopped").MatchString(head), strings.Contains(head, "rejected by user")
	r.failed = r.failed || pattern("codex-failed").MatchString(head)
	return r
}
