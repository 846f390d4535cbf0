package hook

// claude is Claude Code.
type claude struct{}

// block is how Claude Code and Codex are told to send the agent on, or what the human is to see. Codex refuses keys it does not
// know; it knows these, for Stop and SubagentStop. Neither host is told "continue": true, which in both means nothing here,
// and which is easily taken for the opposite.
type block struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Note     string `json:"systemMessage,omitempty"`
}

func (claude) carryOn(message string) any { return block{Decision: "block", Reason: message} }
func (claude) letStop(note string) any    { return block{Note: note} }

func (claude) read(o object, e *Event) error {
	f := fields{o: o}
	f.common(e)
	e.Turn = f.text("prompt_id")
	if claudeElsewhere(o, *e) {
		return f.err
	}
	switch e.Name {
	case "Stop", "SubagentStop":
		f.stop(e)
		e.Background = f.tasks("background_tasks")
		e.Wakeups = f.count("session_crons")
	case "StopFailure":
		f.stopFailure(e)
	case "UserPromptSubmit":
		e.Kind, e.Prompt = Prompt, f.text("prompt")
	}
	return f.err
}

// claudeElsewhere reports whether another host runs the hooks of Claude Code's settings, as Cursor does unless told otherwise
// (cursor.com/docs/reference/third-party-hooks) and Copilot CLI (its hooks reference). Its pauses are for the hook of its own.
func claudeElsewhere(o object, e Event) bool {
	_, cursor := o["cursor_version"]
	_, copilot := copilotSession(e.Transcript.Value)
	return cursor || copilot
}

// common reads what Claude Code and Codex say of every event.
func (f *fields) common(e *Event) {
	e.Name, e.Kind = f.need("hook_event_name"), Other
	e.Session = f.need("session_id")
	e.Agent, e.AgentType = f.text("agent_id"), f.text("agent_type")
	e.WorkDir = f.text("cwd")
	e.Transcript = f.text("transcript_path")
	e.Mode = f.text("permission_mode")
}

// stop reads a pause. A sub-agent has a transcript of its own.
func (f *fields) stop(e *Event) {
	e.Kind = Stop
	if e.Name == "SubagentStop" {
		e.Kind = SubagentStop
		e.Transcript = f.text("agent_transcript_path")
	}
	e.Message = f.text("last_assistant_message")
	e.StopActive = f.flag("stop_hook_active")
}

func (f *fields) stopFailure(e *Event) {
	e.Kind = StopFailure
	e.Message = f.text("last_assistant_message")
	e.Status = f.text("error")
}
