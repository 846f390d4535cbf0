package hook

import "strings"

// geminiAnswer is Gemini CLI's. With "deny" the reason goes to the agent as a new prompt.
type geminiAnswer struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
	Note     string `json:"systemMessage,omitempty"`
}

func deny(message string) any { return geminiAnswer{Decision: "deny", Reason: message} }
func allow(note string) any   { return geminiAnswer{Decision: "allow", Note: note} }

// noText is what Gemini CLI reports when the agent printed nothing.
const noText = "[no response text]"

func readGemini(o object, e *event) error {
	var p struct {
		Name       string `json:"hook_event_name"`
		Session    string `json:"session_id"`
		Dir        string `json:"cwd"`
		Transcript string `json:"transcript_path"`
		Time       string `json:"timestamp"`
	}
	if err := o.fill(&p); err != nil {
		return err
	}
	e.session, e.dir, e.transcript, e.time, e.noTasks = p.Session, p.Dir, p.Transcript, p.Time, true
	var of struct {
		Prompt  optional `json:"prompt"`
		Message optional `json:"prompt_response"`
		Active  bool     `json:"stop_hook_active"`
	}
	switch p.Name {
	case "AfterAgent":
		e.kind = stopped
	case "BeforeAgent":
		e.kind = prompted
	default:
		return need("hook_event_name", p.Name, "session_id", p.Session)
	}
	if err := o.fill(&of); err != nil {
		return err
	}
	e.prompt, e.message, e.resumed = of.Prompt, of.Message, of.Active
	if strings.TrimSpace(e.message.text) == noText {
		e.message = some("")
	}
	return need("session_id", p.Session)
}
