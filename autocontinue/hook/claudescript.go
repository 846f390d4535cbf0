package hook

import (
	"bytes"
	"strconv"
	"strings"
)

// claudeScript reads the transcripts of Claude Code: JSON Lines, an object a line, told apart by "type". One answer of the
// model stands on several lines with the same message.id, one block of its content each. Tools' results are "user" lines.
type claudeScript struct {
	sidechain bool // it is a sub-agent's own transcript, all of whose lines say so
}

func (s claudeScript) entries(line []byte, at int64, emit func(entry)) bool {
	if !isObject(line) {
		return false
	}
	var kind, uuid, turn, origin, permission string
	var msg, used, attached []byte
	var side, meta, summary, broke bool
	for key, v := range members(line) {
		switch key {
		case "type":
			kind = textOf(v)
		case "uuid":
			uuid = textOf(v)
		case "promptId":
			turn = textOf(v)
		case "message":
			msg = v
		case "toolUseResult":
			used = v
		case "attachment":
			attached = v
		case "permissionMode":
			permission = textOf(v)
		case "isSidechain":
			side = side || isTrue(v)
		case "parent_tool_use_id": // of what "claude -p" prints
			side = side || textOf(v) != ""
		case "isMeta":
			meta = isTrue(v)
		case "isCompactSummary":
			summary = isTrue(v)
		case "isApiErrorMessage":
			broke = isTrue(v)
		case "origin":
			origin = textOf(member(v, "kind"))
		}
	}
	if kind != "user" && kind != "assistant" || msg == nil {
		if permission != "" && !s.sidechain {
			emit(entry{kind: mode, text: permission})
		}
		if kind == "attachment" && side == s.sidechain {
			claudeQueued(attached, entry{id: uuid}, emit)
		}
		return kind != "" && uuid != "" || claudeLines[kind]
	}
	if side != s.sidechain {
		return true
	}
	if uuid == "" {
		uuid = offsetID(at)
	}
	if kind == "assistant" {
		claudeAnswer(msg, uuid, broke, emit)
		return true
	}
	claudeUser(msg, used, entry{id: uuid, turn: turn}, meta || summary || origin != "" && origin != "human", emit)
	if permission != "" {
		emit(entry{kind: mode, text: permission})
	}
	return true
}

// claudeLines are types of lines that are no part of the conversation and have no uuid.
var claudeLines = map[string]bool{
	"ai-title": true, "custom-title": true, "agent-name": true, "last-prompt": true, "queue-operation": true, "mode": true,
	"permission-mode": true, "file-history-snapshot": true, "summary": true, "pr-link": true, "bridge-session": true, "cost-state": true,
	"tag": true, "agent-setting": true, "worktree-state": true,
}

// claudeAnswer reads a line of the model's, or one that Claude Code wrote in its name: that the turn broke, or, where a session
// is taken up again, that nothing was to be said.
func claudeAnswer(msg []byte, uuid string, broke bool, emit func(entry)) {
	var group, model string
	var content []byte
	for key, v := range members(msg) {
		switch key {
		case "id":
			group = textOf(v)
		case "model":
			model = textOf(v)
		case "content":
			content = v
		}
	}
	if model == "<synthetic>" {
		switch said := strings.TrimSpace(blocks(content)); said {
		case "No response requested.", "(no content)", "":
			return
		}
		broke = true
	}
	if group == "" {
		group = uuid
	}
	if s, ok := text(content); ok {
		emit(entry{kind: message, id: uuid, group: group, text: s, broke: broke})
		return
	}
	for block := range elements(content) {
		var kind, id, name, said string
		var input []byte
		for key, v := range members(block) {
			switch key {
			case "type":
				kind = textOf(v)
			case "text":
				said = textOf(v)
			case "id":
				id = textOf(v)
			case "name":
				name = textOf(v)
			case "input":
				input = v
			}
		}
		switch kind {
		case "text":
			if !blank(said) {
				emit(entry{kind: message, id: uuid, group: group, text: said, broke: broke})
			}
		case "tool_use":
			emit(entry{kind: call, group: group, tool: toolOf(id, name, input)})
		}
	}
}

// claudeUser reads a line in the human's name. By says that it is not the human's all the same.
func claudeUser(msg, used []byte, e entry, by bool, emit func(entry)) {
	content := member(msg, "content")
	if s, ok := text(content); ok {
		claudeWords(s, e, by, emit)
		return
	}
	var words []string
	results := false
	for block := range elements(content) {
		switch textOf(member(block, "type")) {
		case "text":
			words = append(words, textOf(member(block, "text")))
		case "tool_result":
			results = true
			emit(entry{kind: result, done: claudeResult(block, used)})
		}
	}
	if len(words) > 0 {
		claudeWords(strings.Join(words, "\n"), e, by || results, emit)
	} else if !results && !by {
		e.kind = human // pictures
		emit(e)
	}
}

