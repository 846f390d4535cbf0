package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// FormatError is the error of a file that is none of the [Formats]. It wraps [ErrFormat].
type FormatError struct {
	What  string // what the file is, and what to do about it, in words; nothing of the file is quoted
	Holds Holds
}

// Holds says what is in a file of another format.
type Holds uint8

// What such a file holds.
const (
	HoldsUnknown Holds = iota // it is not known what the file is
	HoldsNone                 // no session, such as a list of prompts
	HoldsSession              // a session of another program or version, or in another form
)

func (e *FormatError) Error() string { return fmt.Sprintf("hook: %v: %s", ErrFormat, e.What) }

// Unwrap returns [ErrFormat].
func (e *FormatError) Unwrap() error { return ErrFormat }

// stranger is a file that people keep beside transcripts, or in place of them, and that is none of the formats. It is told by
// the keys of its first object.
type stranger struct {
	list bool // the object is in an array
	kind string
	keys []string

	is    string // what it is
	then  string // what to do
	holds Holds
}

var strangers = []stranger{
	{keys: []string{"display", "project", "timestamp"}, is: "Claude Code's list of prompts", then: "the sessions are below ~/.claude/projects", holds: HoldsNone},
	{keys: []string{"session_id", "ts", "text"}, is: "Codex's list of prompts", then: "the sessions are below ~/.codex/sessions", holds: HoldsNone},
	{keys: []string{"id", "thread_name", "updated_at"}, is: "Codex's list of sessions", then: "these are below ~/.codex/sessions", holds: HoldsNone},
	{list: true, keys: []string{"sessionId", "messageId", "message"}, is: "Gemini CLI's list of prompts", then: "the sessions are in the folder chats beside it", holds: HoldsNone},
	{kind: "started", keys: []string{"key", "agentId"}, is: "Claude Code's journal of a workflow", then: "its agents have transcripts beside it", holds: HoldsNone},

	{list: true, keys: []string{"role", "parts"}, is: "a checkpoint of Gemini CLI", then: "it lacks what happened between; the sessions are in the folder chats", holds: HoldsSession},
	{keys: []string{"history", "authType"}, is: "a checkpoint of Gemini CLI", then: "it lacks what happened between; the sessions are in the folder chats", holds: HoldsSession},
	{keys: []string{"session", "items"}, is: "a session of Codex before June 2025", then: "later ones are read", holds: HoldsSession},
	{keys: []string{"sessionId", "startTime", "chatMessages"}, is: "a session of Copilot CLI before November 2025", then: "later ones, below ~/.copilot/session-state, are read", holds: HoldsSession},
	{keys: []string{"sessionId", "startTime", "timeline"}, is: "a session of Copilot CLI before November 2025", then: "later ones, below ~/.copilot/session-state, are read", holds: HoldsSession},
	{keys: []string{"requests", "responderUsername"}, is: "a session of VS Code's chat", then: "export it with SpecStory", holds: HoldsSession},
	{keys: []string{"kind", "v"}, is: "a session of VS Code's chat", then: "export it with SpecStory", holds: HoldsSession},
	{kind: "thread.started", is: `what "codex exec --json" prints`, then: "the session itself is below ~/.codex/sessions", holds: HoldsSession},
	{kind: "init", keys: []string{"session_id", "model"}, is: "what Gemini CLI prints as stream-json", then: "the session itself is below ~/.gemini/tmp", holds: HoldsSession},
	{kind: "message", keys: []string{"role", "content", "timestamp"}, is: "what Gemini CLI prints as stream-json", then: "the session itself is below ~/.gemini/tmp", holds: HoldsSession},
	{keys: []string{"v", "agent", "cli_version"}, is: "Entire's short form of a session", then: "the agent's own is full.jsonl", holds: HoldsSession},
	{kind: "result", keys: []string{"session_id", "result"}, is: `what "claude -p --output-format json" prints`, then: "the session itself is below ~/.claude/projects", holds: HoldsSession},
	{keys: []string{"uuid", "parentUuid", "sessionId", "version", "message"}, is: "a session of Qwen Code", then: "it is not read yet", holds: HoldsSession}, // near to Claude Code's
	{kind: "session", keys: []string{"version", "cwd"}, is: "a session of pi", then: "it is not read yet", holds: HoldsSession},
}

// strange returns what a file is that is none of the formats.
func strange(r io.ReaderAt, size int64) *FormatError {
	head := make([]byte, min(size, 1<<20))
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	list, kind, keys := firstObject(bytes.TrimPrefix(head, []byte("\ufeff")))
	for _, s := range strangers {
		missing := slices.ContainsFunc(s.keys, func(k string) bool { return !slices.Contains(keys, k) })
		if s.list == list && (s.kind == "" || s.kind == kind) && !missing {
			return &FormatError{What: "it is " + s.is + "; " + s.then, Holds: s.holds}
		}
	}
	return &FormatError{What: shapeless(r, size)}
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
