//go:build unix

package filestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// holdJournal locks the journal as another process would, until the returned function is called.
func holdJournal(t *testing.T, s *filestore.Store) (release func()) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(s.Dir(), "locks", "journal"), os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	return func() { f.Close() }
}

// A lock that another process holds for a long time costs 100 ms and no line.
func TestJournalIsLocked(t *testing.T) {
	s := newStore(t, filestore.Options{LockTimeout: time.Hour})
	appendLine(t, s, `{"n":0}`)
	release := holdJournal(t, s)
	for i := range 3 {
		appendLine(t, s, fmt.Sprintf(`{"n":%d}`, i+1))
	}
	want := []string{`{"n":0}`, `{"n":1}`, `{"n":2}`, `{"n":3}`}
	assert.Equal(t, want, linesOf(t, s.Dir()), "read while the lock is held")

	late := filepath.Join(s.Dir(), "journal-late")
	write(t, filepath.Join(late, "0-half.jsonl"), []byte(`{"n":`)) // being written
	require.NoError(t, os.Mkdir(filepath.Join(late, "0-folder"), 0o700))
	assert.Equal(t, want, linesOf(t, s.Dir()))
	release()
	appendLine(t, s, `{"n":4}`)
	assert.Equal(t, append(want, `{"n":4}`), linesOf(t, s.Dir()), "moved into the journal, in order")
	names, err := os.ReadDir(late)
	require.NoError(t, err)
	assert.Len(t, names, 2)
}

func TestLateLinesAreBounded(t *testing.T) {
	s := newStore(t, filestore.Options{LockTimeout: time.Millisecond})
	appendLine(t, s, `{}`)
	defer holdJournal(t, s)()
	for range 1000 {
		appendLine(t, s, `{}`)
	}
	require.ErrorIs(t, s.Journal().Append(t.Context(), []byte(`{}`)), filestore.ErrLocked)
	assert.Len(t, linesOf(t, s.Dir()), 1001)
}
