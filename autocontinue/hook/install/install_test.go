package install

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

func of(h hook.Host) Hook { return Hook{Host: h, Program: "/b/sidecoach", Timeout: 60} }

// lineOf returns the command line of the hook as JSON.
func lineOf(h Hook) string { return string(encode(h.line(), "", "")) }

// The printed settings have every event once, and each runs the hook.
func TestSnippet(t *testing.T) {
	for _, host := range hook.Hosts() {
		h := of(host)
		var s struct {
			Version int                         `json:"version"`
			Hooks   map[string][]map[string]any `json:"hooks"`
		}
		require.NoError(t, json.Unmarshal(h.Snippet(), &s), host)
		require.Len(t, s.Hooks, len(hosts()[host].Events))
		for _, event := range hosts()[host].Events {
			require.Len(t, s.Hooks[event], 1)
		}
		rest, times, err := h.Remove(h.Snippet())
		require.NoError(t, err)
		assert.Equal(t, len(hosts()[host].Events), times)
		assert.Nil(t, rest)
		if (Hook{Host: host}).Writable() {
			merged, err := h.Merge([]byte("{}\n"))
			require.NoError(t, err)
			assert.Equal(t, string(h.Snippet()), string(merged))
		}
	}
	assert.Equal(t, 1, strings.Count(string(of(hook.Cursor).Snippet()), `"loop_limit": null`))
	assert.Contains(t, string(of(hook.Gemini).Snippet()), `"timeout": 60000`)
	assert.Contains(t, string(of(hook.Gemini).Snippet()), "<&3 &", "people read it")
}

// What is added stands on lines of its own, and what is there stays as it is.
func TestMergeLayout(t *testing.T) {
	h := of(hook.Codex)
	for name, tt := range map[string]struct{ text, want string }{
		"one line": {`{"a":1}`, "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n"},
		"empty":    {"{\n  \"hooks\": {}\n}", "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n"},
		"no lists": {"{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}",
			"{\n  \"hooks\": {\n    \"SubagentStop\": [\n      {\n        \"hooks\": [\n"},
		"mixed": {"{\n  \"hooks\": {\"Stop\": [{\"hooks\": []}]}\n}",
			"{\n  \"hooks\": {\n    \"SubagentStop\": [\n      {\n        \"hooks\": [\n"},
		"comments":       {"{\n  // mine\n  \"a\": 1 // one\n}", "{\n  \"hooks\": {\n"},
		"trailing comma": {"{\n  \"a\": 1, /* one */\n}", "{\n  \"hooks\": {\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := h.Merge([]byte(tt.text))
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(got), tt.want), "%s", got)
			if i := strings.Index(tt.text, `"a"`); i >= 0 {
				assert.True(t, strings.HasSuffix(string(got), tt.text[i:]), "%s", got)
			}
			back, times, err := h.Remove(got)
			require.NoError(t, err)
			assert.Equal(t, 3, times)
			assert.NotContains(t, string(back), "sidecoach")
		})
	}
}

