package hook

import (
	"strconv"
	"strings"
)

// copilotScript reads the events of a session of Copilot CLI: JSON Lines of {"type", "data", "id", "timestamp", "parentId"},
// in ~/.copilot/session-state/<session>/events.jsonl. They are those of generated/session-events in
// github.com/github/copilot-sdk, and of what public readers of them have seen up to version 1.0.78 (November 2026). A call
// stands there twice, in the answer that asked for it and when it began; "agentId" marks what a sub-agent did. A hook's reason
// is a user message like the human's.
type copilotScript struct {
	begun map[string]bool // calls whose beginning was read
}

func (s *copilotScript) entries(line []byte, at int64, emit func(entry)) bool {
	if !isObject(line) {
		return false
	}
	var kind, id, agent string
	var data []byte
	for key, v := range members(line) {
		switch key {
		case "type":
			kind = textOf(v)
		case "id":
			id = textOf(v)
		case "agentId":
			agent = textOf(v)
		case "data":
			data = v
		}
	}
	if data == nil || !copilotLine(kind) {
		return false
	}
	if id == "" {
		id = offsetID(at)
	}
	if agent != "" || textOf(member(data, "parentToolCallId")) != "" {
		return true
	}
	switch kind {
	case "user.message":
		copilotPrompt(data, id, emit)
	case "assistant.message":
		s.answer(data, id, emit)
	case "tool.execution_start":
		s.start(data, emit)
	case "tool.execution_complete":
		emit(entry{kind: result, done: copilotOutcome(data)})
	case "session.task_complete": // its last words, in autopilot
		if said := textOf(member(data, "summary")); !blank(said) {
			emit(entry{kind: message, id: id, group: id, text: said})
		}
	case "system.notification": // that something in the background ended
		emit(entry{kind: notice})
	case "session.mode_changed":
		emit(entry{kind: mode, text: textOf(member(data, "newMode"))})
	case "abort":
		emit(entry{kind: abort})
	}
	return true
}

// copilotLine reports whether a type is one of an event's. New ones come with every version, of the kinds that are there.
func copilotLine(kind string) bool {
	before, _, ok := strings.Cut(kind, ".")
	if !ok {
		return kind == "abort"
	}
	switch before {
	case "session", "user", "assistant", "tool", "subagent", "hook", "system", "skill", "model", "permission", "elicitation", "external_tool", "mcp", "command", "auto_mode_switch":
		return true
	}
	return false
}

func copilotPrompt(data []byte, id string, emit func(entry)) {
	e := entry{kind: human, id: id}
	var sent, agentMode string
	for key, v := range members(data) {
		switch key {
		case "content":
			e.text = textOf(v)
		case "transformedContent":
			sent = textOf(v)
		case "source": // what was typed has none
			if s := textOf(v); s != "" && s != "user" && s != "cli" {
				e.kind = notice
			}
		case "isAutopilotContinuation":
			if isTrue(v) {
				e.kind = notice
			}
		case "agentMode":
			agentMode = textOf(v)
		}
	}
	if blank(e.text) {
		e.text = sent
	}
	if strings.HasPrefix(strings.TrimSpace(e.text), "<skill-context") { // not always marked
		e.kind = notice
	}
	if e.kind == notice && fromUs(e.text) {
		e.kind = feedback
	}
	emit(e)
	if agentMode != "" {
		emit(entry{kind: mode, text: agentMode})
	}
}

func (s *copilotScript) answer(data []byte, id string, emit func(entry)) {
	var said string
	var calls []byte
	for key, v := range members(data) {
		switch key {
		case "content":
			said = textOf(v)
		case "toolRequests":
			calls = v
		}
	}
	if !blank(said) {
		emit(entry{kind: message, id: id, group: id, text: said})
	}
	for c := range elements(calls) { // an answer with calls is not the last
		callID := textOf(member(c, "toolCallId"))
		if s.begun[callID] {
			delete(s.begun, callID)
			emit(entry{kind: call}) // it is told of where it begins
			continue
		}
		emit(entry{kind: call, tool: copilotTool(callID, textOf(member(c, "name")), member(c, "arguments"))})
	}
}

