package install

import (
	"bytes"
	"cmp"
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

// host is what a host's settings are.
type host struct {
	// events are the pauses and the human's prompts, and of Cursor also what the agent printed: its pauses do not say it.
	events   []string
	name     string // of the file
	variable string // of the environment: names the folder of the user's settings
}

var hosts = map[hook.Host]host{
	hook.Claude: {
		[]string{"Stop", "SubagentStop", "StopFailure", "UserPromptSubmit"}, "settings.json", "CLAUDE_CONFIG_DIR",
	},
	hook.Codex:  {[]string{"Stop", "SubagentStop", "UserPromptSubmit"}, "hooks.json", "CODEX_HOME"},
	hook.Gemini: {[]string{"AfterAgent", "BeforeAgent"}, "settings.json", ""},
	hook.Cursor: {[]string{"stop", "afterAgentResponse", "beforeSubmitPrompt"}, "hooks.json", ""},
	// Copilot CLI reads all files of that folder.
	hook.Copilot: {[]string{"Stop", "UserPromptSubmit"}, filepath.Join("hooks", "sidecoach.json"), "COPILOT_HOME"},
}

// Writable reports whether Merge may change the host's settings. For the others the human saves what Snippet returns.
func (h Hook) Writable() bool { return h.Host == hook.Claude || h.Host == hook.Gemini }

// command is what a host's settings say of one command. Each host has some of these keys: see cursor.com/docs/hooks and
// docs.github.com/en/copilot/reference/hooks-reference.
type command struct {
	Name       string          `json:"name,omitempty"` // Gemini CLI shows it
	Type       string          `json:"type,omitempty"`
	Command    string          `json:"command,omitempty"`
	Bash       string          `json:"bash,omitempty"`
	PowerShell string          `json:"powershell,omitempty"`
	Timeout    int             `json:"timeout,omitempty"`
	TimeoutSec int             `json:"timeoutSec,omitempty"`
	LoopLimit  json.RawMessage `json:"loop_limit,omitempty"` // of Cursor: how often stop may continue a session
}

// element returns what stands in the list of one event.
func (h Hook) element(event string) any {
	c := command{Type: "command", Command: h.line(), Timeout: h.timeout()}
	switch h.Host {
	case hook.Cursor:
		c.Type = ""
		if event == "stop" {
			c.LoopLimit = json.RawMessage("null") // the loop has its own cap; Cursor's default is five a session
		}
		return c
	case hook.Copilot:
		c = command{Type: "command", Bash: h.line(), TimeoutSec: h.Timeout}
		if runtime.GOOS == "windows" {
			c.Bash, c.PowerShell = "", c.Bash
		}
		return c
	case hook.Gemini:
		c.Name = "sidecoach"
	}
	return map[string][]command{"hooks": {c}}
}

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

// Files returns where the host looks for its settings, the file that Merge is for first. Without project they are the
// user's, below home or the folder that the host's variable names; none if both are empty. With project they are
// relative to the project's folder. Claude Code's settings.local.json is not shared with others; the other hosts have
// no such file.
func (h Hook) Files(project bool, home string, getenv func(string) string) []string {
	of, dir := hosts[h.Host], "."+string(h.Host)
	switch {
	case project && h.Host == hook.Claude:
		return []string{filepath.Join(dir, "settings.local.json"), filepath.Join(dir, of.name)}
	case project && h.Host == hook.Copilot:
		return []string{filepath.Join(".github", of.name)}
	case project:
		return []string{filepath.Join(dir, of.name)}
	}
	if own := getenv(of.variable); own != "" && of.variable != "" {
		return []string{filepath.Join(own, of.name)}
	}
	if h.Host == hook.Gemini {
		home = cmp.Or(getenv("GEMINI_CLI_HOME"), home)
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, dir, of.name)}
}
