package hook

import (
	"errors"
	"strings"
)

// copilot is GitHub Copilot CLI. Its hooks are described in docs.github.com/en/copilot/reference/hooks-reference, read in
// November 2026: a hook that is configured as "Stop" gets snake_case, one configured as "agentStop" camelCase and no name of
// the event. An exit status of 2 is a warning there, and "block" goes to the agent as a prompt.
type copilot struct{}

func (copilot) carryOn(message string) any { return block{Decision: "block", Reason: message} }
func (copilot) letStop(string) any         { return block{} } // it would show no note

func (copilot) read(o object, e *Event) error {
	f := fields{o: o}
	e.Name, e.Kind = f.text("hook_event_name").Value, Other
	session, transcript := "session_id", "transcript_path"
	if e.Name == "" || o["sessionId"] != nil {
		session, transcript = "sessionId", "transcriptPath"
	}
	e.Session = f.need(session)
	e.WorkDir = f.text("cwd")
	if e.Name == "" {
		e.Name = copilotEvent(o)
	}
	switch e.Name {
	case "Stop", "agentStop":
		e.Kind = Stop
		e.Transcript = f.text(transcript)
		e.StopActive = f.flag("stop_hook_active")
		// It is run for sub-agents as well, by their own ID (github.com/github/copilot-cli/issues/3894), and the transcript is then not theirs.
		if id, ok := copilotSession(e.Transcript.Value); ok && id != e.Session {
			e.Transcript = Field[string]{}
		}
	case "UserPromptSubmit", "userPromptSubmitted":
		e.Kind, e.Prompt = Prompt, f.text("prompt")
	}
	if f.err == nil && e.Name == "" {
		return errors.New("it is none of the events that are known by their fields")
	}
	return f.err
}

// copilotEvent names an event in camelCase, which does not say what it is.
func copilotEvent(o object) string {
	has := func(keys ...string) bool {
		for _, key := range keys {
			if _, ok := o[key]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("agentName"):
		return "subagentStop"
	case has("stopReason"):
		return "agentStop"
	case has("prompt") && !has("transformedPrompt"):
		return "userPromptSubmitted"
	}
	for _, key := range []string{"source", "reason", "toolName", "errorContext", "trigger", "transformedPrompt"} {
		if has(key) {
			return "other"
		}
	}
	return ""
}

// copilotSession returns the session whose events a file holds, by its folder: ~/.copilot/session-state/<session>/events.jsonl.
func copilotSession(path string) (string, bool) {
	parts := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	n := len(parts)
	if n < 3 || parts[n-1] != "events.jsonl" || parts[n-3] != "session-state" {
		return "", false
	}
	return parts[n-2], true
}
