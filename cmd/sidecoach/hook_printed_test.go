package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// The settings that are printed for Cursor and Copilot CLI have all events, each with one command, in keys that they know.
func TestFlatSnippets(t *testing.T) {
	for _, h := range []hook.Host{hook.Cursor, hook.Copilot} {
		n := installed(h)
		var s flatSettings
		dec := json.NewDecoder(strings.NewReader(n.snippet()))
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(&s))
		assert.Equal(t, 1, s.Version)
		assert.Len(t, s.Hooks, len(hookEvents(h)))
		for _, event := range hookEvents(h) {
			require.Len(t, s.Hooks[event], 1)
			one := n.flat(event, "linux")
			assert.Equal(t, "/b/sidecoach hook "+string(h)+map[hook.Host]string{hook.Cursor: " || exit 1", hook.Copilot: " || exit 0"}[h], one.Command+one.Bash)
			assert.Equal(t, hookSeconds, one.Timeout+one.TimeoutSec)
			e, err := h.Read([]byte(`{"session_id":"s","conversation_id":"s","hook_event_name":"` + event + `"}`))
			require.NoError(t, err)
			assert.NotEqual(t, hook.Other, e.Kind, "an event that is asked for is one that is read")
		}
		assert.Equal(t, len(hookEvents(h)), n.flatLines([]byte(n.snippet())))
	}
	assert.Contains(t, installed(hook.Cursor).snippet(), `"loop_limit": null`)
	assert.Equal(t, 1, strings.Count(installed(hook.Cursor).snippet(), "loop_limit"))
	assert.Contains(t, installation{host: hook.Cursor, command: "& 'x' hook cursor"}.snippet(), `"& 'x' hook cursor"`, "to be read and copied")
	assert.Equal(t, flatHook{Type: "command", PowerShell: "c", TimeoutSec: hookSeconds}, installation{host: hook.Copilot, command: "c"}.flat("Stop", "windows"))
}

func TestFlatLines(t *testing.T) {
	n := installed(hook.Cursor)
	for text, want := range map[string]int{
		"":                          0,
		"{":                         0,
		"[]":                        0,
		`{"hooks":[]}`:              0,
		`{"hooks":{"stop":{}}}`:     0,
		`{"hooks":{"stop":[1,{}]}}`: 0,
		`{"hooks":{"stop":[{"command":"say sidecoach"}]}}`:                                                        0,
		`{"hooks":{"stop":[{"command":"x"},{"command":"/old/sidecoach hook cursor --shadow || exit 0"}],"x":[]}}`: 1,
		`{"hooks":{"stop":[{"command":"sidecoach hook copilot"}]}}`:                                               0,
	} {
		assert.Equal(t, want, n.flatLines([]byte(text)), text)
	}
}
