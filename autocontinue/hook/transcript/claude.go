package transcript

import (
	"encoding/json"
	"strconv"
	"strings"
)

// claudeLine is a line of Claude Code's transcripts: JSON Lines, told apart by "type". One answer of the model stands
// on several lines with the same message.id, one block of its content each. Results of tools are "user" lines.
type claudeLine struct {
	Type           string `json:"type"`
	UUID           string `json:"uuid"`
	PromptID       string `json:"promptId"`
	SessionID      string `json:"sessionId"`
	PrintedID      string `json:"session_id"` // of what "claude -p" prints
	AgentID        string `json:"agentId"`
	Cwd            string `json:"cwd"`
	PermissionMode string `json:"permissionMode"`
	Sidechain      truth  `json:"isSidechain"`
	ParentToolUse  string `json:"parent_tool_use_id"` // likewise
	Meta           truth  `json:"isMeta"`
	Summary        truth  `json:"isCompactSummary"`
	APIError       truth  `json:"isApiErrorMessage"`
	Origin         origin `json:"origin"`
	Message        *struct {
		ID      string       `json:"id"`
		Model   string       `json:"model"`
		Content claudeBlocks `json:"content"`
	} `json:"message"`
	Used       claudeUsed `json:"toolUseResult"` // what Claude Code itself kept of a result
	Attachment struct {
		Type        string `json:"type"`
		Prompt      texts  `json:"prompt"`
		CommandMode string `json:"commandMode"`
		Origin      origin `json:"origin"`
		Meta        truth  `json:"isMeta"`
	} `json:"attachment"`
}

type origin struct {
	Kind string `json:"kind"`
}

func (o origin) isHuman() bool { return o.Kind == "" || o.Kind == "human" }

type claudeUsed struct {
	AgentID     string `json:"agentId"`
	Interrupted truth  `json:"interrupted"`
	Background  string `json:"backgroundTaskId"`
	Status      string `json:"status"`
}

func (u *claudeUsed) UnmarshalJSON(data []byte) error {
	type plain claudeUsed
	if data[0] == '{' {
		_ = json.Unmarshal(data, (*plain)(u))
	}
	return nil
}

// claudeBlocks are the blocks of a message. A text is one block.
type claudeBlocks []claudeBlock

type claudeBlock struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Input     input  `json:"input"`
	ToolUseID string `json:"tool_use_id"`
	IsError   truth  `json:"is_error"`
	Content   texts  `json:"content"`
}

func (b *claudeBlocks) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*b = claudeBlocks{{Type: "text"}}
		return json.Unmarshal(data, &(*b)[0].Text)
	}
	_ = json.Unmarshal(data, (*[]claudeBlock)(b)) // a member of another type is left out
	return nil
}

// claudeOthers are types of lines that are not part of the conversation and have no uuid.
var claudeOthers = " ai-title custom-title agent-name last-prompt queue-operation mode permission-mode file-history-snapshot " +
	"summary pr-link bridge-session cost-state tag agent-setting worktree-state "

// readClaude reads a line. Sidechain says that the transcript is a sub-agent's own, all of whose lines say so.
func readClaude(data []byte, at int64, sidechain bool) (l line) {
	var c claudeLine
	if !decode(data, &c) {
		return l
	}
	speaks := (c.Type == "user" || c.Type == "assistant") && c.Message != nil
	l.known = speaks || c.Type != "" && c.UUID != "" || strings.Contains(claudeOthers, " "+c.Type+" ") && c.Type != ""
	side := bool(c.Sidechain) || c.ParentToolUse != ""
	if speaks {
		l.session, l.dir = first(c.SessionID, c.PrintedID), c.Cwd
	}
	if sidechain {
		l.agent = c.AgentID
	}
	switch {
	case speaks && side != sidechain:
		return l
	case speaks && c.Type == "assistant":
		l.claudeAnswer(c, at)
	case speaks:
		l.claudeUser(c)
	case c.Type == "attachment" && side == sidechain:
		l.claudeQueued(c)
	}
	switch {
	case sidechain:
	case c.PermissionMode != "":
		l.add(entry{kind: mode, text: c.PermissionMode})
	case c.Attachment.Type == "plan_mode_exit":
		l.add(entry{kind: mode, text: "default"})
	}
	return l
}

// claudeAnswer reads a line of the model, or one that Claude Code wrote in its name: that the turn broke, or, where a
// session is resumed, that nothing was to be said.
func (l *line) claudeAnswer(c claudeLine, at int64) {
	id := first(c.UUID, offsetID(at))
	group := first(c.Message.ID, id)
	broke := bool(c.APIError)
	for _, b := range c.Message.Content {
		switch b.Type {
		case "text":
			said := strings.TrimSpace(b.Text)
			if c.Message.Model == "<synthetic>" {
				if said == "No response requested." || said == "(no content)" {
					continue
				}
				broke = true
			}
			if said != "" {
				l.add(entry{kind: message, id: id, group: group, text: b.Text, broke: broke})
			}
		case "tool_use":
			l.add(entry{kind: call, group: group, tool: tool{id: b.ID, name: b.Name, input: b.Input, dir: c.Cwd}})
		}
	}
}

