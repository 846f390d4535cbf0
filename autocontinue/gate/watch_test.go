package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// An answer given from inside the callback, at once, is not lost: the state changed before.
func TestAnswerFromInsideTheCallback(t *testing.T) {
	d := open(t, someRules)
	var order []string
	var grants []string
	d.Watch(func(e Event) {
		order = append(order, e.Type)
		switch e.Type {
		case runStaged, toolCallProposed, draftProposed:
			it, ok := d.Item(e.Item)
			require.True(t, ok)
			require.Equal(t, Pending, it.Status)
			d.resolve(it, Approve, "")
		case runStageApproved, toolCallApproved, finalApproved:
			g, err := d.Redeem(d.now, e.Item)
			require.NoError(t, err)
			grants = append(grants, string(g.Kind))
		case toolCallStarted:
			_, err := d.Done(d.now, e.Item, json.RawMessage(`1`))
			require.NoError(t, err)
		}
	})
	var seconds []string
	d.Watch(func(e Event) { seconds = append(seconds, e.Type) })
	d.propose(contextOf("r"))
	d.propose(call("r", "c", "weight_delete", `{}`))
	d.propose(draft("r", "hello"))
	want := []string{
		runStaged, runStageApproved, itemRedeemed, runStarted,
		toolCallProposed, toolCallApproved, itemRedeemed, toolCallStarted, toolCallResult,
		draftProposed, finalApproved, itemRedeemed, runFinished,
	}
	require.Equal(t, want, order)
	require.Equal(t, want, seconds)
	require.Equal(t, want, d.types(0))
	require.Equal(t, []string{"context", "tool", "response"}, grants)
	require.Equal(t, Finished, d.Phase("r"))
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

func TestWatchersSeeEveryEventInOrder(t *testing.T) {
	d := open(t, `[{"tool":"get","then":"allow"}]`)
	run := d.started("r")
	first := d.seq()
	var mu sync.Mutex
	got := make([][]uint64, 20)
	for i := range got {
		d.Watch(func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			got[i] = append(got[i], e.Seq)
		})
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 25 {
				it, err := d.Propose(start, call(run, fmt.Sprint(g, "-", i), "get", `{}`))
				if err == nil {
					_, err = d.Redeem(start, it.ID)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, first+8*25*4, d.seq())
	for _, seqs := range got {
		require.Len(t, seqs, 8*25*4)
		for i, seq := range seqs {
			require.Equal(t, first+uint64(i)+1, seq)
		}
	}
	require.Equal(t, inside(d.Session), inside(d.again(`[{"tool":"get","then":"allow"}]`)))
}

func TestCancel(t *testing.T) {
	d := open(t, someRules)
	var one, two int
	var cancelTwo func()
	cancelOne := d.Watch(func(Event) { one++; cancelTwo() })
	cancelTwo = d.Watch(func(Event) { two++ })
	d.propose(contextOf("r1"))
	cancelOne()
	cancelOne()
	d.propose(contextOf("r2"))
	require.Equal(t, 1, one)
	require.Zero(t, two, "cancelled before its turn")
}

func TestWatcherThatPanics(t *testing.T) {
	d := open(t, someRules)
	bad := true
	var seen []uint64
	d.Watch(func(e Event) {
		if bad {
			panic("oh")
		}
		seen = append(seen, e.Seq)
	})
	require.PanicsWithValue(t, "oh", func() { d.Propose(d.now, contextOf("r1")) })
	require.Len(t, d.Pending(), 1, "the state changed before")
	bad = false
	d.propose(contextOf("r2"))
	require.Equal(t, []uint64{2}, seen)
}

func TestEventsAreCopies(t *testing.T) {
	d := open(t, someRules)
	d.Watch(func(e Event) { clear(e.Payload) })
	d.propose(contextOf("r"))
	events, _ := d.Events(0)
	require.Contains(t, string(events[0].Payload), "prompt")
	clear(events[0].Payload)
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

func TestKeptEvents(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.MaxEvents = 5 })
	none, all := d.Events(0)
	require.Empty(t, none)
	require.True(t, all)
	_, all = d.Events(1)
	require.False(t, all, "a number of another journal")
	for i := range 9 {
		d.propose(contextOf(fmt.Sprint("r", i)))
	}
	for after, want := range map[uint64]struct {
		n   int
		all bool
	}{0: {5, false}, 3: {5, false}, 4: {5, true}, 5: {4, true}, 8: {1, true}, 9: {0, true}, 10: {0, false}} {
		events, all := d.Events(after)
		require.Len(t, events, want.n, "after %d", after)
		require.Equal(t, want.all, all, "after %d", after)
		if want.n > 0 {
			require.EqualValues(t, 9, events[want.n-1].Seq)
		}
	}
}

func TestKeptEventsAreBoundedInBytes(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.EventBytes = 10_000 })
	for i := range 50 {
		sub := contextOf(fmt.Sprint("r", i))
		sub.Body = json.RawMessage(`"` + strings.Repeat("x", 900) + `"`)
		sub.Body = json.RawMessage(`{"a":` + string(sub.Body) + `}`)
		d.propose(sub)
		require.LessOrEqual(t, d.events.bytes, 10_000)
	}
	require.LessOrEqual(t, cap(d.events.list), 40, "what is dropped is let go of")
	big := contextOf("big")
	big.Body = json.RawMessage(`{"a":"` + strings.Repeat("x", 20_000) + `"}`)
	d.propose(big)
	events, all := d.Events(d.seq() - 1)
	require.Len(t, events, 1, "the last is kept whatever its size")
	require.True(t, all)
}

// A slow watcher loses events, never order, and sees it by the number.
func TestWatcherThatFallsBehind(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.MaxEvents = 2 })
	var seqs []uint64
	d.Watch(func(e Event) {
		seqs = append(seqs, e.Seq)
		if len(seqs) == 1 {
			for i := range 6 {
				d.propose(contextOf(fmt.Sprint("inner", i)))
			}
		}
	})
	d.propose(contextOf("outer"))
	require.Equal(t, []uint64{1, 6, 7}, seqs)
}
