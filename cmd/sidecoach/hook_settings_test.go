package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

func installed(h hook.Host) installation {
	return installation{host: h, binary: "/b/sidecoach", command: shellOf(h, "linux").line("/b/sidecoach", h, nil)}
}

// The settings that are printed have all events, each with one command, and are what a host that has none gets.
func TestSnippets(t *testing.T) {
	for _, h := range []hook.Host{hook.Claude, hook.Codex, hook.Gemini} {
		var s struct {
			Hooks map[string][]settingsGroup `json:"hooks"`
		}
		dec := json.NewDecoder(strings.NewReader(installed(h).snippet()))
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(&s))
		assert.Len(t, s.Hooks, len(hookEvents(h)))
		for _, event := range hookEvents(h) {
			require.Len(t, s.Hooks[event], 1)
			require.Len(t, s.Hooks[event][0].Hooks, 1)
			one := s.Hooks[event][0].Hooks[0]
			assert.Equal(t, "/b/sidecoach hook "+string(h)+" || exit 0", one.Command)
			assert.Equal(t, "command", one.Type)
			e, err := h.Read([]byte(`{"session_id":"s","turn_id":"t","hook_event_name":"` + event + `","stop_hook_active":false}`))
			require.NoError(t, err)
			assert.NotEqual(t, hook.Other, e.Kind, "an event that is asked for is one that is read")
		}
	}
}

// Settings are laid out like those around them.
func TestMergeLayout(t *testing.T) {
	n := installation{host: hook.Gemini, command: "c"}
	one := `{"name":"sidecoach","type":"command","command":"c","timeout":60000}`
	for name, tt := range map[string]struct{ text, want string }{
		"one line": {`{"a":1}`, `{"a":1, "hooks":{"AfterAgent":[{"hooks":[` + one + `]}], "BeforeAgent":[{"hooks":[` + one + `]}]}}`},
		"tabs":     {"{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"hooks\": {\n\t\t\"AfterAgent\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n"},
		"four":     {"{\n    \"a\": 1\n}\n", "{\n    \"a\": 1,\n    \"hooks\": {\n        \"AfterAgent\": [\n"},
		"crlf":     {"{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"AfterAgent\": [\r\n"},
		"empty":    {"{\n  \"hooks\": {}\n}", "{\n  \"hooks\": {\n    \"AfterAgent\": [\n      {\n"},
		"no lists": {"{\n  \"hooks\": {\n    \"AfterAgent\": []\n  }\n}", "{\n  \"hooks\": {\n    \"AfterAgent\": [\n      {\n        \"hooks\": [\n"},
		"mixed":    {"{\n  \"hooks\": {\"AfterAgent\": [{\"hooks\": []}]}\n}", "{\n  \"hooks\": {\"AfterAgent\": [{\"hooks\": []}, {\"hooks\":[" + one + "]}], \"BeforeAgent\":[{\"hooks\":[" + one + "]}]}\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := n.merge([]byte(tt.text))
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(got), tt.want), "%q", got)
			if strings.Contains(tt.text, "\r") {
				assert.Equal(t, strings.Count(string(got), "\n"), strings.Count(string(got), "\r\n"))
			}
		})
	}
}

func TestMergeRefuses(t *testing.T) {
	n := installed(hook.Claude)
	for text, want := range map[string]string{
		``:                                  "it is not plain JSON: line 1: unexpected end of JSON input",
		"{\n\"a\": 1,\n}":                   "it is not plain JSON: line 3: invalid character '}'",
		"\ufeff{}":                          "it is not plain JSON: line 1: ",
		`{} {}`:                             "it is not plain JSON: line 1: ",
		`[]`:                                "it is not a JSON object",
		`null`:                              "it is not a JSON object",
		`"hooks"`:                           "it is not a JSON object",
		`{"hooks": null}`:                   `"hooks" is not an object`,
		`{"hooks": []}`:                     `"hooks" is not an object`,
		`{"hooks": {}, "hooks": {}}`:        `"hooks" stands there twice`,
		`{"hooks": {"Stop": {}}}`:           `"Stop" is not an array`,
		`{"hooks": {"Stop": [], "Stop":1}}`: `"Stop" stands there twice`,
		`{"hooks": {"Stop": [{"hooks": [], "hooks": []}]}}`:                                                     `"Stop": "hooks" stands there twice`,
		`{"hooks": {"Stop": [{"hooks": [{"command": "a", "command": "b"}]}]}}`:                                  `"Stop": "command" stands there twice`,
		`{"hooks": {"Stop": [{"hooks": [{"command": "X=1 sidecoach hook claude"}]}]}}`:                          `"Stop" runs sidecoach in a line that was not written by install: "X=1 sidecoach hook claude"`,
		`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`:                                     "it is nested deeper than 100",
		`{"hooks": {"Stop": [{"hooks": [{"command": "` + n.command + `"},{"command": "` + n.command + `"}]}]}}`: `"Stop" runs sidecoach 2 times`,
	} {
		_, err := n.merge([]byte(text))
		require.Error(t, err, text)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%s: %v", text, err)
	}
}

