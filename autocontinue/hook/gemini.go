package hook

import "strings"

// gemini is the Gemini CLI.
type gemini struct{}

// ruling is Gemini's answer. With "deny" the reason goes to the agent as a new prompt.
type ruling struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
	Note     string `json:"systemMessage,omitempty"`
}

func (gemini) carryOn(message string) any { return ruling{Decision: "deny", Reason: message} }
func (gemini) letStop(note string) any    { return ruling{Decision: "allow", Note: note} }

// noText is what Gemini says when the agent said nothing.
const noText = "[no response text]"

func (gemini) read(o object, e *Event) error {
	f := fields{o: o}
	e.Name, e.Kind = f.need("hook_event_name"), Other
	e.Session = f.need("session_id")
	e.WorkDir = f.text("cwd")
	e.Transcript = f.text("transcript_path")
	e.Time = f.text("timestamp")
	switch e.Name {
	case "AfterAgent":
		e.Kind = Stop
		e.Prompt = f.text("prompt")
		e.Message = f.text("prompt_response")
		e.StopActive = f.flag("stop_hook_active")
		if strings.TrimSpace(e.Message.Value) == noText {
			e.Message = Value("")
		}
	case "BeforeAgent":
		e.Kind, e.Prompt = Prompt, f.text("prompt")
	}
	return f.err
}
