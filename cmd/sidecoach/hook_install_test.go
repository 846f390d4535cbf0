package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// A program that go run made, or go test, will be gone when the host runs it.
func TestInstallOfATemporaryProgram(t *testing.T) {
	if path, err := os.Executable(); err != nil || !strings.Contains(filepath.ToSlash(path), "/go-build") {
		t.Skip("this test was built to stay")
	}
	out, errs, status := sidecoach(t, strings.NewReader(""), "hook", "install", "claude")
	assert.Equal(t, exitUsage, status)
	assert.Empty(t, out)
	assert.Contains(t, errs, "this program is a temporary one of go run")
	assert.Contains(t, errs, "hint: build it to stay: go build ")
}

func TestWhereSettingsLie(t *testing.T) {
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	user := func(h hook.Host, home string) string { return filepath.ToSlash(userSettings(h, home, getenv)) }
	assert.Equal(t, "/home/ada/.claude/settings.json", user(hook.Claude, "/home/ada"))
	assert.Equal(t, "/home/ada/.codex/hooks.json", user(hook.Codex, "/home/ada"))
	assert.Equal(t, "/home/ada/.gemini/settings.json", user(hook.Gemini, "/home/ada"))
	assert.Equal(t, "/home/ada/.cursor/hooks.json", user(hook.Cursor, "/home/ada"))
	assert.Equal(t, "/home/ada/.copilot/hooks/sidecoach.json", user(hook.Copilot, "/home/ada"))
	env = map[string]string{"CLAUDE_CONFIG_DIR": "/cc", "CODEX_HOME": "/cx", "GEMINI_CLI_HOME": "/gm", "COPILOT_HOME": "/cp"}
	assert.Equal(t, "/cc/settings.json", user(hook.Claude, ""))
	assert.Equal(t, "/cx/hooks.json", user(hook.Codex, ""))
	assert.Equal(t, "/gm/.gemini/settings.json", user(hook.Gemini, ""))
	assert.Equal(t, "/cp/hooks/sidecoach.json", user(hook.Copilot, ""))
	env = nil
	for _, h := range hook.Hosts() {
		assert.Empty(t, user(h, ""))
		for _, name := range projectSettings(h) {
			dir := "." + string(h)
			if h == hook.Copilot {
				dir = ".github/hooks"
			}
			assert.Equal(t, dir, filepath.ToSlash(filepath.Dir(name)))
		}
	}
}

// The names that people read, and what a host must be told, are there for each host that there is.
func TestHostsAreNamed(t *testing.T) {
	for _, h := range hook.Hosts() {
		assert.NotEqual(t, string(h), product(h))
		assert.NotEmpty(t, hookEvents(h))
	}
	require.NotEmpty(t, trust(hook.Codex))
}