// What others put into an event's list is theirs, whatever it is.
func TestMergeKeepsWhatItDoesNotKnow(t *testing.T) {
	n := installed(hook.Claude)
	const text = `{"hooks":{"Stop":["x",null,{"hooks":7},{"matcher":"y"},{"hooks":[1,{"command":2},{"type":"prompt","prompt":"sidecoach hook claude"}]}],"Other":"z"},"h\u006foks2":1e400}`
	got, err := n.merge([]byte(text))
	require.NoError(t, err)
	back, times, err := n.unmerge(got)
	require.NoError(t, err)
	assert.Equal(t, len(hookEvents(hook.Claude)), times)
	assert.Equal(t, text, string(back))
}

// A hook of ours that stands among others, or with a matcher of the user's, goes alone; what it leaves empty goes, too.
func TestUnmerge(t *testing.T) {
	for text, want := range map[string]string{
		`{"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook claude"}]}]}}`:                                                    `{}`,
		`{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook claude"}]}]},"b":2}`:                                        `{"a":1,"b":2}`,
		`{"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook claude"}]}]},"b":2}`:                                              `{"b":2}`,
		`{"hooks":{"Stop":[{"matcher":"","hooks":[{"command":"sidecoach hook claude"},{"command":"x"}]}]}}`:                       `{"hooks":{"Stop":[{"matcher":"","hooks":[{"command":"x"}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"command":"x"},{"command":"sidecoach hook claude"}]}]}}`:                                    `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook claude"}]},{"hooks":[{"command":"x"}]}],"A":[]}}`:                 `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}],"A":[]}}`,
		`{"hooks":{"A":[],"Odd":[{"hooks":[{"command":"sidecoach hook claude"},{"command":"sidecoach hook claude --shadow"}]}]}}`: `{"hooks":{"A":[]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook codex"}]}]}}`:                                                     `{"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook codex"}]}]}}`,
	} {
		got, _, err := installed(hook.Claude).unmerge([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

// A line that does something beside running sidecoach, or only speaks of it, is not taken out: what it does is the user's.
func TestUnmergeRefusesWhatDoesMore(t *testing.T) {
	for _, line := range []string{
		"say done; sidecoach hook claude", "sidecoach hook claude || exit 0; say done", "cd /x && sidecoach hook claude", "echo sidecoach hook claude",
		"sidecoach hook claude | tee log", "sidecoach hook claude >log", "nice sidecoach hook claude", "sidecoach hook claude --plan $(which plan)", "sidecoach hook claude &",
		"sidecoach hook claude; say done || exit 0",
		"sidecoach hook claude\nsay done",
	} {
		text, err := json.Marshal(map[string]any{"hooks": map[string]any{"Stop": []settingsGroup{{[]settingsHook{{Command: line}}}}}})
		require.NoError(t, err)
		_, _, err = installed(hook.Claude).unmerge(text)
		if assert.Error(t, err, line) {
			assert.Contains(t, err.Error(), "does more than that")
		}
	}
	for _, line := range []string{
		"sidecoach hook claude", "KEY=1 /old/sidecoach hook claude || exit 0", "'/my bin/sidecoach' hook claude --plan='a; b.md' || true", "sidecoach hook claude --shadow ; exit 0",
		"KEY='a b' OTHER= sidecoach  hook  claude --max-continues 2", "& 'C:\\my bin\\sidecoach.exe' hook claude",
	} {
		text, err := json.Marshal(map[string]any{"hooks": map[string]any{"Stop": []settingsGroup{{[]settingsHook{{Command: line}}}}}})
		require.NoError(t, err)
		got, times, err := installed(hook.Claude).unmerge(text)
		require.NoError(t, err, line)
		assert.Equal(t, 1, times, line)
		assert.Equal(t, "{}", string(got), line)
	}
}

func TestHooksThatAreOff(t *testing.T) {
	for _, tt := range []struct {
		host hook.Host
		text string
		want bool
	}{
		{hook.Claude, `{"disableAllHooks": true}`, true},
		{hook.Claude, `{"disableAllHooks": false}`, false},
		{hook.Claude, `{}`, false},
		{hook.Gemini, `{"disableAllHooks": true}`, false},
		{hook.Gemini, `{"hooksConfig": {"enabled": false}}`, true},
		{hook.Gemini, `{"hooksConfig": {"enabled": true}}`, false},
		{hook.Gemini, `{"hooksConfig": 1}`, false},
	} {
		s, err := installed(tt.host).parse([]byte(tt.text))
		require.NoError(t, err)
		assert.Equal(t, tt.want, s.off() != "", tt.text)
	}
}

// Whatever settings there are: merging keeps all else, is done once, and is undone to the byte where it leaves nothing behind.
func FuzzMerge(f *testing.F) {
	for _, text := range []string{
		"{}", `{"a":1}`, "{\n  \"hooks\": {}\n}\n", `{"hooks":{"Stop":[]}}`, `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}],"PreToolUse":[1]},"z":[1,{"b":"\u00e4"}]}`,
		"{\r\n\t\"hooks\": {\"Stop\": [{\"hooks\": [\n{\"command\":\"/b/sidecoach hook claude --shadow || exit 0\"}]}] }, \"hooks2\": 1e99 }",
		`{"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook claude"}]}]}}`, `{"hooks":{"Stop":"x"}}`, `{"hooks":{"Odd":[{"hooks":[{"command":"echo sidecoach hook claude"}]}]}}`, `{"":{"":[]},"hooks":{"":[]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n := installed(hook.Claude)
		merged, err := n.merge(text)
		if err != nil {
			return
		}
		again, err := n.merge(merged)
		require.NoError(t, err)
		require.Equal(t, string(merged), string(again))
		before, beforeTimes, err := n.unmerge(text)
		if err != nil { // a line of the user's, among other events
			_, _, err = n.unmerge(merged)
			require.Error(t, err)
			return
		}
		after, times, err := n.unmerge(merged)
		require.NoError(t, err)
		require.GreaterOrEqual(t, times, len(hookEvents(hook.Claude)))
		require.True(t, beforeTimes > 0 || n.made(merged, text), "what install made of it is known again")
		require.Equal(t, withoutEmptyEvents(t, before), withoutEmptyEvents(t, after))
		s, err := n.parse(text)
		require.NoError(t, err)
		if beforeTimes == 0 && len(s.root.children) > 0 && (s.hooks == nil || len(s.hooks.children) > 0) && !hasEmptyEvent(s) {
			require.Equal(t, string(text), string(after))
		}
	})
}

func hasEmptyEvent(s hookSettings) bool {
	for i := range hookEvents(s.host) {
		if s.hooks == nil {
			break
		}
		if list, err := s.hooks.member(hookEvents(s.host)[i]); err == nil && list != nil && len(list.children) == 0 {
			return true
		}
	}
	return false
}

// withoutEmptyEvents is the value of settings, as far as an uninstall does not clean up.
func withoutEmptyEvents(t *testing.T, text []byte) any {
	t.Helper()
	v, ok := decoded(t, text).(map[string]any)
	require.True(t, ok)
	if hooks, ok := v["hooks"].(map[string]any); ok {
		for _, event := range hookEvents(hook.Claude) {
			if list, ok := hooks[event].([]any); ok && len(list) == 0 {
				delete(hooks, event)
			}
		}
		if len(hooks) == 0 {
			delete(v, "hooks")
		}
	}
	return v
}
