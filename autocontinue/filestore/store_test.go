package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/storetest"
)

func TestStore(t *testing.T) {
	for name, unsynced := range map[string]bool{"synced": false, "not synced": true} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) autocontinue.Store {
				return newStore(
					t,
					filestore.Options{NoSync: unsynced, OnSetAside: func(_, what string) { t.Error(what) }},
				)
			})
		})
	}
}

func TestNew(t *testing.T) {
	_, err := filestore.New("", filestore.Options{})
	require.ErrorContains(t, err, "no folder")
	for _, opts := range []filestore.Options{{LockTimeout: -1}, {MaxAge: -1}, {JournalSize: -1}} {
		_, err := filestore.New("x", opts)
		require.ErrorContains(t, err, "below zero")
	}
	t.Chdir(t.TempDir())
	s, err := filestore.New("state", filestore.Options{})
	require.NoError(t, err)
	assert.True(t, filepath.IsAbs(s.Dir()))
	t.Chdir(t.TempDir())
	require.NoError(t, s.Update(t.Context(), "s", increment))
	assert.NoDirExists(t, "state", "the folder does not move with the working directory")
	assert.Equal(t, 1, seqOf(t, s, "s"))
}

func TestNothingIsTouchedUntilSomethingIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s, err := filestore.New(dir, filestore.Options{})
	require.NoError(t, err)
	assert.Zero(t, seqOf(t, s, "s"))
	for _, err := range filestore.ReadJournal(t.Context(), dir, 0) {
		require.NoError(t, err)
	}
	assert.NoDirExists(t, dir)
	require.NoError(t, s.Update(t.Context(), "s", increment))
	require.NoError(t, os.RemoveAll(dir))
	assert.Zero(t, seqOf(t, s, "s"))
	require.NoError(t, s.Update(t.Context(), "s", increment), "a folder that is gone is made again")
	assert.Equal(t, 1, seqOf(t, s, "s"))
}

func TestHostsAreApart(t *testing.T) {
	a := newStore(t, filestore.Options{Host: "claude"})
	b := other(t, a, filestore.Options{Host: "codex"})
	require.NoError(t, a.Update(t.Context(), "s", increment))
	assert.Equal(t, 1, seqOf(t, a, "s"))
	assert.Zero(t, seqOf(t, b, "s"))
	assert.Zero(t, seqOf(t, other(t, a, filestore.Options{Host: "claud"}), "es"), "where a name ends matters")
}

func TestEmptySession(t *testing.T) {
	s := newStore(t, filestore.Options{})
	_, err := s.Load(t.Context(), "")
	require.ErrorIs(t, err, autocontinue.ErrNoSession)
	require.ErrorIs(t, s.Update(t.Context(), "", increment), autocontinue.ErrNoSession)
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are Unix's")
	}
	s, err := filestore.New(filepath.Join(t.TempDir(), "new", "state"), filestore.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Update(t.Context(), "s", increment))
	require.NoError(t, journal(s, "{}"))
	files := 0
	require.NoError(t, filepath.WalkDir(filepath.Dir(s.Dir()), func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		} else {
			files++
		}
		assert.Equal(t, want, info.Mode().Perm(), path)
		return nil
	}))
	assert.Equal(t, 3, files, "session, its lock, journal")

	require.NoError(t, os.Chmod(s.Dir(), 0o777))
	err = s.Update(t.Context(), "s", increment)
	require.ErrorIs(t, err, autocontinue.ErrUnavailable)
	assert.ErrorContains(t, err, "everybody may write to it")
	_, err = s.Load(t.Context(), "s")
	require.ErrorIs(t, err, autocontinue.ErrUnavailable)
	require.ErrorIs(t, journal(s, "{}"), autocontinue.ErrUnavailable)
}

