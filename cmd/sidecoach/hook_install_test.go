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

// The names that people read, and what a host must be told, are there for each host that there is.
func TestHostsAreNamed(t *testing.T) {
	for _, h := range hook.Hosts() {
		assert.NotEqual(t, string(h), h.Product())
	}
	require.NotEmpty(t, trust(install.Hook{Host: hook.Codex}))
}
