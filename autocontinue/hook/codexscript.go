package hook

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
)

// codexScript reads Codex's rollouts: JSON Lines of {"timestamp", "type", "payload"}. What went to the model and came from
// it stands in lines of type response_item; event_msg lines say some of it again, and alone what a program of the model's
// did ("code mode"). A hook's reason is a user message of <hook_prompt> elements. Until September 2025 a line was such an item
// itself, after a first one with the session's ID, and lines of {"record_type": "state"} between them.
type codexScript struct{}

func (codexScript) entries(line []byte, at int64, emit func(entry)) bool {
	if !isObject(line) {
		return false
	}
	var kind string
	var payload []byte
	for key, v := range members(line) {
		switch key {
		case "type":
			kind = textOf(v)
		case "payload":
			payload = v
		}
	}
	if payload == nil {
		if codexItems[kind] {
			codexItem(line, at, emit)
		}
		return codexItems[kind] || member(line, "record_type") != nil || codexOldStart(line) != ""
	}
	switch kind {
	case "response_item":
		codexItem(payload, at, emit)
	case "event_msg":
		codexEvent(payload, emit)
	case "session_meta", "turn_context", "compacted", "world_state", "inter_agent_communication":
	default:
		return false
	}
	return true
}

// codexOldStart returns the session's ID of the first line that was written until September 2025, "" for another line.
func codexOldStart(line []byte) string {
	if !bytes.Contains(line, []byte(`"instructions"`)) || member(line, "instructions") == nil || member(line, "timestamp") == nil ||
		member(line, "type") != nil || member(line, "payload") != nil {
		return ""
	}
	return textOf(member(line, "id"))
}

// codexItems are types of what went to the model and came from it.
var codexItems = map[string]bool{
	"message": true, "reasoning": true, "function_call": true, "function_call_output": true, "local_shell_call": true,
	"local_shell_call_output": true, "custom_tool_call": true, "custom_tool_call_output": true, "web_search_call": true,
}

// codexItem reads what went to the model or came from it.
func codexItem(payload []byte, at int64, emit func(entry)) {
	var kind, role, id, callID, name string
	var content, arguments, output, action, meta []byte
	for key, v := range members(payload) {
		switch key {
		case "type":
			kind = textOf(v)
		case "role":
			role = textOf(v)
		case "id":
			id = textOf(v)
		case "call_id":
			callID = textOf(v)
		case "name":
			name = textOf(v)
		case "content":
			content = v
		case "arguments", "input":
			arguments = v
		case "output":
			output = v
		case "action":
			action = v
		case "internal_chat_message_metadata_passthrough":
			meta = v
		}
	}
	switch kind {
	case "message":
		codexMessage(role, id, content, meta, at, emit)
	case "function_call":
		t := toolOf(callID, name, []byte(textOf(arguments)))
		emit(entry{kind: call, tool: t})
	case "local_shell_call":
		emit(entry{kind: call, tool: toolOf(callID, "shell", action)})
	case "custom_tool_call":
		t := tool{id: callID}
		switch name {
		case "apply_patch":
			if t.edits = patchedFiles(textOf(arguments)); t.edits == nil {
				t.edits = []string{""}
			}
		case "exec":
			t.program = true
		}
		emit(entry{kind: call, tool: t})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		emit(entry{kind: result, done: codexOutput(callID, output)})
	}
}

// codexMessage reads a message. A user message is the human's, a hook's, or one of many that Codex writes itself; newer ones
// say of each part what it is.
func codexMessage(role, id string, content, meta []byte, at int64, emit func(entry)) {
	var kinds []string
	for k := range elements(member(meta, "content_item_kinds")) {
		kinds = append(kinds, textOf(k))
	}
	var parts, typed []string
	n := 0
	for block := range elements(content) {
		var kind, said string
		for key, v := range members(block) {
			switch key {
			case "type":
				kind = textOf(v)
			case "text":
				said = textOf(v)
			}
		}
		if strings.HasSuffix(kind, "_text") || kind == "text" {
			parts = append(parts, said)
			if n < len(kinds) && strings.HasPrefix(kinds[n], "user.") {
				typed = append(typed, said)
			}
		}
		n++
	}
	said := strings.Join(parts, "\n")
	switch role {
	case "assistant":
		if blank(said) {
			return
		}
		if id == "" {
			id = offsetID(at)
		}
		emit(entry{kind: message, id: id, text: said})
	case "user":
		first := ""
		if len(parts) > 0 {
			first = strings.TrimSpace(parts[0])
		}
		users := slices.ContainsFunc(kinds, func(k string) bool { return strings.HasPrefix(k, "user.") })
		switch {
		case strings.HasPrefix(first, "<hook_prompt"):
			for _, p := range parts {
				emit(entry{kind: feedback, text: hookPrompt(p)})
			}
		case strings.HasPrefix(first, "<turn_aborted>"):
			emit(entry{kind: abort})
		case users && len(kinds) == n:
			emit(entry{kind: human, text: codexPrompt(typed)})
		case codex{}.machine(first) || len(kinds) > 0 && !users:
			emit(entry{kind: notice})
		default:
			emit(entry{kind: human, text: codexPrompt(parts)})
		}
	}
}

