package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

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
	element  string   // what stands in the list of an event: cursor.com/docs/hooks and others
	project  []string // the files of a project, the one that Merge is for first
	name     string   // of the user's file
	variable string   // of the environment: names the folder of the user's settings
}

var hosts = map[hook.Host]host{
	hook.Claude: {
		events:   []string{"Stop", "SubagentStop", "StopFailure", "UserPromptSubmit"},
		element:  `{"hooks":[{"type":"command","command":LINE,"timeout":SECONDS}]}`,
		project:  []string{".claude/settings.local.json", ".claude/settings.json"}, // the former is not shared with others
		name:     "settings.json",
		variable: "CLAUDE_CONFIG_DIR",
	},
	hook.Codex: {
		events:   []string{"Stop", "SubagentStop", "UserPromptSubmit"},
		element:  `{"hooks":[{"type":"command","command":LINE,"timeout":SECONDS}]}`,
		project:  []string{".codex/hooks.json"},
		name:     "hooks.json",
		variable: "CODEX_HOME",
	},
	hook.Gemini: {
		events:  []string{"AfterAgent", "BeforeAgent"},
		element: `{"hooks":[{"name":"sidecoach","type":"command","command":LINE,"timeout":MILLISECONDS}]}`,
		project: []string{".gemini/settings.json"},
		name:    "settings.json",
	},
	hook.Cursor: {
		events:  []string{"stop", "afterAgentResponse", "beforeSubmitPrompt"},
		element: `{"command":LINE,"timeout":SECONDS}`,
		project: []string{".cursor/hooks.json"},
		name:    "hooks.json",
	},
	hook.Copilot: { // it reads all files of that folder
		events:   []string{"Stop", "UserPromptSubmit"},
		element:  `{"type":"command","bash":LINE,"timeoutSec":SECONDS}`,
		project:  []string{".github/hooks/sidecoach.json"},
		name:     "hooks/sidecoach.json",
		variable: "COPILOT_HOME",
	},
}

// Writable reports whether Merge may change the host's settings. For the others the human saves what Snippet returns.
func (h Hook) Writable() bool { return h.Host == hook.Claude || h.Host == hook.Gemini }

// element returns what stands in the list of one event.
func (h Hook) element(event string) json.RawMessage {
	element := hosts[h.Host].element
	switch {
	case h.Host == hook.Cursor && event == "stop": // the loop has its own cap; Cursor's default is five a session
		element = strings.Replace(element, "}", `,"loop_limit":null}`, 1)
	case h.Host == hook.Copilot && runtime.GOOS == "windows":
		element = strings.Replace(element, "bash", "powershell", 1)
	}
	return json.RawMessage(strings.NewReplacer("LINE", string(encode(h.line(), "", "")),
		"MILLISECONDS", strconv.Itoa(h.Timeout*1000), "SECONDS", strconv.Itoa(h.Timeout)).Replace(element))
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

// Files returns where the host looks for its settings, the file that Merge is for first. Those of a project are below
// its folder. The user's are below home or the folder that the host's variable names; none if both are empty.
func (h Hook) Files(project bool, home string, getenv func(string) string) []string {
	of := hosts[h.Host]
	if project {
		return slices.Clone(of.project)
	}
	if h.Host == hook.Gemini {
		home = cmp.Or(getenv("GEMINI_CLI_HOME"), home)
	}
	if own := getenv(of.variable); own != "" && of.variable != "" {
		return []string{filepath.Join(own, of.name)}
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, "."+string(h.Host), of.name)}
}
