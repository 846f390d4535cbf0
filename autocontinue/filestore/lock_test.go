package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// holding runs do while another store, as another process would, has the session locked.
func holding(t *testing.T, s *filestore.Store, session string, do func()) {
	t.Helper()
	require.NoError(
		t,
		other(t, s, filestore.Options{}).Update(t.Context(), session, func(s autocontinue.State) (autocontinue.State, error) {
			do()
			return increment(s)
		}),
	)
}

func TestLocked(t *testing.T) {
	s := newStore(t, filestore.Options{LockTimeout: 20 * time.Millisecond})
	called := func(s autocontinue.State) (autocontinue.State, error) {
		t.Error("called without the lock")
		return s, nil
	}
	holding(t, s, "s", func() {
		err := s.Update(t.Context(), "s", called)
		require.ErrorIs(t, err, autocontinue.ErrConflict)
		require.ErrorIs(t, err, autocontinue.ErrConflict)
		assert.NotErrorIs(t, err, autocontinue.ErrUnavailable)
		assert.NotErrorIs(t, err, context.DeadlineExceeded, "the caller had time")
		assert.ErrorContains(t, err, filepath.Join(s.Dir(), "locks"))
		assert.Zero(t, seqOf(t, s, "s"), "reading needs no lock")
		require.NoError(t, s.Update(t.Context(), "another session", increment))
	})
	assert.Equal(t, 1, seqOf(t, s, "s"))
}

func TestContextWhileWaiting(t *testing.T) {
	s := newStore(t, filestore.Options{LockTimeout: time.Hour})
	holding(t, s, "s", func() {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := s.Update(ctx, "s", increment)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, autocontinue.ErrConflict)
	})
	// Goroutines of one store wait for each other, before they ask the system.
	require.NoError(t, s.Update(t.Context(), "s", func(st autocontinue.State) (autocontinue.State, error) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, s.Update(ctx, "s", increment), context.Canceled) })
		cancel()
		wg.Wait()
		return increment(st)
	}))
	assert.Equal(t, 2, seqOf(t, s, "s"))
}

func TestLocksAreGivenBack(t *testing.T) {
	s := newStore(t, filestore.Options{LockTimeout: 50 * time.Millisecond})
	boom := errors.New("boom")
	require.ErrorIs(t,
		s.Update(t.Context(), "s", func(st autocontinue.State) (autocontinue.State, error) { return st, boom }), boom)
	require.NoError(t, s.Update(t.Context(), "s", increment))
	require.PanicsWithValue(t, "boom", func() {
		s.Update(t.Context(), "s", func(autocontinue.State) (autocontinue.State, error) { panic("boom") })
	})
	require.NoError(t, s.Update(t.Context(), "s", increment), "after a panic")
	require.NoError(t,
		other(t, s, filestore.Options{LockTimeout: 50 * time.Millisecond}).Update(t.Context(), "s", increment))
	assert.Equal(t, 3, seqOf(t, s, "s"))
}

// However many sessions there are, there are few locks, and none that is there keeps anybody out.
func TestLocksAreFew(t *testing.T) {
	s := newStore(t, filestore.Options{NoSync: true})
	for i := range 200 {
		require.NoError(t, s.Update(t.Context(), fmt.Sprint(i), increment))
	}
	names, err := filepath.Glob(filepath.Join(s.Dir(), "locks", "*"))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(names), 64)
	assert.Greater(t, len(names), 40)
	for _, name := range names {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Zero(t, info.Size())
	}
}
