package install

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"runtime"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// Hook is the stop hook as a host's settings name it.
type Hook struct {
	Host    hook.Host
	Program string   // absolute path of sidecoach
	Flags   []string // of the command line
	Timeout int      // seconds that the host waits for the hook
}

// Events returns the host's events that its settings name: the pauses and the human's prompts, and for Cursor also what
// the agent printed, because its pauses do not say it.
func Events(h hook.Host) []string {
	switch h {
	case hook.Claude:
		return []string{"Stop", "SubagentStop", "StopFailure", "UserPromptSubmit"}
	case hook.Codex:
		return []string{"Stop", "SubagentStop", "UserPromptSubmit"}
	case hook.Gemini:
		return []string{"AfterAgent", "BeforeAgent"}
	case hook.Cursor:
		return []string{"stop", "afterAgentResponse", "beforeSubmitPrompt"}
	case hook.Copilot:
		return []string{"Stop", "UserPromptSubmit"}
	}
	return nil
}

// Writable reports whether Merge may change a host's settings. For the others the human saves what Snippet returns.
func Writable(h hook.Host) bool { return h == hook.Claude || h == hook.Gemini }

// entry is an element of an event's list in the settings of Claude Code, Codex and Gemini CLI.
type entry struct {
	Hooks []command `json:"hooks"`
}

type command struct {
	Name    string `json:"name,omitempty"` // Gemini CLI shows it
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// cursorHook and copilotHook are elements of an event's list in the settings of Cursor and Copilot CLI. Their keys are
// those of cursor.com/docs/hooks and of docs.github.com/en/copilot/reference/hooks-reference; both count seconds.
type cursorHook struct {
	Command   string           `json:"command"`
	Timeout   int              `json:"timeout"`
	LoopLimit *json.RawMessage `json:"loop_limit,omitempty"` // of stop: how often it may continue the agent in a session
}

type copilotHook struct {
	Type       string `json:"type"`
	Bash       string `json:"bash,omitempty"`
	PowerShell string `json:"powershell,omitempty"`
	TimeoutSec int    `json:"timeoutSec"`
}

// element returns what stands in the list of one event.
func (h Hook) element(event string) any {
	line := h.Line()
	switch h.Host {
	case hook.Cursor:
		c := cursorHook{Command: line, Timeout: h.Timeout}
		if event == "stop" {
			unlimited := json.RawMessage("null") // the loop has its own cap; Cursor's default is five a session
			c.LoopLimit = &unlimited
		}
		return c
	case hook.Copilot:
		if runtime.GOOS == "windows" {
			return copilotHook{Type: "command", PowerShell: line, TimeoutSec: h.Timeout}
		}
		return copilotHook{Type: "command", Bash: line, TimeoutSec: h.Timeout}
	case hook.Gemini:
		return entry{[]command{{Name: "sidecoach", Type: "command", Command: line, Timeout: h.timeout()}}}
	}
	return entry{[]command{{Type: "command", Command: line, Timeout: h.timeout()}}}
}

// timeout returns the time limit as the host counts it.
func (h Hook) timeout() int {
	if h.Host == hook.Gemini {
		return h.Timeout * 1000
	}
	return h.Timeout
}

// Snippet returns the settings of a host that has no others.
func (h Hook) Snippet() []byte {
	text := "{}\n"
	if h.Host == hook.Cursor || h.Host == hook.Copilot {
		text = "{\n  \"version\": 1\n}\n"
	}
	settings, err := h.Merge([]byte(text))
	if err != nil {
		panic(err) // there is nothing that could conflict
	}
	return settings
}

// encode writes a value as indented JSON; with an empty indent on one line.
func encode(v any, prefix, indent string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read it
	enc.SetIndent(prefix, indent)
	if err := enc.Encode(v); err != nil {
		panic(err) // texts and numbers
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Files returns where a host looks for its settings, the file that Merge is for first. Without project they are the
// user's, below home or the folder that the host's variable names; none if both are empty. With project they are
// relative to the project's folder. Claude Code's settings.local.json is not shared with others; the other hosts have
// no such file.
func Files(h hook.Host, project bool, home string, getenv func(string) string) []string {
	name := "settings.json"
	switch h {
	case hook.Codex, hook.Cursor:
		name = "hooks.json"
	case hook.Copilot: // it reads all files of that folder
		name = filepath.Join("hooks", "sidecoach.json")
	}
	dir := "." + string(h)
	switch {
	case project && h == hook.Claude:
		return []string{filepath.Join(dir, "settings.local.json"), filepath.Join(dir, name)}
	case project && h == hook.Copilot:
		return []string{filepath.Join(".github", name)}
	case project:
		return []string{filepath.Join(dir, name)}
	}
	switch h {
	case hook.Claude, hook.Codex, hook.Copilot:
		variable := map[hook.Host]string{
			hook.Claude: "CLAUDE_CONFIG_DIR", hook.Codex: "CODEX_HOME", hook.Copilot: "COPILOT_HOME",
		}[h]
		if own := getenv(variable); own != "" {
			return []string{filepath.Join(own, name)}
		}
	case hook.Gemini:
		if own := getenv("GEMINI_CLI_HOME"); own != "" {
			home = own
		}
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, dir, name)}
}
