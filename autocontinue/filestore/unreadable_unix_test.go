//go:build unix

package filestore_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// To open a named pipe is to wait for its other end.
func TestNamedPipesDoNotBlock(t *testing.T) {
	var moved collector
	s := newStore(t, filestore.Options{OnSetAside: moved.add})
	require.NoError(t, s.Update(t.Context(), "s", increment))
	path := onlyFile(t, s, "sessions")
	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	assert.Zero(t, seqOf(t, s, "s"))
	require.NoError(t, s.Update(t.Context(), "s", increment))
	assert.Equal(t, 1, seqOf(t, s, "s"))

	file := filepath.Join(s.Dir(), "journal.jsonl")
	require.NoError(t, syscall.Mkfifo(file, 0o600))
	for _, err := range filestore.ReadJournal(t.Context(), s.Dir(), 0) {
		require.ErrorIs(t, err, autocontinue.ErrUnavailable)
	}
	require.NoError(t, journal(s, `{}`))
	require.Len(t, moved.list, 2)
	assert.Contains(t, moved.list[1], "journal: "+file+" could not be read (it is not a regular file)")
}
