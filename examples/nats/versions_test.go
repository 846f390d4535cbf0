package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nextVersion builds this program with a library whose states have one more field, and so are of the next version.
func nextVersion(t *testing.T) string {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("..", "..", "autocontinue", "state.go"))
	require.NoError(t, err)
	code, err := os.ReadFile(source)
	require.NoError(t, err)
	changed := string(code)
	for _, c := range [][2]string{
		{"const stateVersion = ", "const stateVersion = 1 + "},
		{"j.Version < stateVersion:", "j.Version < stateVersion-1:"},
		{"type stateJSON struct {\n", "type stateJSON struct {\n\tLater string `json:\"later\"`\n"},
		{"stateJSON{stateVersion,", "stateJSON{\"kept\", stateVersion,"},
	} {
		require.Equal(t, 1, strings.Count(changed, c[0]), "the library has changed; this test follows it: %q", c[0])
		changed = strings.Replace(changed, c[0], c[1], 1)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "state.go")
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: file}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	program := filepath.Join(dir, "nats-next.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-overlay",
		filepath.Join(dir, "overlay.json"), "-o", program, ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// While workers are replaced one by one, those of both versions have the same sessions. The older ones hand back what
// the newer ones have written, and nobody sees a difference.
func TestTwoVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another version")
	}
	d := demo()
	d.with = nextVersion(t)
	ctx, cancel := context.WithTimeout(t.Context(), d.limit)
	defer cancel()
	p, err := d.pass(ctx, d.workers, partitions)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, p.report(&out))
	t.Log(out.String())
	p.mixed = false
	require.NoError(t, p.verdict(), "both judge alike")
	assert.Zero(t, p.ended, "by themselves")
	handedBack := 0
	for _, e := range p.journal {
		assert.False(t, e.Shown, "a newer worker was there to decide: %s", e.Error)
		if e.Error != "" {
			handedBack++
			assert.Contains(t, e.Error, "state of a newer version: ")
		}
	}
	assert.Positive(t, handedBack, "the older workers met the newer ones' states")
}
