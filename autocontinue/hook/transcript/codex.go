package transcript

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
)

// codexLine is a line of Codex's rollouts: JSON Lines of {"timestamp", "type", "payload"}. What went to the model and
// came from it stands in lines of type response_item; event_msg lines repeat some of it, and they alone tell what a
// program of the model did ("code mode"). A hook's reason is a user message of <hook_prompt> elements. Until
// September 2025 a line was such an item itself, after a first one with the session's ID, and with lines of
// {"record_type": "state"} between them.
type codexLine struct {
	codexItem
	Payload      *codexItem      `json:"payload"`
	RecordType   string          `json:"record_type"`
	Timestamp    string          `json:"timestamp"`
	Instructions json.RawMessage `json:"instructions"`
}

type codexItem struct {
	Type      string       `json:"type"`
	Role      string       `json:"role"`
	ID        string       `json:"id"`
	CallID    string       `json:"call_id"`
	Name      string       `json:"name"`
	Content   codexContent `json:"content"`
	Arguments string       `json:"arguments"`
	Input     string       `json:"input"`
	Output    codexOutput  `json:"output"`
	Action    input        `json:"action"`
	Meta      struct {
		Kinds []string `json:"content_item_kinds"`
	} `json:"internal_chat_message_metadata_passthrough"`
	Cwd           string `json:"cwd"`
	Collaboration struct {
		Mode string `json:"mode"`
	} `json:"collaboration_mode"`

	// Of an event: a command that has ended, or a patch that was applied.
	Item       *codexItem                 `json:"item"`
	Command    script                     `json:"command"`
	ExitCode   *int                       `json:"exit_code"`
	Status     string                     `json:"status"`
	Aggregated string                     `json:"aggregated_output"`
	Stdout     string                     `json:"stdout"`
	Formatted  string                     `json:"formatted_output"`
	Changes    map[string]json.RawMessage `json:"changes"`
	Success    *bool                      `json:"success"`
}

type codexContent []struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (c *codexContent) UnmarshalJSON(data []byte) error {
	type plain codexContent
	if data[0] == '[' {
		_ = json.Unmarshal(data, (*plain)(c))
	}
	return nil
}

// codexOutput is what a call printed: a text, an array of texts, or an object with one of these.
type codexOutput struct {
	Text   texts
	Failed bool
}

func (o *codexOutput) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return json.Unmarshal(data, &o.Text)
	}
	var v struct {
		Content texts `json:"content"`
		Success *bool `json:"success"`
	}
	_ = json.Unmarshal(data, &v)
	o.Text, o.Failed = v.Content, v.Success != nil && !*v.Success
	return nil
}

// codexItems are types of what went to the model and came from it.
const codexItems = " message reasoning function_call function_call_output local_shell_call local_shell_call_output " +
	"custom_tool_call custom_tool_call_output web_search_call "

const codexTypes = " response_item event_msg session_meta turn_context compacted world_state inter_agent_communication token_usage_record "

func readCodex(data []byte, at int64) (l line) {
	var c codexLine
	if !decode(data, &c) {
		return l
	}
	if c.Payload == nil {
		switch {
		case strings.Contains(codexItems, " "+c.Type+" ") && c.Type != "":
			l.known = true
			l.codexItem(c.codexItem, at)
		case c.Type == "" && c.ID != "" && c.Timestamp != "" && c.Instructions != nil: // the first line until September 2025
			l.known, l.begins, l.session = true, true, c.ID
		default:
			l.known = c.RecordType != ""
		}
		return l
	}
	l.known = strings.Contains(codexTypes, " "+c.Type+" ") && c.Type != ""
	switch c.Type {
	case "response_item":
		l.codexItem(*c.Payload, at)
	case "event_msg":
		l.codexEvent(*c.Payload)
	case "session_meta":
		l.session, l.dir, l.begins = c.Payload.ID, c.Payload.Cwd, true
	case "compacted":
		l.add(entry{kind: notice, summary: true})
	case "turn_context":
		l.dir = c.Payload.Cwd
		if m := c.Payload.Collaboration.Mode; m != "" {
			l.add(entry{kind: mode, text: m})
		}
	}
	return l
}

// codexItem reads what went to the model or came from it.
func (l *line) codexItem(c codexItem, at int64) {
	t := tool{id: c.CallID, name: c.Name}
	switch c.Type {
	case "message":
		l.codexMessage(c, at)
	case "function_call":
		decode([]byte(c.Arguments), &t.input)
		l.add(entry{kind: call, tool: t})
	case "local_shell_call":
		t.name, t.input = "shell", c.Action
		l.add(entry{kind: call, tool: t})
	case "custom_tool_call":
		t.patch, t.program = c.Input, c.Name == "exec"
		l.add(entry{kind: call, tool: t})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		l.add(entry{kind: outcome, result: codexResult(c.CallID, c.Output)})
	}
}

