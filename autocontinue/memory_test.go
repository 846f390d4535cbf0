package autocontinue_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/storetest"
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