func (s *copilotScript) start(data []byte, emit func(entry)) {
	id := textOf(member(data, "toolCallId"))
	if s.begun == nil {
		s.begun = make(map[string]bool)
	}
	if len(s.begun) < maxCalls {
		s.begun[id] = true
	}
	emit(entry{kind: call, tool: copilotTool(id, textOf(member(data, "toolName")), member(data, "arguments"))})
}

// copilotTool makes a tool of a call. Its arguments are an object, or a text that holds one.
func copilotTool(id, name string, args []byte) tool {
	if s, ok := text(args); ok {
		if name == "apply_patch" && !isObject([]byte(s)) {
			t := tool{id: id, edits: patchedFiles(s)}
			if t.edits == nil {
				t.edits = []string{""}
			}
			return t
		}
		args = []byte(s)
	}
	switch name {
	case "create":
		name = "create_file"
	case "str_replace_editor":
		if textOf(member(args, "command")) == "view" {
			return tool{id: id}
		}
		return tool{id: id, edits: []string{textOf(member(args, "path"))}}
	case "task":
		return tool{id: id, opaque: true}
	case "read_bash", "read_powershell", "write_bash", "write_powershell", "stop_bash", "stop_powershell":
		shell := member(args, "shellId")
		if shell == nil {
			shell = member(args, "sessionId")
		}
		return tool{id: id, poll: textOf(shell)}
	}
	return toolOf(id, name, args)
}

// copilotOutcome reads what became of a call. A shell's exit status stands in a field of its own or, before that, in the last
// line of what the model was told.
func copilotOutcome(data []byte) outcome {
	var o outcome
	var res, failure, ended []byte
	success := true
	for key, v := range members(data) {
		switch key {
		case "toolCallId":
			o.id = textOf(v)
		case "success":
			success = isTrue(v)
		case "result":
			res = v
		case "error":
			failure = v
		case "shellExecution":
			ended = member(v, "exitCode")
		}
	}
	if s, ok := text(res); ok {
		o.said = s
	} else {
		o.said = textOf(member(res, "content"))
	}
	if !success {
		o.failed = true
		switch textOf(member(failure, "code")) {
		case "denied", "rejected":
			o.stopped = denied
		case "aborted", "cancelled", "timeout":
			o.stopped = interrupted
		}
	}
	if n, err := strconv.Atoi(string(ended)); err == nil {
		o.status(n)
	}
	trimmed := strings.TrimRight(o.said, " \n")
	if i := strings.LastIndex(trimmed, "<exited with exit code "); i >= 0 && strings.HasSuffix(trimmed, ">") {
		if n, err := strconv.Atoi(trimmed[i+len("<exited with exit code ") : len(trimmed)-1]); err == nil {
			o.status(n)
			o.said = trimmed[:i]
		}
		return o
	}
	if shell := copilotRunning(trimmed); shell != "" {
		o.running = shell
	}
	return o
}

// copilotRunning returns the shell in which a command goes on, by the last line of what the model was told of it.
func copilotRunning(said string) string {
	last := said[strings.LastIndexByte(said, '\n')+1:]
	if !strings.HasPrefix(last, "<") || !strings.Contains(last, "still running") && !strings.Contains(last, "started in") && !strings.Contains(last, "waiting for") {
		return ""
	}
	for _, mark := range []string{"shellId: ", "shell ID: ", "with id: ", "session ID: ", "sessionId: "} {
		if _, rest, ok := strings.Cut(last, mark); ok {
			if i := strings.IndexAny(rest, " ,.>"); i > 0 {
				return rest[:i]
			}
		}
	}
	return "shell"
}
