package transcript

import (
	"encoding/json"
	"strconv"
	"strings"
)

// copilotLine is an event of a session of Copilot CLI: JSON Lines in ~/.copilot/session-state/<session>/events.jsonl.
// A call stands there twice, in the answer that asked for it and when it began; "agentId" marks what a sub-agent did.
// A hook's reason is a user message like the human's.
type copilotLine struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	AgentID string `json:"agentId"`
	Data    *struct {
		Content     string `json:"content"`
		Transformed string `json:"transformedContent"`
		Source      string `json:"source"`
		Autopilot   truth  `json:"isAutopilotContinuation"`
		AgentMode   string `json:"agentMode"`
		NewMode     string `json:"newMode"`
		Summary     string `json:"summary"`
		Parent      string `json:"parentToolCallId"`
		Requests    []struct {
			ID        string      `json:"toolCallId"`
			Name      string      `json:"name"`
			Arguments copilotArgs `json:"arguments"`
		} `json:"toolRequests"`
		CallID    string      `json:"toolCallId"`
		ToolName  string      `json:"toolName"`
		Arguments copilotArgs `json:"arguments"`
		Success   *bool       `json:"success"`
		Result    copilotText `json:"result"`
		Error     struct {
			Code string `json:"code"`
		} `json:"error"`
		Shell struct {
			ExitCode *int `json:"exitCode"`
		} `json:"shellExecution"`
		SessionID string `json:"sessionId"`
		Context   struct {
			Cwd string `json:"cwd"`
		} `json:"context"`
	} `json:"data"`
}

// copilotArgs are the arguments of a call: an object, a text that holds one, or a patch.
type copilotArgs struct {
	input
	Raw string `json:"-"`
}

func (a *copilotArgs) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		_ = json.Unmarshal(data, &a.Raw)
		data = []byte(a.Raw)
	}
	if len(data) > 0 && data[0] == '{' {
		_ = json.Unmarshal(data, &a.input)
	}
	return nil
}

// copilotText is a text, or an object with a "content".
type copilotText string

func (c *copilotText) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(c))
	}
	var v struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(data, &v)
	*c = copilotText(v.Content)
	return nil
}

func readCopilot(data []byte, at int64) (l line) {
	var c copilotLine
	if !decode(data, &c) || c.Data == nil || !isCopilotType(c.Type) {
		return l
	}
	l.known = true
	id := first(c.ID, offsetID(at))
	if c.AgentID != "" || c.Data.Parent != "" {
		return l
	}
	d := c.Data
	switch c.Type {
	case "session.start":
		l.begins, l.session, l.dir = true, d.SessionID, d.Context.Cwd
	case "user.message":
		l.copilotPrompt(c)
	case "assistant.message":
		if !blank(d.Content) {
			l.add(entry{kind: message, id: id, group: id, text: d.Content})
		}
		for _, r := range d.Requests { // an answer with calls is not the last
			l.add(entry{kind: call, tool: tool{id: r.ID, name: r.Name, input: r.Arguments.input, patch: r.Arguments.Raw}})
		}
	case "tool.execution_start":
		l.add(entry{kind: call, tool: tool{id: d.CallID, name: d.ToolName, input: d.Arguments.input, patch: d.Arguments.Raw}})
	case "tool.execution_complete":
		l.add(entry{kind: outcome, result: c.result()})
	case "session.task_complete": // its last words, in autopilot
		if !blank(d.Summary) {
			l.add(entry{kind: message, id: id, group: id, text: d.Summary})
		}
	case "system.notification": // that something in the background ended
		l.add(entry{kind: notice})
	case "session.mode_changed":
		l.add(entry{kind: mode, text: d.NewMode})
	case "abort":
		l.add(entry{kind: abort})
	}
	return l
}

// isCopilotType reports whether a type is one of an event. New ones come with every version, of the kinds that are
// there.
func isCopilotType(kind string) bool {
	group, _, _ := strings.Cut(kind, ".")
	const groups = " abort session user assistant tool subagent hook system skill model permission elicitation external_tool mcp command auto_mode_switch "
	return kind != "" && strings.Contains(groups, " "+group+" ")
}

func (l *line) copilotPrompt(c copilotLine) {
	d := c.Data
	e := entry{kind: human, id: c.ID, text: d.Content}
	if blank(e.text) {
		e.text = d.Transformed
	}
	typed := d.Source == "" || d.Source == "user" || d.Source == "cli" // what was typed has none
	if !typed || bool(d.Autopilot) || strings.HasPrefix(strings.TrimSpace(e.text), "<skill-context") {
		e.kind = notice
		if isOurFeedback(e.text) {
			e.kind = feedback
		}
	}
	l.add(e)
	if d.AgentMode != "" {
		l.add(entry{kind: mode, text: d.AgentMode})
	}
}

// result reads what became of a call. A shell's exit status stands in a field of its own or, before that, in the last
// line of what the model was told.
func (c copilotLine) result() result {
	d := c.Data
	r := result{id: d.CallID, output: string(d.Result)}
	if d.Success != nil && !*d.Success {
		r.failed = true
		r.denied = d.Error.Code == "denied" || d.Error.Code == "rejected"
		r.stopped = d.Error.Code == "aborted" || d.Error.Code == "cancelled" || d.Error.Code == "timeout"
	}
	trimmed := strings.TrimRight(r.output, " \n")
	last := trimmed[strings.LastIndexByte(trimmed, '\n')+1:]
	if _, rest, ok := strings.Cut(last, "with exit code "); ok && strings.HasPrefix(last, "<") {
		if n, err := strconv.Atoi(strings.TrimSuffix(rest, ">")); err == nil {
			r.status(n)
			r.output = strings.TrimSuffix(trimmed, last)
		}
	} else if strings.HasPrefix(last, "<") {
		r.running = copilotRunning(last)
	}
	if d.Shell.ExitCode != nil {
		r.status(*d.Shell.ExitCode)
	}
	return r
}

// copilotRunning returns the shell in which a command goes on, by the last line of what the model was told.
func copilotRunning(last string) string {
	if !strings.Contains(last, "still running") && !strings.Contains(last, "started in") && !strings.Contains(last, "waiting for") {
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