// A value that could not be read back is not written.
func TestTooLarge(t *testing.T) {
	s := newStore(t, filestore.Options{})
	d, err := filestore.NewDocument[string](s, "note", "n")
	require.NoError(t, err)
	require.NoError(t, d.Update(t.Context(), func(string) (string, error) { return "small", nil }))
	err = d.Update(t.Context(), func(string) (string, error) { return string(make([]byte, 1<<20)), nil })
	require.ErrorIs(t, err, filestore.ErrTooLarge)
	got, err := d.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "small", got)
}

func TestDocument(t *testing.T) {
	type breaker struct {
		Failed int       `json:"failed"`
		Until  time.Time `json:"until,omitzero"`
	}
	s := newStore(t, filestore.Options{Host: "claude"})
	until := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, name := range []string{"http://localhost/v1", "http://localhost/v2", "\xff\x00"} {
		d, err := filestore.NewDocument[breaker](s, "judge", name)
		require.NoError(t, err)
		v, err := d.Load(t.Context())
		require.NoError(t, err)
		assert.Zero(t, v, name)
		for i := range 3 {
			require.NoError(t, d.Update(t.Context(), func(b breaker) (breaker, error) {
				assert.Equal(t, i, b.Failed)
				return breaker{b.Failed + 1, until}, nil
			}))
		}
		other, err := filestore.NewDocument[breaker](other(t, s, filestore.Options{Host: "codex"}), "judge", name)
		require.NoError(t, err)
		v, err = other.Load(t.Context())
		require.NoError(t, err)
		assert.Equal(t, breaker{3, until}, v, "documents are shared by hosts")
	}
	boom := errors.New("boom")
	d, err := filestore.NewDocument[breaker](s, "judge", "x")
	require.NoError(t, err)
	require.ErrorIs(t, d.Update(t.Context(), func(b breaker) (breaker, error) { return b, boom }), boom)

	for _, kind := range []string{"", "sessions", "locks", "aside", "../up", "a/b", "Upper", "1", "journal.jsonl"} {
		_, err := filestore.NewDocument[int](s, kind, "n")
		assert.Error(t, err, kind)
	}
	_, err = filestore.NewDocument[int](s, "judge", "")
	assert.Error(t, err)
}

func TestNoContextNoWrite(t *testing.T) {
	s := newStore(t, filestore.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(ctx, "s", func(s autocontinue.State) (autocontinue.State, error) {
		cancel()
		return increment(s)
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, seqOf(t, s, "s"))
}

// onlyFile returns the path of the only file in a folder of the store.
func onlyFile(t testing.TB, s *filestore.Store, folder string) string {
	t.Helper()
	pattern := "*"
	if folder == "sessions" {
		pattern = "*/*"
	}
	names, err := filepath.Glob(filepath.Join(s.Dir(), folder, pattern))
	require.NoError(t, err)
	require.Len(t, names, 1)
	return names[0]
}

func Example() {
	dir, err := os.MkdirTemp("", "sidecoach")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := filestore.New(dir, filestore.Options{
		Host:       "my-agent",
		OnSetAside: func(_, what string) { fmt.Println(what) },
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for range 2 { // each in a process of its own
		if err := store.Update(ctx, "chat 7", func(s autocontinue.State) (autocontinue.State, error) {
			s.Continues++
			return s, nil
		}); errors.Is(err, autocontinue.ErrUnavailable) || errors.Is(err, autocontinue.ErrConflict) {
			fmt.Println("let the agent stop:", err)
		}
	}
	s, err := store.Load(ctx, "chat 7")
	fmt.Println(s.Continues, err)
	// Output: 2 <nil>
}

func ExampleNewDocument() {
	dir, err := os.MkdirTemp("", "sidecoach")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := filestore.New(dir, filestore.Options{})
	if err != nil {
		panic(err)
	}
	type judge struct{ Failed int }
	d, err := filestore.NewDocument[judge](store, "judge", "http://localhost:11434/v1")
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	err = d.Update(ctx, func(j judge) (judge, error) {
		j.Failed++
		return j, nil
	})
	v, err2 := d.Load(ctx)
	fmt.Println(v.Failed, err, err2)
	// Output: 1 <nil> <nil>
}