// claudeUser reads a line in the human's name.
func (l *line) claudeUser(c claudeLine) {
	var words []string
	results, pictures := false, false
	for _, b := range c.Message.Content {
		switch b.Type {
		case "text":
			words = append(words, b.Text)
		case "tool_result":
			results = true
			l.add(entry{kind: outcome, result: claudeResult(b, c.Used)})
		case "image", "document":
			pictures = true
		}
	}
	other := bool(c.Meta) || !c.Origin.isHuman()
	switch {
	case bool(c.Summary):
		l.add(entry{kind: notice, summary: true})
	case len(words) > 0:
		l.claudeWords(strings.Join(words, "\n"), c.PromptID, other || results)
	case pictures && !results && !other:
		l.add(entry{kind: human, turn: c.PromptID})
	}
}

// claudeQueued reads what the agent was told between two calls: what the human said while it worked, or that a task has
// ended.
func (l *line) claudeQueued(c claudeLine) {
	a := c.Attachment
	if words := strings.TrimSpace(string(a.Prompt)); a.Type == "queued_command" && strings.HasPrefix(words, "<task-notification>") {
		l.add(entry{kind: notice, result: claudeNotified(words)})
		return
	}
	typed := a.CommandMode == "" || a.CommandMode == "prompt"
	if a.Type != "queued_command" || bool(a.Meta) || !typed || !a.Origin.isHuman() {
		return
	}
	var own line
	if own.claudeWords(string(a.Prompt), "", false); own.entries[0].kind == human && !blank(own.entries[0].text) {
		l.entries = append(l.entries, own.entries...)
	}
}

// claudeWords tells the human's words from what Claude Code writes in their place. Other says that they are not the
// human's.
func (l *line) claudeWords(s, turn string, other bool) {
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
		e.kind, e.result = notice, claudeNotified(t)
	case other:
		e.kind = notice
	case startsWith(t, "<command-name>", "<command-message>"):
		e.kind, e.text = command, strings.TrimSpace(between(t, "command-name")+" "+between(t, "command-args"))
	case strings.HasPrefix(t, "<local-command-"):
		e.kind = local
	case Claude.IsNotice(t):
		e.kind = notice
	}
	l.add(e)
}

// between returns what stands in the first element of that name.
func between(s, element string) string {
	_, rest, _ := strings.Cut(s, "<"+element+">")
	in, _, _ := strings.Cut(rest, "</"+element+">")
	return strings.TrimSpace(in)
}

// claudeNotified reads that a task in the background has ended.
func claudeNotified(s string) result {
	r := result{ended: between(s, "task-id"), stopped: true}
	if _, rest, ok := strings.Cut(between(s, "summary"), "exit code "); ok {
		if n, err := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]); err == nil {
			r.status(n)
			r.stopped = false
		}
	}
	return r
}

func claudeResult(b claudeBlock, used claudeUsed) result {
	r := result{id: b.ToolUseID, failed: bool(b.IsError), stopped: bool(used.Interrupted), running: used.Background}
	r.output = string(b.Content)
	if _, rest, ok := strings.Cut(clip(r.output, 200), "launched in background. Task ID: "); ok {
		r.running, _, _ = strings.Cut(rest, "\n")
	}
	switch used.Status {
	case "async_launched":
		r.running = first(r.running, used.AgentID)
	case "running":
		r.running = first(r.running, "task")
	}
	r.task = r.running != "" && used.Status != "running"
	switch {
	case !r.failed:
		r.status(0)
	default:
		claudeFailure(&r)
	}
	if code := between(r.output, "exit_code"); r.running == "" && code != "" { // what was seen of a command in the background
		if n, err := strconv.Atoi(code); err == nil {
			r.status(n)
		}
	}
	return r
}

// claudeFailure finds out what kind of failure a result is.
func claudeFailure(r *result) {
	s := strings.TrimPrefix(strings.TrimSpace(r.output), "Error: ")
	if rest, ok := strings.CutPrefix(s, "Exit code "); ok {
		if n, err := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]); err == nil {
			r.status(n)
		}
		r.stopped = r.stopped || strings.Contains(clip(rest, 200), "Command timed out")
		return
	}
	switch {
	case startsWith(s, "[Request interrupted", "Command timed out", "Command was aborted"):
		r.stopped = true
	case startsWith(s, "The user doesn't want to", "Permission to use", "Permission for this", "Claude requested permissions",
		"This command requires approval", "<tool_use_error>"):
		r.denied = true
	}
}
