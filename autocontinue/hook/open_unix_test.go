//go:build unix

package hook

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTranscriptsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(pipe, filepath.Join(dir, "link-to-pipe")))
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "blank"), []byte("\n \n\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prose"), []byte("Fixed.\n"), 0o600))
	for name, path := range map[string]Field[string]{
		"absent":          {},
		"null":            {Is: Null},
		"empty name":      Value(""),
		"missing":         Value(filepath.Join(dir, "missing")),
		"directory":       Value(dir),
		"pipe":            Value(pipe),
		"link to a pipe":  Value(filepath.Join(dir, "link-to-pipe")),
		"link to itself":  Value(filepath.Join(dir, "loop")),
		"device":          Value("/dev/zero"),
		"empty":           Value(filepath.Join(dir, "empty")),
		"blank":           Value(filepath.Join(dir, "blank")),
		"prose":           Value(filepath.Join(dir, "prose")),
		"zero byte":       Value("/tmp/a\x00b"),
		"relative":        Value("transcript.jsonl"),
		"below a file":    Value(filepath.Join(dir, "empty", "x")),
		"name too long":   Value("/" + strings.Repeat("x", 5000)),
		"somebody's home": Value("~root/x"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, host := range Hosts() {
				e := Event{Host: host, Kind: Stop, Session: "s", Transcript: path}
				tr := e.Look(Memory{})
				require.Error(t, tr.Err)
				require.NotContains(t, tr.Err.Error(), dir, "an error names no path")
				require.Equal(t, Trace{Err: tr.Err}, tr)
			}
		})
	}
}

func TestTranscriptsBehindLinks(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	line := `{"type":"user","uuid":"u","message":{"role":"user","content":"Fix it."}}` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "real.jsonl"), []byte(line), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(home, "real.jsonl"), filepath.Join(home, "link.jsonl")))
	for _, path := range []string{filepath.Join(home, "link.jsonl"), "~/real.jsonl", "link.jsonl"} {
		e := Event{Host: Claude, Kind: Stop, Session: "s", Transcript: Value(path), WorkDir: Value(home)}
		tr := e.Look(Memory{})
		require.NoError(t, tr.Err, path)
		require.Equal(t, "Fix it.", tr.Request, path)
	}
}
