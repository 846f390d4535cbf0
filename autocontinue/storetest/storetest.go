// Package storetest checks that an [autocontinue.Store] does what its contract says. In a test of the store:
//
//	storetest.Run(t, func(t *testing.T) autocontinue.Store { return mystore.Open(t.TempDir()) })
//
// # Limits
//
// It sees one process. That updates from several processes are atomic, and that a state survives a crash while it is
// written, is for the store's own tests.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// Run runs every check as a subtest. Open returns a new store without sessions each time; it cleans up through t.
func Run(t *testing.T, open func(t *testing.T) autocontinue.Store) {
	t.Run("unknown session", func(t *testing.T) { unknownSession(t, open(t)) })
	t.Run("round trip", func(t *testing.T) { roundTrip(t, open(t)) })
	t.Run("sessions are apart", func(t *testing.T) { sessionsAreApart(t, open(t)) })
	t.Run("an error aborts", func(t *testing.T) { errorAborts(t, open(t)) })
	t.Run("a done context", func(t *testing.T) { doneContext(t, open(t)) })
	t.Run("a context done meanwhile", func(t *testing.T) { contextDoneMeanwhile(t, open(t)) })
	t.Run("updates are atomic", func(t *testing.T) { updatesAreAtomic(t, open(t)) })
}

func unknownSession(t *testing.T, s autocontinue.Store) {
	require.NoError(t, s.Update(t.Context(), "new", func(old autocontinue.State) (autocontinue.State, error) {
		wantEqual(t, autocontinue.State{}, old)
		return count(old)
	}))
	wantState(t, s, "new", autocontinue.State{Seq: 1})
	wantState(t, s, "unknown", autocontinue.State{})
}

func roundTrip(t *testing.T, s autocontinue.Store) {
	for _, state := range []autocontinue.State{
		{Seq: 1 << 40, Resets: 3, Continues: 2, HandedOver: true}, autocontinue.State{}.Reset(), busy(),
	} {
		for range 2 { // new, then overwriting
			set(t, s, "session", state)
			wantState(t, s, "session", state)
		}
		require.NoError(t, s.Update(t.Context(), "session", func(old autocontinue.State) (autocontinue.State, error) {
			wantEqual(t, state, old)
			return autocontinue.State{}, nil
		}))
		wantState(t, s, "session", autocontinue.State{})
	}
}

func sessionsAreApart(t *testing.T, s autocontinue.Store) {
	names := []string{
		"a", "A", "a ", " a", "ab", "a/b", "a\\b", "../a", "/a", ".", "..", "a.json", "a\x00b", "a\nb", "a%2Fb", "ä",
		"a\u0308", "\xff", "\xfe", "\U0001F642", "con", "*", "-", strings.Repeat("x", 300), strings.Repeat("x", 301),
	}
	for i, name := range names {
		set(t, s, name, autocontinue.State{Seq: i + 1})
	}
	for i, name := range names {
		wantState(t, s, name, autocontinue.State{Seq: i + 1})
	}
}

func errorAborts(t *testing.T, s autocontinue.Store) {
	boom := errors.New("boom")
	fail := func(old autocontinue.State) (autocontinue.State, error) {
		old.Seq = 99
		return old, boom
	}
	set(t, s, "old", autocontinue.State{Seq: 7})
	for session, seq := range map[string]int{"new": 0, "old": 7} {
		require.ErrorIs(t, s.Update(t.Context(), session, fail), boom)
		wantState(t, s, session, autocontinue.State{Seq: seq})
	}
	require.NoError(t, s.Update(t.Context(), "old", count), "usable after an error")
	wantState(t, s, "old", autocontinue.State{Seq: 8})
}

func doneContext(t *testing.T, s autocontinue.Store) {
	set(t, s, "old", autocontinue.State{Seq: 7})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	for _, ctx := range []context.Context{cancelled, late} {
		require.ErrorIs(t, s.Update(ctx, "old", count), ctx.Err())
		_, err := s.Load(ctx, "old")
		require.ErrorIs(t, err, ctx.Err())
	}
	wantState(t, s, "old", autocontinue.State{Seq: 7})
}

func contextDoneMeanwhile(t *testing.T, s autocontinue.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(ctx, "a", func(old autocontinue.State) (autocontinue.State, error) {
		cancel()
		return count(old)
	})
	want := autocontinue.State{Seq: 1}
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
		want = autocontinue.State{}
	}
	wantState(t, s, "a", want) // written if and only if Update said so
}

func updatesAreAtomic(t *testing.T, s autocontinue.Store) {
	const writers, each, sessions = 8, 25, 3
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				name, written := fmt.Sprint("session ", (w+i)%sessions), 0
				err := s.Update(t.Context(), name, func(old autocontinue.State) (autocontinue.State, error) {
					for range 50 { // lets other writers in if there is no lock
						runtime.Gosched()
					}
					old.Continues++
					written = old.Continues
					return count(old)
				})
				got, loadErr := s.Load(t.Context(), name)
				if !assert.NoError(t, errors.Join(err, loadErr)) ||
					!assert.Equal(t, got.Seq, got.Continues, "half a write was seen") ||
					!assert.GreaterOrEqual(t, got.Seq, written, "a write that returned is not seen") {
					return
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for i := range sessions {
		got, err := s.Load(t.Context(), fmt.Sprint("session ", i))
		require.NoError(t, err)
		total += got.Seq
	}
	assert.Equal(t, writers*each, total, "an update was lost")
}

func count(s autocontinue.State) (autocontinue.State, error) {
	s.Seq++
	return s, nil
}

func set(t *testing.T, s autocontinue.Store, session string, state autocontinue.State) {
	t.Helper()
	replace := func(autocontinue.State) (autocontinue.State, error) { return state, nil }
	require.NoError(t, s.Update(t.Context(), session, replace))
}

func wantState(t *testing.T, s autocontinue.Store, session string, want autocontinue.State) {
	t.Helper()
	got, err := s.Load(t.Context(), session)
	require.NoError(t, err)
	wantEqual(t, want, got)
}

func wantEqual(t *testing.T, want, got autocontinue.State) {
	t.Helper()
	if !want.Equal(got) {
		assert.Equal(t, want, got) // shows the difference
	}
}

// busy returns the state of a long session.
func busy() autocontinue.State {
	s := autocontinue.State{}.Reset()
	for i := range 500 {
		run := fmt.Sprint("run ", i)
		f := autocontinue.Facts{
			Output:   autocontinue.Output{Session: "s", Turn: fmt.Sprint(i / 50), Run: run, ID: run, Text: run},
			Degraded: []string{"plan: \"<gone>\" \u2028 ü"},
		}
		f.Result.Type, f.Result.Confidence = "completion", 1
		switch i % 25 {
		case 0:
			f.Result.Type = "status"
		case 1:
			f.Verification = autocontinue.Verification{Status: autocontinue.Rejected, Feedback: "the tests fail"}
		case 2:
			f.Result.Type = "question"
		}
		_, s = autocontinue.Decide(autocontinue.Policy{}, s, f)
	}
	return s
}
