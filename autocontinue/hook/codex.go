package hook

import "strings"

// readCodex reads an event of a hook of Codex, or the argument of the program that "notify" in its config.toml names.
func readCodex(o object, e *event) error {
	if !o.has("hook_event_name") && o.has("type") {
		return readNotify(o, e)
	}
	_, err := readBlock(o, e)
	// Threads that were forked from one another share a session. The rollout's name has the thread's own ID.
	if id := rolloutThread(e.transcript); id != "" && id != e.session && e.agent == "" {
		e.agent = id
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

// rolloutThread returns the ID at the end of a rollout's name, rollout-2026-11-02T10-20-30-<uuid>.jsonl, or "".
func rolloutThread(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	name, ok := strings.CutSuffix(name, ".jsonl")
	const uuid = 36
	if !ok || !strings.HasPrefix(name, "rollout-") || len(name) < uuid {
		return ""
	}
	id := name[len(name)-uuid:]
	for i := range len(id) {
		isDash := i == 8 || i == 13 || i == 18 || i == 23
		if isDash != (id[i] == '-') || !isDash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(id[i])) {
			return ""
		}
	}
	return id
}