// codexMessage reads a message. A user message is the human's, a hook's, or one of many that Codex writes itself. Newer
// ones say of each part what it is.
func (l *line) codexMessage(c codexItem, at int64) {
	isUser := func(kind string) bool { return strings.HasPrefix(kind, "user.") }
	var parts, typed []string
	for i, block := range c.Content {
		if strings.HasSuffix(block.Type, "_text") || block.Type == "text" {
			parts = append(parts, block.Text)
			if i < len(c.Meta.Kinds) && isUser(c.Meta.Kinds[i]) {
				typed = append(typed, block.Text)
			}
		}
	}
	said := strings.Join(parts, "\n")
	if c.Role == "assistant" && !blank(said) {
		l.add(entry{kind: message, id: first(c.ID, offsetID(at)), text: said})
	}
	if c.Role != "user" {
		return
	}
	opening := ""
	if len(parts) > 0 {
		opening = strings.TrimSpace(parts[0])
	}
	users := slices.ContainsFunc(c.Meta.Kinds, isUser)
	switch {
	case strings.HasPrefix(opening, "<hook_prompt"):
		for _, p := range parts {
			l.add(entry{kind: feedback, text: hookPrompt(p)})
		}
	case strings.HasPrefix(opening, "<turn_aborted>"):
		l.add(entry{kind: abort})
	case users && len(c.Meta.Kinds) == len(c.Content):
		l.add(entry{kind: human, text: codexPrompt(typed)})
	case Codex.IsNotice(opening), len(c.Meta.Kinds) > 0 && !users:
		l.add(entry{kind: notice})
	default:
		l.add(entry{kind: human, text: codexPrompt(parts)})
	}
}

// codexPrompt puts a prompt together, without the marks of pictures in it.
func codexPrompt(parts []string) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool {
		t := strings.TrimSpace(p)
		return strings.HasPrefix(t, "<image ") && strings.HasSuffix(t, ">") || t == "</image>" || t == "<image>"
	})
	return withoutWrapping(strings.Join(parts, "\n"))
}

// hookPrompt returns what a hook said, out of <hook_prompt hook_run_id="…">…</hook_prompt>.
func hookPrompt(s string) string {
	var b strings.Builder
	d := xml.NewDecoder(strings.NewReader(s))
	d.Strict = false
	for {
		token, err := d.Token()
		if err != nil {
			if err != io.EOF && b.Len() == 0 {
				return s
			}
			return b.String()
		}
		if said, ok := token.(xml.CharData); ok {
			b.Write(said)
		}
	}
}

// codexEvent reads what happened beside the model.
func (l *line) codexEvent(c codexItem) {
	kind := c.Type
	if c.Item != nil {
		kind, c = c.Item.Type, *c.Item
		c.CallID = c.ID
	}
	switch kind {
	case "turn_aborted":
		l.add(entry{kind: abort})
	case "exec_command_end", "CommandExecution":
		l.codexCommand(c)
	case "patch_apply_end", "FileChange":
		t := tool{id: c.CallID, name: "apply_patch", event: true}
		for file := range c.Changes {
			t.files = append(t.files, file)
		}
		slices.Sort(t.files)
		status := strings.ToLower(c.Status)
		failed := c.Success != nil && !*c.Success || status == "failed" || status == "declined"
		l.add(entry{kind: call, tool: t})
		l.add(entry{kind: outcome, result: result{id: t.id, failed: failed}})
	}
}

// codexCommand reads a command that has ended.
func (l *line) codexCommand(c codexItem) {
	t := tool{id: c.CallID, name: "shell", input: input{Command: c.Command}, dir: strings.TrimPrefix(c.Cwd, "file://"), event: true}
	r := result{id: t.id}
	for _, out := range []string{c.Aggregated, c.Stdout, c.Formatted} {
		if len(out) > len(r.output) {
			r.output = out
		}
	}
	if c.ExitCode != nil {
		r.status(*c.ExitCode)
	}
	switch strings.ToLower(c.Status) {
	case "declined":
		r.denied = true
	case "inprogress", "in_progress":
		r.running = c.CallID
	case "failed":
		r.failed = true
	}
	l.add(entry{kind: call, tool: t})
	l.add(entry{kind: outcome, result: r})
}

// codexResult reads what a call came to. Codex has written it in several forms: a text with a head that says how the
// command ended, a JSON object in a string, an array of texts.
func codexResult(id string, out codexOutput) result {
	r := result{id: id, output: string(out.Text), failed: out.Failed}
	var wrapped struct {
		Output   *string `json:"output"`
		Metadata struct {
			ExitCode *int `json:"exit_code"`
		} `json:"metadata"`
	}
	if strings.HasPrefix(r.output, "{") && decode([]byte(r.output), &wrapped) && wrapped.Output != nil {
		r.output = *wrapped.Output
		if wrapped.Metadata.ExitCode != nil {
			r.status(*wrapped.Metadata.ExitCode)
		}
		return r
	}
	head, body, _ := strings.Cut(r.output, "\nOutput:\n")
	if rest, ok := strings.CutPrefix(r.output, "Output:\n"); ok {
		head, body = "", rest
	}
	for line := range strings.Lines(clip(head, 2000)) {
		line = strings.TrimSpace(line)
		for _, p := range []string{"Exit code: ", "Process exited with code "} {
			if rest, ok := strings.CutPrefix(line, p); ok {
				if n, err := strconv.Atoi(rest); err == nil {
					r.status(n)
					r.output = body
				}
			}
		}
		if rest, ok := strings.CutPrefix(line, "Process running with session ID "); ok {
			r.running = rest
		}
		switch {
		case strings.Contains(line, "timed out"), strings.Contains(line, "aborted by user"):
			r.stopped = true
		case strings.Contains(line, "rejected by user"):
			r.denied = true
		case startsWith(line, "apply_patch verification failed", "Failed to find"), strings.Contains(line, "blocked by PreToolUse hook"):
			r.failed = true
		}
	}
	return r
}
