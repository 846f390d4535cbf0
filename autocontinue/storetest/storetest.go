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
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// Run runs every check as a subtest. Open returns a store without sessions, a new one each time; it cleans up through
// t.
func Run(t *testing.T, open func(t *testing.T) autocontinue.Store) {
	for _, c := range []struct {
		name  string
		check func(t *testing.T, s autocontinue.Store)
	}{
		{"unknown session", unknownSession},
		{"round trip", roundTrip},
		{"sessions are apart", sessionsAreApart},
		{"an error aborts", errorAborts},
		{"a done context", doneContext},
		{"a context done meanwhile", contextDoneMeanwhile},
		{"updates are atomic", updatesAreAtomic},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, open(t)) })
	}
}

func unknownSession(t *testing.T, s autocontinue.Store) {
	wantState(t, s, "unknown", autocontinue.State{})
	require.NoError(t, s.Update(t.Context(), "new", func(old autocontinue.State) (autocontinue.State, error) {
		assert.True(t, old.Equal(autocontinue.State{}), "an unknown session has the zero state")
		return count(old)
	}))
	wantState(t, s, "new", autocontinue.State{Seq: 1})
	wantState(t, s, "unknown", autocontinue.State{})
}

func roundTrip(t *testing.T, s autocontinue.Store) {
	for name, state := range states(t) {
		t.Run(name, func(t *testing.T) {
			for range 2 { // new, then overwriting
				set(t, s, name, state)
				wantState(t, s, name, state)
			}
			require.NoError(t, s.Update(t.Context(), name, func(old autocontinue.State) (autocontinue.State, error) {
				assert.Empty(t, cmp.Diff(toJSON(t, state), toJSON(t, old)))
				return autocontinue.State{}, nil
			}))
			wantState(t, s, name, autocontinue.State{})
		})
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
		got, err := s.Load(t.Context(), name)
		require.NoError(t, err, "%.40q", name)
		assert.Equal(t, i+1, got.Seq, "%.40q", name)
	}
}

func errorAborts(t *testing.T, s autocontinue.Store) {
	boom := errors.New("boom")
	fail := func(old autocontinue.State) (autocontinue.State, error) {
		old.Seq = 99
		return old, boom
	}
	require.ErrorIs(t, s.Update(t.Context(), "new", fail), boom)
	wantState(t, s, "new", autocontinue.State{})

	set(t, s, "old", autocontinue.State{Seq: 7})
	require.ErrorIs(t, s.Update(t.Context(), "old", fail), boom)
	wantState(t, s, "old", autocontinue.State{Seq: 7})
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
	assert.Empty(t, cmp.Diff(toJSON(t, want), toJSON(t, got)))
	assert.True(t, want.Equal(got))
}

func toJSON(t *testing.T, s autocontinue.State) string {
	t.Helper()
	b, err := json.MarshalIndent(s, "", " ")
	require.NoError(t, err)
	return string(b)
}

// states returns states that between them use every field.
func states(t *testing.T) map[string]autocontinue.State {
	t.Helper()
	var busy autocontinue.State
	decide := func(turn, run string, change func(f *autocontinue.Facts)) (d autocontinue.Decision) {
		f := autocontinue.Facts{Degraded: []string{"plan: \"<gone>\" \u2028 ü"}}
		f.Output = autocontinue.Output{Session: "s", Turn: turn, Run: run, ID: run, Text: run}
		f.Result.Confidence = 1
		change(&f)
		d, busy = autocontinue.Decide(autocontinue.Policy{MaxContinues: 100}, busy, f)
		return d
	}
	status := func(f *autocontinue.Facts) { f.Result.Type = "status" }
	rejected := func(f *autocontinue.Facts) {
		f.Result.Type, f.Result.WasRejectedCompletion = "status", true
		f.Verification = autocontinue.Verification{Status: autocontinue.Rejected, Feedback: "the tests fail"}
	}
	question := func(f *autocontinue.Facts) { f.Result.Type = "question" }
	for turn := range 10 {
		busy = busy.Reset()
		for run, change := range []func(*autocontinue.Facts){status, rejected, question} {
			decide(fmt.Sprint(turn), fmt.Sprint("turn ", turn, " run ", run), change)
		}
	}
	require.Equal(t, autocontinue.Continue, decide("last", "last", status).Action)
	all := map[string]autocontinue.State{
		"counts": {Seq: 1 << 40, Resets: 3, Continues: 2, HandedOver: true},
		"reset":  autocontinue.State{}.Reset(),
		"busy":   busy,
	}
	for i := range 500 {
		decide("", fmt.Sprint(i), func(f *autocontinue.Facts) { f.Result.Type = "completion" })
	}
	all["big"] = busy
	return all
}
