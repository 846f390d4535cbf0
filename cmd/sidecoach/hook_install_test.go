package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/install"
)

// A program that go run made, or go test, will be gone when the host runs it.
func TestInstallOfATemporaryProgram(t *testing.T) {
	if path, err := os.Executable(); err != nil || !strings.Contains(filepath.ToSlash(path), "/go-build") {
		t.Skip("this test was built to stay")
	}
	out, errs, status := sidecoach(t, strings.NewReader(""), "hook", "install", "claude")
	assert.Equal(t, exitUsage, status)
	assert.Empty(t, out)
	assert.Contains(t, errs, "this program is a temporary one of go run, and will be deleted")
	assert.Contains(t, errs, "hint: build it first: go build ")
}

// The names that people read are there for each host that there is.
func TestHostsAreNamed(t *testing.T) {
	for _, h := range hook.Hosts() {
		assert.NotEqual(t, string(h), h.Product())
	}
}

// A folder that cannot be written leaves everything as it is, and says so.
func TestSettingsInAFolderThatIsReadOnly(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"a":1}`), 0o600))
	require.NoError(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if probe := filepath.Join(dir, "probe"); os.WriteFile(probe, nil, 0o600) == nil {
		os.Remove(probe)
		t.Skip("permissions do not hold for this user")
	}
	h := install.Hook{Host: hook.Claude, Program: "/b/sidecoach"}
	_, err := write(h, file)
	var wrong *failure
	require.ErrorAs(t, err, &wrong)
	assert.Contains(t, wrong.what, "permission denied")
	assert.Contains(t, wrong.hint, "its permissions")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1)
}
