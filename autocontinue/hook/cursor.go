package hook

import "strings"

// cursor is Cursor: its editor's agent, and its command-line agent in interactive mode. Its hooks are described in
// cursor.com/docs/hooks, read in November 2026: the base fields, stop, afterAgentResponse, beforeSubmitPrompt and the options
// of hooks.json. What its transcripts look like, and that transcript_path may be null, is from public readers of them
// (github.com/entireio/cli, August 2026).
type cursor struct{}

// followup is Cursor's answer to a stop. The message goes to the agent as the human's next one.
type followup struct {
	Message string `json:"followup_message,omitempty"`
}

// goAhead is Cursor's answer to a prompt.
type goAhead struct {
	Continue bool `json:"continue"`
}

// pass is the answer to what is no pause. Where Cursor asks whether something may go ahead, it takes an answer that is none, or
// has not the right form, for a no.
func (cursor) pass(e Event) any {
	if e.Kind == Prompt {
		return goAhead{true}
	}
	return followup{}
}

func (cursor) carryOn(message string) any { return followup{message} }
func (cursor) letStop(string) any         { return followup{} } // it would show no note

func (cursor) read(o object, e *Event) error {
	f := fields{o: o}
	e.Name, e.Kind = f.need("hook_event_name"), Other
	e.Session = f.need("conversation_id")
	e.Generation = f.text("generation_id")
	e.Transcript = f.text("transcript_path")
	if roots := read[[]string](&f, "workspace_roots", "an array of strings"); len(roots.Value) > 0 {
		e.WorkDir = Value(cursorFolder(roots.Value[0]))
	}
	switch e.Name {
	case "stop":
		e.Kind = Stop
		e.Status = f.text("status")
		e.Loop = read[int](&f, "loop_count", "a whole number")
	case "afterAgentResponse":
		e.Kind, e.Message = Said, f.text("text")
	case "beforeSubmitPrompt":
		e.Kind, e.Prompt = Prompt, f.text("prompt")
	}
	return f.err
}

// isDrive reports whether a path begins with a drive of Windows: "c:" or "c:/src".
func isDrive(path string) bool {
	return len(path) > 1 && path[1] == ':' && 'a' <= path[0]|0x20 && path[0]|0x20 <= 'z' && (len(path) == 2 || path[2] == '/' || path[2] == '\\')
}

// cursorFolder returns a workspace's folder. On Windows Cursor gives it as a URI has it: /c:/src/shop.
func cursorFolder(root string) string {
	if rest, ok := strings.CutPrefix(root, "/"); ok && isDrive(rest) {
		return rest
	}
	return root
}
