package filestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

func sessionFiles(t testing.TB, s *filestore.Store) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.Dir(), "sessions", "*"))
	require.NoError(t, err)
	return names
}

func age(t testing.TB, path string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	require.NoError(t, os.Chtimes(path, then, then))
}

func TestManySessions(t *testing.T) {
	s := newStore(t, filestore.Options{MaxFiles: 10})
	for i := range 30 {
		name := fmt.Sprint(i)
		require.NoError(t, s.Update(t.Context(), name, increment))
		assert.LessOrEqual(t, len(sessionFiles(t, s)), 10)
		assert.Equal(t, 1, seqOf(t, s, name), "the new one stays")
		for _, path := range sessionFiles(t, s) {
			age(t, path, time.Duration(30-i)*time.Minute) // those that were there before are as old as the newest
		}
	}
	assert.Len(t, sessionFiles(t, s), 10)
}

// The sessions that nobody used for longest go first.
func TestTheOldestGoFirst(t *testing.T) {
	s := newStore(t, filestore.Options{MaxFiles: 5})
	for i := range 5 {
		before := sessionFiles(t, s)
		require.NoError(t, s.Update(t.Context(), fmt.Sprint(i), increment))
		for _, path := range sessionFiles(t, s) {
			if !slices.Contains(before, path) {
				age(t, path, time.Duration(5-i)*time.Hour)
			}
		}
	}
	require.NoError(t, s.Update(t.Context(), "0", increment)) // used again
	require.NoError(t, s.Update(t.Context(), "new", increment))
	for name, want := range map[string]int{"0": 2, "1": 0, "2": 1, "3": 1, "4": 1, "new": 1} {
		assert.Equal(t, want, seqOf(t, s, name), name)
	}
}

func TestOldSessions(t *testing.T) {
	s := newStore(t, filestore.Options{MaxAge: time.Hour})
	for i := range 10 {
		require.NoError(t, s.Update(t.Context(), fmt.Sprint("old ", i), increment))
	}
	for _, path := range sessionFiles(t, s) {
		age(t, path, 2*time.Hour)
	}
	require.NoError(t, s.Update(t.Context(), "young", increment))
	assert.Len(t, sessionFiles(t, s), 7, "four at a time")
	require.NoError(t, s.Update(t.Context(), "young", increment))
	assert.Len(t, sessionFiles(t, s), 7, "only a new file makes room")
	for i := range 3 {
		require.NoError(t, s.Update(t.Context(), fmt.Sprint("new ", i), increment))
	}
	assert.Len(t, sessionFiles(t, s), 4)
	assert.Equal(t, 2, seqOf(t, s, "young"))
}

// Temporary files of processes that were killed go sooner; what is not ours stays.
func TestLeftoversOfOthers(t *testing.T) {
	s := newStore(t, filestore.Options{})
	require.NoError(t, s.Update(t.Context(), "a", increment))
	dir := filepath.Join(s.Dir(), "sessions")
	old, young := strings.Repeat("0", 32)+".tmp", strings.Repeat("1", 32)+".tmp"
	hexa := strings.Repeat("2", 31)
	foreign := []string{"notes.txt", hexa + ".tmp", hexa + "22.tmp", hexa + "A.tmp", hexa + "2.tmp.tmp", hexa + "2tmp", hexa + "2.txt"}
	for _, name := range append(foreign, old, young) {
		write(t, filepath.Join(dir, name), []byte("x"))
	}
	age(t, filepath.Join(dir, old), 2*time.Hour)
	for _, name := range foreign {
		age(t, filepath.Join(dir, name), 1000*time.Hour)
	}
	require.NoError(t, s.Update(t.Context(), "b", increment))
	assert.NoFileExists(t, filepath.Join(dir, old))
	assert.FileExists(t, filepath.Join(dir, young))
	for _, name := range foreign {
		assert.FileExists(t, filepath.Join(dir, name))
	}
}

// A session that somebody has locked is not removed, however old it is.
func TestLockedSessionsStay(t *testing.T) {
	s := newStore(t, filestore.Options{MaxFiles: 1, MaxAge: time.Hour})
	require.NoError(t, s.Update(t.Context(), "busy", increment))
	path := onlyFile(t, s, "sessions")
	age(t, path, 1000*time.Hour)
	holding(t, s, "busy", func() {
		for i := range 5 {
			require.NoError(t, s.Update(t.Context(), fmt.Sprint("new ", i), increment))
			assert.FileExists(t, path)
		}
	})
	assert.Equal(t, 2, seqOf(t, s, "busy"))
	age(t, path, 1000*time.Hour)
	require.NoError(t, s.Update(t.Context(), "the last", increment))
	assert.NoFileExists(t, path)
}

// Kinds are bounded each by itself.
func TestKindsAreBoundedApart(t *testing.T) {
	s := newStore(t, filestore.Options{MaxFiles: 2})
	require.NoError(t, s.Update(t.Context(), "s", increment))
	for i := range 5 {
		d, err := filestore.NewDocument[int](s, "note", fmt.Sprint(i))
		require.NoError(t, err)
		require.NoError(t, d.Update(t.Context(), func(n int) (int, error) { return n + 1, nil }))
	}
	notes, err := filepath.Glob(filepath.Join(s.Dir(), "note", "*"))
	require.NoError(t, err)
	assert.Len(t, notes, 2)
	assert.Equal(t, 1, seqOf(t, s, "s"))
}
