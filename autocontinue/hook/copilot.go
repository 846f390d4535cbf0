package hook

import (
	"errors"
	"regexp"
	"slices"
)

// readCopilot reads an event of Copilot CLI. A hook that is configured as "Stop" gets snake_case. One that is
// configured as "agentStop" gets camelCase and no name of the event.
func readCopilot(o object, e *event) error {
	var p struct {
		Name       string   `json:"hook_event_name"`
		Session    string   `json:"session_id"`
		Transcript string   `json:"transcript_path"`
		Dir        string   `json:"cwd"`
		Active     bool     `json:"stop_hook_active"`
		Prompt     optional `json:"prompt"`
	}
	var camel struct {
		Session    string `json:"sessionId"`
		Transcript string `json:"transcriptPath"`
	}
	if err := errors.Join(o.fill(&p), o.fill(&camel)); err != nil {
		return err
	}
	e.session, e.dir = p.Session, p.Dir
	if p.Name == "" || o.has("sessionId") {
		e.session, p.Transcript = camel.Session, camel.Transcript
	}
	if p.Name == "" {
		p.Name = copilotEvent(o)
	}
	switch p.Name {
	case "Stop", "agentStop":
		e.kind, e.transcript, e.resumed, e.noTasks = stopped, p.Transcript, p.Active, true
		// It runs for sub-agents as well, with their own ID (github.com/github/copilot-cli/issues/3894). Then the
		// transcript is not theirs.
		if id, ok := copilotSession(e.transcript); ok && id != e.session {
			e.transcript = ""
		}
	case "UserPromptSubmit", "userPromptSubmitted":
		e.kind, e.prompt = prompted, p.Prompt
	case "":
		return errors.New("its fields are not those of a known event")
	}
	return nil
}

// copilotEvent names an event in camelCase, which does not say what it is.
func copilotEvent(o object) string {
	switch {
	case o.has("agentName"):
		return "subagentStop"
	case o.has("stopReason"):
		return "agentStop"
	case o.has("prompt") && !o.has("transformedPrompt"):
		return "userPromptSubmitted"
	}
	others := []string{"source", "reason", "toolName", "errorContext", "trigger", "transformedPrompt"}
	if slices.ContainsFunc(others, func(key string) bool { return o.has(key) }) {
		return "other"
	}
	return ""
}

// copilotSession returns the session whose events a file holds: ~/.copilot/session-state/<session>/events.jsonl.
func copilotSession(path string) (string, bool) {
	m := regexp.MustCompile(`(?:^|[/\\])session-state[/\\]([^/\\]*)[/\\]events\.jsonl$`).FindStringSubmatch(path)
	if m == nil {
		return "", false
	}
	return m[1], true
}
