package gowitness

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module makes a module of the given files and returns its folder. Each file is "-- name --" and its text.
func module(t *testing.T, files string) string {
	t.Helper()
	dir := t.TempDir()
	version := strings.TrimPrefix(runtime.Version(), "go")
	if i := strings.IndexFunc(version, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); i >= 0 {
		version = version[:i]
	}
	require.NoError(t,
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/m\n\ngo "+version+"\n"), 0o600))
	for _, part := range strings.Split("\n"+files, "\n-- ")[1:] {
		name, text, ok := strings.Cut(part, " --\n")
		require.True(t, ok, "%q", part)
		full := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
		require.NoError(t, os.WriteFile(full, []byte(text+"\n"), 0o600))
	}
	return dir
}
