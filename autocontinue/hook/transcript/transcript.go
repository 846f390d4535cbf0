package transcript

import (
	"errors"
	"fmt"
	"io"
)

// Format names the agent that wrote a transcript.
type Format string

// The formats. They are the names of the hosts in package hook.
const (
	claude  Format = "claude"  // Claude Code
	codex   Format = "codex"   // Codex CLI
	gemini  Format = "gemini"  // Gemini CLI
	cursor  Format = "cursor"  // Cursor
	copilot Format = "copilot" // GitHub Copilot CLI
)

// Locations says, for people, which files are transcripts and where the agents keep them.
const Locations = "replay reads the sessions of Claude Code (~/.claude/projects), Codex (~/.codex/sessions), " +
	"Gemini CLI (~/.gemini/tmp/*/chats), Cursor (~/.cursor/projects) and Copilot CLI (~/.copilot/session-state)"

// ErrFormat says that a file is not a transcript.
var ErrFormat = errors.New("not a transcript")

// Transcript is the file of an old session.
type Transcript struct {
	Format   Format
	Subagent bool // it is a sub-agent's own

	r    io.ReaderAt
	size int64
	name string
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
	l := newLines(r, 0, size)
	for l.no < maxHeadLines && l.next < maxHead && l.scan() {
		v := l.value
		f := formatOf(v)
		if f == "" {
			continue
		}
		if t.Format != "" && f != t.Format {
			break
		}
		t.Format = f
		if f != claude {
			return t, nil
		}
		t.Subagent = v.isTrue("isSidechain")
		if v.isFalse("isSidechain") && v.has("message") { // a sub-agent may speak first in its caller's transcript
			return t, nil
		}
	}
	switch {
	case l.err != nil:
		return nil, fmt.Errorf("transcript: %w", l.err)
	case t.Format != "":
		return t, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrFormat, Locations)
}

// formatOf tells a format by one line. It returns "" where the line does not show it.
func formatOf(v value) Format {
	for _, f := range []Format{claude, codex, copilot, gemini, cursor} {
		if read(f, v, "", false, nil).known {
			return f
		}
	}
	return ""
}
