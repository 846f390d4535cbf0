package hook

// blockAnswer is how Claude Code, Codex and Copilot CLI learn that the agent is continued, or what the human is to
// see. Codex refuses keys that it does not know; it knows these for Stop and SubagentStop. No host gets "continue":
// true, which means nothing here, and which is easily taken for the opposite.
type blockAnswer struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Note     string `json:"systemMessage,omitempty"`
}

func block(message string) any { return blockAnswer{Decision: "block", Reason: message} }
func blockNot(note string) any { return blockAnswer{Note: note} }
func blockSilent(_ string) any { return blockAnswer{} } // the host would show no note

// blockEvent is what Claude Code and Codex say of every event.
type blockEvent struct {
	Name       string   `json:"hook_event_name"`
	Session    string   `json:"session_id"`
	Agent      string   `json:"agent_id"`
	AgentType  optional `json:"agent_type"`
	Dir        string   `json:"cwd"`
	Transcript string   `json:"transcript_path"`
	Mode       string   `json:"permission_mode"`
}

// readBlock reads an event of Claude Code or Codex, without what only one of them has.
func readBlock(o object, e *event) (name string, err error) {
	var b blockEvent
	if err := o.fill(&b); err != nil {
		return "", err
	}
	if err := need("hook_event_name", b.Name, "session_id", b.Session); err != nil {
		return "", err
	}
	e.session, e.agent, e.dir, e.transcript, e.mode = b.Session, b.Agent, b.Dir, b.Transcript, b.Mode
	switch b.Name {
	case "Stop", "SubagentStop":
		var p struct {
			Message    optional `json:"last_assistant_message"`
			Active     bool     `json:"stop_hook_active"`
			Transcript string   `json:"agent_transcript_path"`
		}
		err = o.fill(&p)
		e.kind, e.message, e.resumed, e.noTasks = stopped, p.Message, p.Active, true
		if b.Name == "SubagentStop" { // it has a transcript of its own
			e.kind, e.transcript = subagentStopped, p.Transcript
			e.internal = b.AgentType.given && b.AgentType.text == ""
		}
	case "StopFailure":
		var p struct {
			Message optional `json:"last_assistant_message"`
			Status  string   `json:"error"`
		}
		err = o.fill(&p)
		e.kind, e.message, e.status = broke, p.Message, p.Status
	case "UserPromptSubmit":
		var p struct {
			Prompt optional `json:"prompt"`
		}
		err = o.fill(&p)
		e.kind, e.prompt = prompted, p.Prompt
	}
	return b.Name, err
}

// readClaude reads an event of Claude Code. Cursor and Copilot CLI run the hooks of Claude Code's settings as well.
// Their events are for the hooks of their own.
func readClaude(o object, e *event) error {
	var p struct {
		Tasks    []task `json:"background_tasks"`
		Schedule []any  `json:"session_crons"`
	}
	name, err := readBlock(o, e)
	if err == nil && (name == "Stop" || name == "SubagentStop") {
		err = o.fill(&p)
		e.tasks, e.schedule, e.noTasks = p.Tasks, len(p.Schedule), !o.has("background_tasks")
	}
	if _, copilot := copilotSession(e.transcript); copilot || o.has("cursor_version") {
		e.kind = other
	}
	return err
}