func TestMergeRefuses(t *testing.T) {
	h := of(hook.Claude)
	for text, want := range map[string]string{
		``:                                "it is not JSON: line 1, column 1: ",
		"{\n\"a\" 1}":                     "it is not JSON: line 2, column 5: ",
		`{} {}`:                           "it is not JSON: ",
		`[]`:                              "it is not a JSON object",
		`null`:                            "it is not a JSON object",
		`{"hooks": null}`:                 `"hooks" is not an object`,
		`{"hooks": {}, "hooks": {}}`:      `"hooks" is there twice`,
		`{"hooks": {"Stop": {}}}`:         `"Stop" is not an array`,
		`{"hooks": {"Stop":[],"Stop":1}}`: `"Stop" is there twice`,
		`{"hooks": {"Stop": [{"hooks": [], "hooks": []}]}}`:                    `"hooks" is there twice`,
		`{"hooks": {"Stop": [{"hooks": [{"command": "a", "command": "b"}]}]}}`: `"command" is there twice`,
		`{"hooks": {"Stop": [{"hooks": [{"command": "X=1 sidecoach hook claude"}]}]}}`: `a line does more than run ` +
			`sidecoach: "X=1`,
		`{"a":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + `}`: "it has too many brackets",
	} {
		_, err := h.Merge([]byte(text))
		require.Error(t, err, text)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%.80s: %v", text, err)
	}
}

// A line of another version is replaced, and nothing else changes.
func TestMergeReplaces(t *testing.T) {
	h := of(hook.Gemini)
	text, err := h.Merge([]byte("{\n  \"a\": 1\n}"))
	require.NoError(t, err)
	again, err := h.Merge(text)
	require.NoError(t, err)
	assert.Equal(t, string(text), string(again))

	const old = `"command": "/old/sidecoach hook gemini --shadow || exit 0"`
	older := strings.ReplaceAll(strings.ReplaceAll(string(text), `"command": `+lineOf(h), old), "60000", "10000")
	require.Equal(t, 2, strings.Count(older, old))
	again, err = h.Merge([]byte(older))
	require.NoError(t, err)
	assert.Equal(t, string(text), string(again))
}

// What others put into an event's list stays, whatever it is.
func TestMergeKeepsWhatItDoesNotKnow(t *testing.T) {
	h := of(hook.Claude)
	const text = `{"hooks":{"Stop":["x",null,{"hooks":7},{"matcher":"y"},{"hooks":[1,{"command":2},` +
		`{"type":"prompt","prompt":"sidecoach hook claude"}]}],"Other":"z"},"h\u006foks2":1e400}`
	got, err := h.Merge([]byte(text))
	require.NoError(t, err)
	back, times, err := h.Remove(got)
	require.NoError(t, err)
	assert.Equal(t, len(hosts()[hook.Claude].Events), times)
	assert.Equal(t, text, string(back))
}

// The hook goes alone where it stands among others. What it leaves empty goes, too.
func TestRemove(t *testing.T) {
	const ours = `{"command":"sidecoach hook claude"}`
	for text, want := range map[string]string{
		`{"hooks":{"Stop":[{"hooks":[` + ours + `]}]}}`:             ``,
		`{"a":1,"hooks":{"Stop":[{"hooks":[` + ours + `]}]},"b":2}`: `{"a":1,"b":2}`,
		`{"hooks":{"Stop":[{"hooks":[` + ours + `]}]},"b":2}`:       `{"b":2}`,
		`{"hooks":{"Stop":[{"matcher":"","hooks":[` + ours +
			`,{"command":"x"}]}]}}`: `{"hooks":{"Stop":[{"matcher":"","hooks":[{"command":"x"}]}]}}`,
		`{"hooks":{"Stop":[{"matcher":"","hooks":[` + ours + `]}],"A":[]}}`: `{"hooks":{"A":[]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"command":"x"},` + ours +
			`]}]}}`: `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[` + ours +
			`]},{"hooks":[{"command":"x"}]}],"A":[]}}`: `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}],"A":[]}}`,
		`{"hooks":{"A":[],"Odd":[{"hooks":[` + ours + `,{"bash":"sidecoach hook claude"}]}]}}`: `{"hooks":{"A":[]}}`,
		`{"version":1,"hooks":{"Stop":[` + ours + `]}}`:                                        ``,
		`{"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook codex"}]}]}}`:                  `{"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook codex"}]}]}}`,
	} {
		got, _, err := of(hook.Claude).Remove([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestFiles(t *testing.T) {
	slashed := func(names []string) string { return filepath.ToSlash(strings.Join(names, " ")) }
	none := func(string) string { return "" }
	for host, want := range map[hook.Host][3]string{ // of the user, of the project, below a folder of the user's choice
		hook.Claude: {"/h/.claude/settings.json", ".claude/settings.local.json " +
			".claude/settings.json", "/x/settings.json"},
		hook.Codex:   {"/h/.codex/hooks.json", ".codex/hooks.json", "/x/hooks.json"},
		hook.Gemini:  {"/h/.gemini/settings.json", ".gemini/settings.json", "/x/.gemini/settings.json"},
		hook.Cursor:  {"/h/.cursor/hooks.json", ".cursor/hooks.json", ""},
		hook.Copilot: {"/h/.copilot/hooks/sidecoach.json", ".github/hooks/sidecoach.json", "/x/hooks/sidecoach.json"},
	} {
		assert.Equal(t, want[0], slashed(Hook{Host: host}.Files(false, "/h", none)))
		assert.Equal(t, want[1], slashed(Hook{Host: host}.Files(true, "/h", none)))
		assert.Equal(t, want[2], slashed(Hook{Host: host}.Files(false, "", func(string) string { return "/x" })))
		assert.Empty(t, Hook{Host: host}.Files(false, "", none))
	}
}

// Whatever the settings are: Merge keeps everything else and changes nothing the second time, and Remove undoes it.
func FuzzMerge(f *testing.F) {
	for _, text := range []string{
		"{}", `{"a":1}`, "{\n  \"hooks\": {}\n}\n", `{"hooks":{"Stop":[]}}`, "{\n// c\n\"a\": [1,], // d\n}",
		`{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}],"PreToolUse":[1]},"z":[1,{"b":"\u00e4"}]}`,
		"{\r\n\t\"hooks\": {\"Stop\": [{\"hooks\": [\n{\"command\":\"/b/sidecoach hook claude --shadow || exit 0\"}]}" +
			"] }, \"hooks2\": 1e99 }",
		`{"hooks":{"Stop":[{"hooks":[{"command":"sidecoach hook claude"}]}]}}`, `{"hooks":{"Stop":"x"}}`,
		`{"hooks":{"Odd":[{"hooks":[{"command":"echo sidecoach hook claude"}]}]}}`, `{"":{"":[]},"hooks":{"":[]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h := of(hook.Claude)
		merged, err := h.Merge(text)
		if err != nil {
			return
		}
		again, err := h.Merge(merged)
		require.NoError(t, err)
		require.Equal(t, string(merged), string(again))
		before, _, err := h.Remove(text)
		if err != nil { // a line of the human's, in another event
			return
		}
		after, times, err := h.Remove(merged)
		require.NoError(t, err)
		require.GreaterOrEqual(t, times, len(hosts()[hook.Claude].Events))
		require.Equal(t, withoutEmpty(t, before), withoutEmpty(t, after))
	})
}

// withoutEmpty is the value of settings without empty lists of events, which Remove may leave or take away.
func withoutEmpty(t *testing.T, text []byte) map[string]any {
	t.Helper()
	if text == nil {
		return map[string]any{}
	}
	plain, err := hujson.Standardize(append([]byte(nil), text...))
	require.NoError(t, err)
	var v map[string]any
	require.NoError(t, json.Unmarshal(plain, &v))
	if hooks, ok := v["hooks"].(map[string]any); ok {
		for _, event := range hosts()[hook.Claude].Events {
			if list, ok := hooks[event].([]any); ok && len(list) == 0 {
				delete(hooks, event)
			}
		}
		if len(hooks) == 0 {
			delete(v, "hooks")
		}
	}
	if _, ok := v["version"]; ok && len(v) == 1 {
		delete(v, "version")
	}
	return v
}
