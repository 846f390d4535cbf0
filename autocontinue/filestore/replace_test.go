package filestore_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new")
	require.NoError(t, filestore.WriteFile(path, []byte("one"), 0o600))
	if info, err := os.Stat(path); runtime.GOOS != "windows" {
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "a new file has these permissions")
	}
	require.NoError(t, os.Chmod(path, 0o640))
	linked := filepath.Join(dir, "link")
	link(t, "new", linked)
	require.NoError(t, filestore.WriteFile(linked, []byte("two"), 0o600))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "two", string(got), "the file behind the link is replaced")
	info, err := os.Lstat(linked)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&fs.ModeSymlink, "the link stays")
	if runtime.GOOS != "windows" {
		info, err = os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "an existing file gets no more than asked for")
		require.NoError(t, filestore.WriteFile(path, []byte("three"), 0o666))
		info, err = os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "an existing file keeps its permissions")
		require.NoError(t, filestore.WriteFile(os.DevNull, []byte("x"), 0o600), "not a regular file")
	}
	require.Error(t, filestore.WriteFile(dir, []byte(""), 0o600))
	require.Error(t, filestore.WriteFile(filepath.Join(dir, "missing", "file"), []byte(""), 0o600))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "nothing is left behind")
}

// A link to a file that does not exist yet stays a link, and its file is made.
func TestCreateBehindALinkToNothing(t *testing.T) {
	dir := t.TempDir()
	for name, target := range map[string]string{
		"relative": "made", "absolute": filepath.Join(dir, "made2"), "chain": "next",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	require.NoError(t, os.Symlink("made3", filepath.Join(dir, "next")))
	for name, made := range map[string]string{"relative": "made", "absolute": "made2", "chain": "made3"} {
		require.NoError(t, filestore.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
		info, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.NotZero(t, info.Mode()&fs.ModeSymlink, name)
		text, err := os.ReadFile(filepath.Join(dir, made))
		require.NoError(t, err)
		assert.Equal(t, name, string(text))
	}
}
