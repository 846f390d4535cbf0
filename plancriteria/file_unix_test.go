//go:build unix

package plancriteria_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/plancriteria"
)

// TestExtractFilePipe would wait for ever if the pipe, which nobody writes to, were opened.
func TestExtractFilePipe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600))
	require.NoError(t, os.Symlink("pipe.md", filepath.Join(dir, "link.md")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	for _, name := range []string{"pipe.md", "link.md"} {
		_, err = plancriteria.ExtractFile(root.FS(), name)
		require.ErrorIs(t, err, fs.ErrInvalid)
		_, err = plancriteria.ExtractFile(os.DirFS(dir), name)
		require.ErrorIs(t, err, fs.ErrInvalid)
	}
}
