package hook

import "regexp"

// readCodex reads an event of a hook of Codex, or the argument of the program that "notify" in its config.toml names.
func readCodex(o object, e *event) error {
	if !o.has("hook_event_name") && o.has("type") {
		return readNotify(o, e)
	}
	_, err := readBlock(o, e)
	// Threads that were forked from one another share a session. The rollout's name has the thread's own ID:
	// rollout-2026-11-02T10-20-30-<uuid>.jsonl.
	const rollout = `(?i)(?:^|[/\\])rollout-[^/\\]*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$`
	if m := regexp.MustCompile(rollout).FindStringSubmatch(e.transcript); m != nil && m[1] != e.session && e.agent == "" {
		e.agent = m[1]
	}
	return err
}

func readNotify(o object, e *event) error {
	var p struct {
		Type    string   `json:"type"`
		Session string   `json:"thread-id"`
		Dir     string   `json:"cwd"`
		Message optional `json:"last-assistant-message"`
		Prompts []any    `json:"input-messages"`
	}
	if err := o.fill(&p); err != nil {
		return err
	}
	e.session, e.dir = p.Session, p.Dir
	if p.Type == "agent-turn-complete" {
		e.kind, e.message = notified, p.Message
		if n := len(p.Prompts); n > 0 {
			if text, ok := p.Prompts[n-1].(string); ok {
				e.prompt = some(text)
			}
		}
	}
	return need("type", p.Type, "thread-id", p.Session)
}
