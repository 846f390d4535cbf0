package autocontinue_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/storetest"
	"github.com/sidecoach/sidecoach/classify"
)

func TestMemoryStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) autocontinue.Store { return autocontinue.NewMemoryStore(0) })
}

func TestZeroMemoryStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) autocontinue.Store { return new(autocontinue.MemoryStore) })
}

func add(t *testing.T, m *autocontinue.MemoryStore, session string) {
	t.Helper()
	require.NoError(t, m.Update(t.Context(), session, func(s autocontinue.State) (autocontinue.State, error) {
		s.Seq++
		return s, nil
	}))
}

func knows(t *testing.T, m *autocontinue.MemoryStore, session string) bool {
	t.Helper()
	s, err := m.Load(t.Context(), session)
	require.NoError(t, err)
	return s.Seq > 0
}

func TestMemoryStoreForgetsTheLeastRecentlyUsed(t *testing.T) {
	m := autocontinue.NewMemoryStore(3)
	for i := range 3 {
		add(t, m, fmt.Sprint(i))
	}
	knows(t, m, "0") // loading is using
	add(t, m, "1")
	add(t, m, "3")
	assert.Equal(t, 3, m.Len())
	assert.False(t, knows(t, m, "2"))
	for i := range 1000 {
		require.True(t, knows(t, m, "0"), "in use")
		add(t, m, fmt.Sprint("other", i))
	}
	assert.Equal(t, 3, m.Len())
	assert.False(t, knows(t, m, "1"))

	one := autocontinue.NewMemoryStore(1)
	for _, session := range []string{"a", "b", "b", "a"} {
		add(t, one, session)
		assert.True(t, knows(t, one, session))
		assert.Equal(t, 1, one.Len())
	}
	assert.False(t, knows(t, one, "b"))
}

func TestMemoryStoreKeepsNothingOfWhatItDoesNotKnow(t *testing.T) {
	m := autocontinue.NewMemoryStore(0)
	assert.False(t, knows(t, m, "a"))
	err := m.Update(t.Context(), "b", func(autocontinue.State) (autocontinue.State, error) {
		return autocontinue.State{}, errors.New("no")
	})
	require.Error(t, err)
	assert.Zero(t, m.Len())
}

// The session is forgotten while it is updated: the update starts again, with a state that is unknown.
func TestMemoryStoreUpdateOfASessionForgottenMeanwhile(t *testing.T) {
	m := autocontinue.NewMemoryStore(1)
	add(t, m, "a")
	var saw []int
	require.NoError(t, m.Update(t.Context(), "a", func(s autocontinue.State) (autocontinue.State, error) {
		saw = append(saw, s.Seq)
		if len(saw) == 1 {
			add(t, m, "b")
		}
		s.Seq = 10
		return s, nil
	}))
	assert.Equal(t, []int{1, 0}, saw)
}

func TestMemoryStoreIsLean(t *testing.T) {
	const sessions = 5000
	heap := func() uint64 {
		var ms runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&ms)
		return ms.HeapAlloc
	}
	m := autocontinue.NewMemoryStore(0)
	claim := classify.Result{Type: classify.Status, Confidence: 1, WasRejectedCompletion: true}
	before := heap()
	for i := range sessions { // a turn each: three continuations, then something for the human
		for n := range 4 {
			require.NoError(t, m.Update(t.Context(), fmt.Sprint("session ", i), func(s autocontinue.State) (autocontinue.State, error) {
				r := claim
				if n > 0 {
					r.WasRejectedCompletion = false
				}
				name := fmt.Sprint(i, "/", n)
				_, s = autocontinue.Decide(autocontinue.Policy{}, s, autocontinue.Facts{
					Output: autocontinue.Output{Session: name, Turn: "t", Run: name, ID: name, Text: fmt.Sprint("step ", n)}, Result: r,
				})
				return s, nil
			}))
		}
	}
	each := int(heap()-before) / sessions
	t.Logf("%d bytes a session", each)
	assert.Less(t, each, 2<<10)
	runtime.KeepAlive(m)
}
