package main

import (
	"encoding/json"
	"runtime"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// printedOnly reports whether install prints a host's settings and does not write them: Codex trusts none that it has not
// shown, and those of Cursor and Copilot CLI have a form of their own.
func printedOnly(h hook.Host) bool {
	return h == hook.Codex || h == hook.Cursor || h == hook.Copilot
}

// flatSettings are the settings of Cursor and of Copilot CLI, where an event has a list of hooks.
type flatSettings struct {
	Version int                   `json:"version"`
	Hooks   map[string][]flatHook `json:"hooks"`
}

// flatHook is an element of such a list. Its keys are those of cursor.com/docs/hooks and of
// docs.github.com/en/copilot/reference/hooks-reference, November 2026; both count seconds.
type flatHook struct {
	Command    string           `json:"command,omitempty"`
	Timeout    int              `json:"timeout,omitempty"`
	LoopLimit  *json.RawMessage `json:"loop_limit,omitempty"` // of Cursor's stop: how often it may send the agent on in a session
	Type       string           `json:"type,omitempty"`
	Bash       string           `json:"bash,omitempty"`
	PowerShell string           `json:"powershell,omitempty"`
	TimeoutSec int              `json:"timeoutSec,omitempty"`
}

// flat returns the hook of one event, in a system's shell.
func (n installation) flat(event, system string) flatHook {
	if n.host == hook.Cursor {
		one := flatHook{Command: n.command, Timeout: hookSeconds + n.more}
		if event == "stop" {
			none := json.RawMessage("null") // ours is of a turn; Cursor's default is five for all turns together
			one.LoopLimit = &none
		}
		return one
	}
	one := flatHook{Type: "command", TimeoutSec: hookSeconds + n.more}
	if system == "windows" {
		one.PowerShell = n.command
	} else {
		one.Bash = n.command
	}
	return one
}

// flatSnippet is the settings of a host with such a form that has no others.
func (n installation) flatSnippet() string {
	s := flatSettings{Version: 1, Hooks: make(map[string][]flatHook)}
	for _, event := range hookEvents(n.host) {
		s.Hooks[event] = []flatHook{n.flat(event, runtime.GOOS)}
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // "&" is read and copied by people
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		panic(err) // texts and numbers
	}
	return text.String()
}

// flatLines returns how many hooks of ours settings of that form have. What is no such settings has none.
func (n installation) flatLines(text []byte) (lines int) {
	var s struct {
		Hooks map[string][]json.RawMessage `json:"hooks"`
	}
	if json.Unmarshal(text, &s) != nil {
		return 0
	}
	for _, list := range s.Hooks {
		for _, raw := range list {
			var one flatHook
			if json.Unmarshal(raw, &one) != nil {
				continue
			}
			for _, line := range []string{one.Command, one.Bash, one.PowerShell} {
				if ours, _ := n.owns(line); ours {
					lines++
					break
				}
			}
		}
	}
	return lines
}

// nothingElse reports whether settings have nothing but so many hooks of ours. What is no JSON has more.
func nothingElse(text []byte, ours int) bool {
	var s map[string]any
	if json.Unmarshal(text, &s) != nil {
		return false
	}
	for key := range s {
		if key != "version" && key != "hooks" {
			return false
		}
	}
	return linesIn(s["hooks"]) == ours
}

// linesIn counts the objects that name a command, at any depth.
func linesIn(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += linesIn(e)
		}
	case map[string]any:
		for _, key := range []string{"command", "bash", "powershell"} {
			if _, ok := v[key].(string); ok {
				return 1
			}
		}
		for _, e := range v {
			n += linesIn(e)
		}
	}
	return n
}
