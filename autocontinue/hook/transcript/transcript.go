package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Format names the agent that wrote a transcript.
type Format string

// The formats. They are the names of the hosts in package hook.
const (
	Claude  Format = "claude"  // Claude Code
	Codex   Format = "codex"   // Codex CLI
	Gemini  Format = "gemini"  // Gemini CLI
	Cursor  Format = "cursor"  // Cursor
	Copilot Format = "copilot" // GitHub Copilot CLI
)

// Formats returns the formats, fresh, in their order.
func Formats() []Format { return []Format{Claude, Codex, Gemini, Cursor, Copilot} }

// Places says, for people, which files are transcripts and where the agents keep them.
const Places = "replay reads the sessions of Claude Code (~/.claude/projects), Codex (~/.codex/sessions), " +
	"Gemini CLI (~/.gemini/tmp/*/chats), Cursor (~/.cursor/projects) and Copilot CLI (~/.copilot/session-state)"

// What is wrong with a file. See [Transcript.Walk].
var (
	ErrFormat      = errors.New("not a transcript")
	ErrTruncated   = errors.New("truncated")
	ErrInterleaved = errors.New("interleaved")
	ErrDamaged     = errors.New("damaged")
)

// Transcript is the file of an old session, or of several, one after another.
type Transcript struct {
	Format   Format
	Subagent bool // it is a sub-agent's own

	r        io.ReaderAt
	size     int64
	name     string
	document bool // one JSON object
}

// How much of a file is looked at to tell its format.
const (
	maxHead      = 8 << 20
	maxHeadLines = 400
)

// Open recognizes a transcript by its content. Name is the name of a session that has no ID. The error of a file that
// is not a transcript wraps [ErrFormat]. Other errors come from reading.
func Open(r io.ReaderAt, size int64, name string) (*Transcript, error) {
	t := &Transcript{r: r, size: size, name: name}
	if isDocument(r, size) {
		d := newDocument(io.NewSectionReader(r, 0, size))
		if d.next(); d.session != "" {
			t.Format, t.document = Gemini, true
			return t, nil
		}
	}
	l := newLines(io.NewSectionReader(r, 0, min(size, maxHead)), 0)
	for l.no < maxHeadLines && l.scan() {
		f := formatOf(l.text)
		if f == "" {
			continue
		}
		if t.Format != "" && f != t.Format {
			break
		}
		t.Format = f
		if f != Claude {
			return t, nil
		}
		side, speaks := isSidechain(l.text)
		if t.Subagent = side; speaks && !side { // a sub-agent may speak first in its caller's transcript
			return t, nil
		}
	}
	switch {
	case l.err != nil:
		return nil, fmt.Errorf("transcript: %w", cause(l.err))
	case t.Format != "":
		return t, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrFormat, Places)
}

// formatOf tells a format by one line. It returns "" where the line does not show it.
func formatOf(text []byte) Format {
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 || trimmed[0] != '{' {
		return ""
	}
	var c struct {
		Type        string   `json:"type"`
		ID          string   `json:"id"`
		SessionID   *string  `json:"sessionId"`
		ProjectHash *string  `json:"projectHash"`
		Messages    anything `json:"messages"`
		Set         anything `json:"$set"`
		Patch       anything `json:"$patch"`
		Rewind      anything `json:"$rewindTo"`
		Payload     anything `json:"payload"`
		Data        anything `json:"data"`
		Message     *struct {
			Content anything `json:"content"`
		} `json:"message"`
		UUID string   `json:"uuid"`
		Role string   `json:"role"`
		Leaf anything `json:"leafUuid"`
	}
	if !decode(bytes.Clone(text), &c) {
		return ""
	}
	is := func(list string) bool { return c.Type != "" && strings.Contains(list, " "+c.Type+" ") }
	switch {
	case is(" user assistant ") && c.Message != nil && c.Message.Content != 0,
		is(claudeOthers) && (c.SessionID != nil || c.Leaf != 0 || c.Type == "file-history-snapshot"):
		return Claude
	case c.Payload == '{' && is(codexTypes), c.Payload == 0 && c.Data == 0 && readCodex(bytes.Clone(text), 0).known:
		return Codex
	case c.Data == '{' && isCopilotType(c.Type):
		return Copilot
	case c.SessionID != nil && c.UUID == "" && (c.ProjectHash != nil || c.Messages != 0), c.Set|c.Patch|c.Rewind != 0,
		c.ID != "" && is(" user gemini "):
		return Gemini
	case c.Message != nil && !is("") && (c.Role == "user" || c.Role == "assistant"):
		return Cursor
	}
	return ""
}

// anything is the first byte of a JSON value.
type anything byte

func (a *anything) UnmarshalJSON(data []byte) error {
	*a = anything(data[0])
	return nil
}

// isSidechain reports whether a line of Claude Code is a sub-agent's, and whether it is one that somebody spoke.
func isSidechain(text []byte) (side, speaks bool) {
	var c struct {
		Side    *bool    `json:"isSidechain"`
		Message anything `json:"message"`
	}
	ok := decode(bytes.Clone(text), &c)
	return ok && c.Side != nil && *c.Side, ok && c.Side != nil && c.Message != 0
}

// fault is what is wrong at a line. It quotes nothing.
func fault(kind error, line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w: %s", line, kind, fmt.Sprintf(format, args...))
}