// codexPrompt puts a prompt together, without the marks of pictures in it.
func codexPrompt(parts []string) string {
	var kept []string
	for _, p := range parts {
		if t := strings.TrimSpace(p); strings.HasPrefix(t, "<image ") && strings.HasSuffix(t, ">") || t == "</image>" || t == "<image>" {
			continue
		}
		kept = append(kept, p)
	}
	return unwrapped(strings.Join(kept, "\n"))
}

// hookPrompt returns what a hook said, out of <hook_prompt hook_run_id="…">…</hook_prompt>.
func hookPrompt(s string) string {
	var b strings.Builder
	d := xml.NewDecoder(strings.NewReader(s))
	d.Strict = false
	for {
		tok, err := d.Token()
		if err != nil {
			if err != io.EOF && b.Len() == 0 {
				return s
			}
			return b.String()
		}
		if said, ok := tok.(xml.CharData); ok {
			b.Write(said)
		}
	}
}

// codexEvent reads what happened beside the model.
func codexEvent(payload []byte, emit func(entry)) {
	switch textOf(member(payload, "type")) {
	case "turn_aborted":
		emit(entry{kind: abort})
	case "exec_command_end":
		codexCommand(payload, textOf(member(payload, "call_id")), emit)
	case "patch_apply_end":
		codexPatch(payload, emit)
	case "item_completed":
		item := member(payload, "item")
		switch textOf(member(item, "type")) {
		case "CommandExecution":
			codexCommand(item, textOf(member(item, "id")), emit)
		case "FileChange":
			codexPatch(item, emit)
		}
	}
}

// codexCommand reads a command that has ended.
func codexCommand(b []byte, id string, emit func(entry)) {
	t := tool{id: "event:" + id, event: true}
	o := outcome{id: t.id}
	status := ""
	for key, v := range members(b) {
		switch key {
		case "command":
			t.script = shellText(v)
		case "exit_code":
			if n, err := strconv.Atoi(string(v)); err == nil {
				o.status(n)
			}
		case "aggregated_output", "stdout", "formatted_output":
			if s := textOf(v); len(s) > len(o.said) {
				o.said = s
			}
		case "status":
			status = strings.ToLower(textOf(v))
		}
	}
	switch status {
	case "declined":
		o.stopped = denied
	case "inprogress", "in_progress":
		o.running = id
	case "failed":
		o.failed = true
	}
	emit(entry{kind: call, tool: t})
	emit(entry{kind: result, done: o})
}

// codexPatch reads a patch that was applied, or not.
func codexPatch(b []byte, emit func(entry)) {
	t := tool{id: "event:patch"}
	o := outcome{id: t.id}
	for key, v := range members(b) {
		switch key {
		case "changes":
			for file := range members(v) {
				t.edits = append(t.edits, file)
			}
		case "success":
			o.failed = o.failed || string(v) == "false"
		case "status":
			s := strings.ToLower(textOf(v))
			o.failed = o.failed || s == "failed" || s == "declined"
		}
	}
	emit(entry{kind: call, tool: t})
	emit(entry{kind: result, done: o})
}

// codexOutput reads what a call came to. Codex has written it in several forms: a text with a head that says how the command
// ended, a JSON object in a string, an array of texts, an object with a text.
func codexOutput(id string, output []byte) outcome {
	o := outcome{id: id, said: blocks(output)}
	if c := member(output, "content"); c != nil {
		o.said = blocks(c)
		o.failed = string(member(output, "success")) == "false"
	}
	var wrapped struct {
		Output   *string
		Metadata struct {
			ExitCode *int `json:"exit_code"`
		}
	}
	if strings.HasPrefix(o.said, "{") && json.Unmarshal([]byte(o.said), &wrapped) == nil && wrapped.Output != nil {
		o.said = *wrapped.Output
		if wrapped.Metadata.ExitCode != nil {
			o.status(*wrapped.Metadata.ExitCode)
		}
		return o
	}
	head, body, _ := strings.Cut(o.said, "\nOutput:\n")
	if strings.HasPrefix(o.said, "Output:\n") {
		head, body = "", o.said[len("Output:\n"):]
	}
	for line := range strings.Lines(clip(head, 2000)) {
		line = strings.TrimSpace(line)
		for _, p := range []string{"Exit code: ", "Process exited with code "} {
			if rest, ok := strings.CutPrefix(line, p); ok {
				if n, err := strconv.Atoi(rest); err == nil {
					o.status(n)
					o.said = body
				}
			}
		}
		if rest, ok := strings.CutPrefix(line, "Process running with session ID "); ok {
			o.running = rest
		}
		switch {
		case strings.Contains(line, "timed out"), strings.Contains(line, "aborted by user"):
			o.stopped = interrupted
		case strings.Contains(line, "rejected by user"):
			o.stopped = denied
		}
		if strings.HasPrefix(line, "apply_patch verification failed") || strings.HasPrefix(line, "Failed to find") || strings.Contains(line, "blocked by PreToolUse hook") {
			o.failed = true
		}
	}
	return o
}
