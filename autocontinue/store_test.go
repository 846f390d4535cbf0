package autocontinue_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/storetest"
	"github.com/sidecoach/sidecoach/classify"
)

func TestMemoryStore(t *testing.T) {
	for name, open := range map[string]func(*testing.T) autocontinue.Store{
		"new":  func(*testing.T) autocontinue.Store { return autocontinue.NewMemoryStore(0) },
		"zero": func(*testing.T) autocontinue.Store { return new(autocontinue.MemoryStore) },
	} {
		t.Run(name, func(t *testing.T) { storetest.Run(t, open) })
	}
}

func add(t *testing.T, m *autocontinue.MemoryStore, session string) error {
	t.Helper()
	return m.Update(t.Context(), session, func(s autocontinue.State) (autocontinue.State, error) {
		s.Seq++
		return s, nil
	})
}

func knows(t *testing.T, m *autocontinue.MemoryStore, session string) bool {
	t.Helper()
	s, err := m.Load(t.Context(), session)
	require.NoError(t, err)
	return s.Seq > 0
}

// A full store forgets what was unused for a day, the session that was used longest ago first. A session in use stays.
func TestMemoryStoreForgetsUnusedSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := autocontinue.NewMemoryStore(3)
		for i := range 3 {
			require.NoError(t, add(t, m, fmt.Sprint(i)))
			time.Sleep(time.Minute) // of the bubble's clock
		}
		require.ErrorIs(t, add(t, m, "new"), autocontinue.ErrUnavailable)
		require.NoError(t, add(t, m, "1"), "a known session is never refused")

		time.Sleep(24*time.Hour - 4*time.Minute)
		assert.True(t, knows(t, m, "0"), "loading is using")
		time.Sleep(3*time.Minute + 30*time.Second)
		require.NoError(t, add(t, m, "new"))
		assert.False(t, knows(t, m, "2"), "it was unused for longest")
		require.ErrorIs(t, add(t, m, "newer"), autocontinue.ErrUnavailable)
		for _, session := range []string{"0", "1", "new"} {
			assert.True(t, knows(t, m, session), session)
		}
	})
}

func TestMemoryStoreKeepsNothingOfWhatItDoesNotKnow(t *testing.T) {
	m := autocontinue.NewMemoryStore(1)
	assert.False(t, knows(t, m, "a"))
	err := m.Update(t.Context(), "b", func(autocontinue.State) (autocontinue.State, error) {
		return autocontinue.State{}, errors.New("no")
	})
	require.Error(t, err)
	require.NoError(t, add(t, m, "there is room"))
}

// 10,000 sessions of four turns, each continued up to the cap with messages of a real length, take at most 64 MB.
func TestSessionsAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	heap := func() uint64 {
		var ms runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&ms)
		return ms.HeapAlloc
	}
	const sessions, measured = 10_000, 100
	store := autocontinue.NewMemoryStore(0)
	rejected := classify.Result{Type: classify.Status, Confidence: 1, WasRejectedCompletion: true}
	rejected.Signals = []classify.Signal{{Kind: classify.SignalClaim, Name: "tests", End: 20, Weight: 1}}
	var before uint64
	for i := range 1 + measured {
		if i == 1 { // what the first one makes is shared by all
			before = heap()
		}
		session := fmt.Sprintf("5f0f4e7a-3c1b-4d53-9d2e-%012d", i)
		require.NoError(t, store.Update(t.Context(), session, func(s autocontinue.State) (autocontinue.State, error) {
			for n := range 16 {
				id := fmt.Sprintf("0b4f7c52-6f7d-4a0a-9d7e-%012d", n)
				_, s = autocontinue.Decide(
					autocontinue.Policy{},
					s,
					autocontinue.Facts{Result: rejected, Output: autocontinue.Output{
						Session: session, Turn: fmt.Sprint(n / 4), Run: id, ID: id,
						Text: "All the tests pass now, and the parser is fixed. " + id,
					}},
				)
			}
			return s, nil
		}))
	}
	each := (heap() - before) / measured
	runtime.KeepAlive(store)
	t.Logf("%d bytes a session", each)
	assert.Less(t, each*sessions, uint64(64<<20))
}
