package hook

import (
	"encoding/json"
	"strings"
)

// codex is the Codex CLI.
type codex struct{}

func (codex) carryOn(message string) any { return block{Decision: "block", Reason: message} }
func (codex) letStop(note string) any    { return block{Note: note} }

func (codex) read(o object, e *Event) error {
	f := fields{o: o}
	if _, ok := o["hook_event_name"]; !ok && o["type"] != nil {
		f.notify(e)
		return f.err
	}
	f.common(e)
	e.Turn = f.text("turn_id")
	switch e.Name {
	case "Stop", "SubagentStop":
		f.stop(e)
	case "StopFailure":
		f.stopFailure(e)
	case "UserPromptSubmit":
		e.Kind, e.Prompt = Prompt, f.text("prompt")
	}
	// Threads that were forked from one another share a session. The rollout's name has the thread's own ID.
	if id := rolloutThread(e.Transcript.Value); id != "" && id != e.Session && e.Agent.Is != Given {
		e.Agent = Value(id)
	}
	return f.err
}

// notify reads the argument of the program that "notify" in config.toml names.
func (f *fields) notify(e *Event) {
	e.Name, e.Kind = f.need("type"), Other
	e.Session = f.need("thread-id")
	e.Turn = f.text("turn-id")
	e.WorkDir = f.text("cwd")
	if e.Name == "agent-turn-complete" {
		e.Kind = Notify
		e.Message = f.text("last-assistant-message")
		messages := f.list("input-messages")
		if n := len(messages.Value); n > 0 {
			var last string
			if json.Unmarshal(messages.Value[n-1], &last) == nil {
				e.Prompt = Value(last)
			}
		}
	}
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
