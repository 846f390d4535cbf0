//go:build unix

package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A path that is not a transcript's is an error, which names no path. Nothing waits for a pipe.
func TestPathsThatAreNotTranscripts(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, syscall.Mkfifo(in("pipe"), 0o600))
	require.NoError(t, os.Symlink(in("pipe"), in("link-to-pipe")))
	require.NoError(t, os.Symlink("loop", in("loop")))
	for name, text := range map[string]string{"empty": "", "blank": "\n \n\n", "prose": "Fixed.\n"} {
		require.NoError(t, os.WriteFile(in(name), []byte(text), 0o600))
	}
	for _, path := range []string{
		"", in("missing"), dir, in("pipe"), in("link-to-pipe"), in("loop"), "/dev/zero", in("empty"), in("blank"),
		in("prose"), "/tmp/a\x00b", "relative.jsonl", in("empty/x"), "/" + strings.Repeat("x", 5000), "~root/x",
	} {
		for _, format := range formats {
			tr := new(State).look(t.Context(), Source{Format: format, Path: path})
			require.Error(t, tr.Err, path)
			require.NotContains(t, tr.Err.Error(), dir)
			require.Equal(t, Trace{Err: tr.Err}, tr)
		}
	}
}

func TestPathsBehindLinks(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "real.jsonl"), []byte(claudeAsks("Fix it.")+"\n"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(home, "real.jsonl"), filepath.Join(home, "link.jsonl")))
	for _, path := range []string{filepath.Join(home, "link.jsonl"), "link.jsonl"} {
		tr := new(State).look(t.Context(), Source{Format: claude, Path: path, Dir: home})
		require.NoError(t, tr.Err, path)
		require.Equal(t, "Fix it.", tr.Request, path)
	}
}
