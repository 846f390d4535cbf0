package hook

import "strings"

// cursorAnswer is Cursor's answer to a stop. The message goes to the agent as the human's next one.
type cursorAnswer struct {
	Message string `json:"followup_message,omitempty"`
}

func followUp(message string) any { return cursorAnswer{message} }
func followUpNot(string) any      { return cursorAnswer{} } // Cursor would show no note

// passCursor is the answer to an event that is not a pause. When Cursor asks whether a prompt may go ahead, it takes no
// answer, or one of another form, for a no.
func passCursor(k kind) any {
	if k == prompted {
		return struct {
			Continue bool `json:"continue"`
		}{true}
	}
	return cursorAnswer{}
}

// readCursor reads an event of Cursor: of its editor's agent, or of its command-line agent in interactive mode.
func readCursor(o object, e *event) error {
	var p struct {
		Name       string   `json:"hook_event_name"`
		Session    string   `json:"conversation_id"`
		Generation string   `json:"generation_id"`
		Transcript string   `json:"transcript_path"`
		Roots      []string `json:"workspace_roots"`
	}
	if err := o.fill(&p); err != nil {
		return err
	}
	e.session, e.generation, e.transcript, e.noTasks = p.Session, p.Generation, p.Transcript, true
	if len(p.Roots) > 0 {
		e.dir = cursorFolder(p.Roots[0])
	}
	var of struct {
		Status string   `json:"status"`
		Loop   int      `json:"loop_count"`
		Text   optional `json:"text"`
		Prompt optional `json:"prompt"`
	}
	switch p.Name {
	case "stop":
		e.kind = stopped
	case "afterAgentResponse":
		e.kind = printed
	case "beforeSubmitPrompt":
		e.kind = prompted
	default:
		return need("hook_event_name", p.Name, "conversation_id", p.Session)
	}
	if err := o.fill(&of); err != nil {
		return err
	}
	switch e.kind {
	case stopped:
		e.status, e.loop, e.counts = of.Status, of.Loop, o.has("loop_count")
	case printed:
		e.message = of.Text
	case prompted:
		e.prompt = of.Prompt
	}
	return need("conversation_id", p.Session)
}

// cursorFolder returns a workspace's folder. On Windows Cursor gives it as a URI has it: /c:/src/shop.
func cursorFolder(root string) string {
	if rest, ok := strings.CutPrefix(root, "/"); ok && len(rest) > 1 && rest[1] == ':' {
		return rest
	}
	return root
}