// claudeQueued reads what the human said while the agent worked, and the agent was told between two calls. Of what else waits
// to be told, nothing is the human's.
func claudeQueued(attached []byte, e entry, emit func(entry)) {
	var kind, by, origin string
	var words []byte
	var meta bool
	for key, v := range members(attached) {
		switch key {
		case "type":
			kind = textOf(v)
		case "prompt":
			words = v
		case "commandMode":
			by = textOf(v)
		case "origin":
			origin = textOf(member(v, "kind"))
		case "isMeta":
			meta = isTrue(v)
		}
	}
	if kind != "queued_command" || meta || by != "" && by != "prompt" || origin != "" && origin != "human" {
		return
	}
	claudeWords(blocks(words), e, false, func(e entry) {
		if e.kind == human && !blank(e.text) {
			emit(e)
		}
	})
}

// claudeWords tells the human's words from what Claude Code writes in their place.
func claudeWords(s string, e entry, by bool, emit func(entry)) {
	t := strings.TrimSpace(s)
	e.kind, e.text = human, s
	if words := unwrapped(s); words != t && words != "" {
		e.text, t = words, words
	}
	switch {
	case strings.HasPrefix(t, "[Request interrupted by user"):
		e.kind = abort
	case strings.HasPrefix(t, "Stop hook feedback:"), strings.HasPrefix(t, "SubagentStop hook feedback:"):
		_, e.text, _ = strings.Cut(t, ":")
		e.kind = feedback
	case by:
		e.kind = notice
	case strings.HasPrefix(t, "<command-name>"), strings.HasPrefix(t, "<command-message>"):
		e.kind, e.text = command, claudeCommand(t)
	case strings.HasPrefix(t, "<local-command-"):
		e.kind = local
	case claude{}.machine(t):
		e.kind = notice
	}
	emit(e)
}

// claudeCommand returns a command as the human typed it: "/review 12".
func claudeCommand(s string) string {
	between := func(tag string) string {
		_, rest, _ := strings.Cut(s, "<"+tag+">")
		in, _, _ := strings.Cut(rest, "</"+tag+">")
		return strings.TrimSpace(in)
	}
	return strings.TrimSpace(between("command-name") + " " + between("command-args"))
}

// claudeResult reads a tool's result. Used is what Claude Code itself kept of it.
func claudeResult(block, used []byte) outcome {
	var o outcome
	for key, v := range members(block) {
		switch key {
		case "tool_use_id":
			o.id = textOf(v)
		case "is_error":
			o.failed = isTrue(v)
		case "content":
			o.raw = v
		}
	}
	for key, v := range members(used) {
		switch key {
		case "interrupted":
			if isTrue(v) {
				o.stopped = interrupted
			}
		case "backgroundTaskId":
			o.running = textOf(v)
		case "status":
			if textOf(v) == "running" {
				o.running = "task"
			}
		}
	}
	if !o.failed {
		o.status(0)
	} else {
		o.said = blocks(o.raw)
		o.raw = nil
		claudeFailure(&o)
	}
	if o.running == "" && bytes.Contains(o.raw, []byte("<exit_code>")) {
		claudePolled(&o)
	}
	return o
}

// claudeFailure finds out what kind of failure a result is.
func claudeFailure(o *outcome) {
	s := strings.TrimSpace(o.said)
	if rest, ok := strings.CutPrefix(s, "Error: "); ok {
		s = rest
	}
	if rest, ok := strings.CutPrefix(s, "Exit code "); ok {
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if n, err := strconv.Atoi(digits); err == nil {
			o.status(n)
		}
		if strings.Contains(clip(rest, 200), "Command timed out") {
			o.stopped = interrupted
		}
		return
	}
	switch {
	case startsWith(s, "[Request interrupted", "Command timed out", "Command was aborted"):
		o.stopped = interrupted
	case startsWith(s, "The user doesn't want to", "Permission to use", "Permission for this", "Claude requested permissions", "This command requires approval"):
		o.stopped = denied
	}
}

// claudePolled reads what the agent saw of a command in the background.
func claudePolled(o *outcome) {
	s := blocks(o.raw)
	_, rest, _ := strings.Cut(s, "<exit_code>")
	digits, _, ok := strings.Cut(rest, "</exit_code>")
	if n, err := strconv.Atoi(strings.TrimSpace(digits)); ok && err == nil {
		o.status(n)
		o.said = s
	}
}
