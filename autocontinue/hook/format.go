package hook

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Formats of transcripts that are those of no host here, for [OpenTranscript]. They have what was said and not how the
// commands ended, so a session tells nothing of tests.
//
// SpecStory's is the Markdown of github.com/specstoryai/getspecstory, from the first versions of 2025, without a number, to
// v2.1.0; aider's is the .aider.chat.history.md of aider 0.5 to 0.86, where "#### " begins the human's lines and "> " those
// of aider itself. Both were read in public repositories in November 2026.
const (
	SpecStory Host = "specstory"
	Aider     Host = "aider"
)

// What is wrong with a transcript. [Transcript.Replay] says so when it has gone as far as it can.
var (
	ErrFormat      = errors.New("unknown format")
	ErrTruncated   = errors.New("truncated")
	ErrInterleaved = errors.New("interleaved")
	ErrDamaged     = errors.New("damaged")
)

// Formats returns what [OpenTranscript] recognizes, in its order.
func Formats() []Host { return append(Hosts(), SpecStory, Aider) }

// fault is what is wrong at a line. It quotes nothing.
func fault(kind error, line int, format string, args ...any) error {
	return fmt.Errorf("hook: line %d: %w: %s", line, kind, fmt.Sprintf(format, args...))
}

// How much of a file is looked at to tell its format.
const (
	maxHead      = 8 << 20
	maxHeadLines = 400
)

// formatOf tells a format by one line, "" where it cannot.
func formatOf(line []byte) Host {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	if i := space(line, 0); i >= len(line) || line[i] != '{' {
		if _, ok := aiderStart(line); ok {
			return Aider
		}
		switch s := string(bytes.TrimSpace(line)); {
		case isSpecStoryStart([]byte(s)), isSpecStoryHead(s):
			return SpecStory
		case geminiIndented(line) != "":
			return Gemini
		}
		return ""
	}
	if !isObject(line) {
		return ""
	}
	has := make(map[string][]byte)
	for key, v := range members(line) {
		switch key {
		case "type", "uuid", "sessionId", "message", "payload", "data", "id", "role", "projectHash", "messages", "isSidechain", "$set", "$patch", "$rewindTo",
			"leafUuid", "snapshot", "content", "call_id", "record_type":
			has[key] = v
		}
	}
	kind := textOf(has["type"])
	object := func(key string) bool { return len(has[key]) > 0 && has[key][0] == '{' }
	switch {
	case (kind == "user" || kind == "assistant") && object("message") && member(has["message"], "content") != nil, claudeLines[kind] && has["sessionId"] != nil,
		kind == "summary" && has["leafUuid"] != nil, kind == "file-history-snapshot" && object("snapshot"): // a file may have nothing else
		return Claude
	case object("payload") && (kind == "response_item" || kind == "event_msg" || kind == "session_meta" || kind == "turn_context"),
		kind == "message" && textOf(has["role"]) != "" && len(has["content"]) > 0 && has["content"][0] == '[',
		kind == "function_call" && has["call_id"] != nil, textOf(has["record_type"]) == "state",
		codexOldStart(line) != "":
		return Codex
	case object("data") && copilotLine(kind):
		return Copilot
	case has["sessionId"] != nil && (has["projectHash"] != nil || has["messages"] != nil), has["$set"] != nil, has["$patch"] != nil, has["$rewindTo"] != nil,
		has["id"] != nil && (kind == "user" || kind == "gemini"):
		return Gemini
	case object("message") && (textOf(has["role"]) == "user" || textOf(has["role"]) == "assistant"):
		return Cursor
	}
	return ""
}

// geminiIndented returns the value of a session's ID on a line of an indented session of Gemini's, "" where there is none.
func geminiIndented(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(`  "sessionId": `))
	if !ok {
		return ""
	}
	return textOf(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(",")))
}

// formatName is what people call a format.
func formatName(h Host) string {
	return map[Host]string{Claude: "Claude Code", Codex: "Codex", Gemini: "Gemini CLI", Cursor: "Cursor", Copilot: "Copilot CLI", SpecStory: "SpecStory", Aider: "aider"}[h]
}

// formatNames are the names of all formats, for people.
func formatNames() string {
	var names []string
	for _, h := range Formats() {
		names = append(names, formatName(h))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
