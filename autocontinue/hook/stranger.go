package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// What is wrapped beside [ErrFormat] for a file that is known all the same.
var (
	ErrNoSession = errors.New("no session")         // such as a list of prompts
	ErrNotRead   = errors.New("a session not read") // of another program, or another version
)

// stranger is a file that people keep beside transcripts, or in place of them, and that is none of the formats. It is told by
// the keys of its first object.
type stranger struct {
	list bool // the object is in an array
	kind string
	keys []string

	is    string // what it is
	then  string // what to do
	holds error  // a session or none: [ErrNotRead], [ErrNoSession], nil where that cannot be told
}

var strangers = []stranger{
	{keys: []string{"display", "project", "timestamp"}, is: "Claude Code's list of prompts", then: "the sessions are below ~/.claude/projects", holds: ErrNoSession},
	{keys: []string{"session_id", "ts", "text"}, is: "Codex's list of prompts", then: "the sessions are below ~/.codex/sessions", holds: ErrNoSession},
	{keys: []string{"id", "thread_name", "updated_at"}, is: "Codex's list of sessions", then: "these are below ~/.codex/sessions", holds: ErrNoSession},
	{list: true, keys: []string{"sessionId", "messageId", "message"}, is: "Gemini CLI's list of prompts", then: "the sessions are in the folder chats beside it", holds: ErrNoSession},
	{kind: "started", keys: []string{"key", "agentId"}, is: "Claude Code's journal of a workflow", then: "its agents have transcripts beside it", holds: ErrNoSession},

	{list: true, keys: []string{"role", "parts"}, is: "a checkpoint of Gemini CLI", then: "it lacks what happened between; the sessions are in the folder chats", holds: ErrNotRead},
	{keys: []string{"history", "authType"}, is: "a checkpoint of Gemini CLI", then: "it lacks what happened between; the sessions are in the folder chats", holds: ErrNotRead},
	{keys: []string{"session", "items"}, is: "a session of Codex before June 2025", then: "later ones are read", holds: ErrNotRead},
	{keys: []string{"sessionId", "startTime", "chatMessages"}, is: "a session of Copilot CLI before November 2025", then: "later ones, below ~/.copilot/session-state, are read", holds: ErrNotRead},
	{keys: []string{"sessionId", "startTime", "timeline"}, is: "a session of Copilot CLI before November 2025", then: "later ones, below ~/.copilot/session-state, are read", holds: ErrNotRead},
	{keys: []string{"requests", "responderUsername"}, is: "a session of VS Code's chat", then: "export it with SpecStory", holds: ErrNotRead},
	{keys: []string{"kind", "v"}, is: "a session of VS Code's chat", then: "export it with SpecStory", holds: ErrNotRead},
	{kind: "thread.started", is: `what "codex exec --json" prints`, then: "the session itself is below ~/.codex/sessions", holds: ErrNotRead},
	{kind: "init", keys: []string{"session_id", "model"}, is: "what Gemini CLI prints as stream-json", then: "the session itself is below ~/.gemini/tmp", holds: ErrNotRead},
	{kind: "message", keys: []string{"role", "content", "timestamp"}, is: "what Gemini CLI prints as stream-json", then: "the session itself is below ~/.gemini/tmp", holds: ErrNotRead},
	{keys: []string{"v", "agent", "cli_version"}, is: "Entire's short form of a session", then: "the agent's own is full.jsonl", holds: ErrNotRead},
	{kind: "result", keys: []string{"session_id", "result"}, is: `what "claude -p --output-format json" prints`, then: "the session itself is below ~/.claude/projects", holds: ErrNotRead},
	{keys: []string{"uuid", "parentUuid", "sessionId", "version", "message"}, is: "a session of Qwen Code", then: "it is not read yet", holds: ErrNotRead}, // near to Claude Code's
	{kind: "session", keys: []string{"version", "cwd"}, is: "a session of pi", then: "it is not read yet", holds: ErrNotRead},
}

func (s stranger) Error() string {
	return fmt.Sprintf("hook: %v: it is %s; %s", ErrFormat, s.is, s.then)
}

// Is reports whether the error is one of a format, and of what the file holds.
func (s stranger) Is(target error) bool {
	return target == ErrFormat || s.holds != nil && target == s.holds
}

// strange returns what is known of a file that is none of the formats.
func strange(r io.ReaderAt, size int64) error {
	head := make([]byte, min(size, 1<<20))
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	list, kind, keys := firstObject(bytes.TrimPrefix(head, []byte("\ufeff")))
	for _, s := range strangers {
		missing := slices.ContainsFunc(s.keys, func(k string) bool { return !slices.Contains(keys, k) })
		if s.list == list && (s.kind == "" || s.kind == kind) && !missing {
			return s
		}
	}
	return nil
}

// firstObject returns the keys of the first JSON object of a text, what its "type" is, and whether it is in an array.
func firstObject(b []byte) (list bool, kind string, keys []string) {
	d := json.NewDecoder(bytes.NewReader(b))
	tok, _ := d.Token()
	if list = tok == json.Delim('['); list {
		tok, _ = d.Token()
	}
	if tok != json.Delim('{') {
		return list, "", nil
	}
	for len(keys) < maxKeys {
		tok, err := d.Token()
		key, ok := tok.(string)
		if err != nil || !ok {
			break
		}
		keys = append(keys, key)
		var v json.RawMessage
		if d.Decode(&v) != nil {
			break // it goes on behind what is looked at
		}
		if key == "type" {
			kind = textOf(v)
		}
	}
	return list, kind, keys
}

const maxKeys = 100
