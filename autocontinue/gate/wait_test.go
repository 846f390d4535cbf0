package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// approver answers by a function.
type approver func(ctx context.Context, it Item) (Decision, error)

func (a approver) Approve(ctx context.Context, it Item) (Decision, error) { return a(ctx, it) }

// says answers at once.
func says(action Action, by string) approver {
	return func(context.Context, Item) (Decision, error) { return Decision{Action: action, By: by}, nil }
}

// silent never answers, and counts how often it was asked.
func silent(asked *atomic.Int64) approver {
	return func(ctx context.Context, _ Item) (Decision, error) {
		asked.Add(1)
		<-ctx.Done()
		return Decision{}, ctx.Err()
	}
}

// clocked gives a session the clock of the bubble.
func clocked(o *Options) { o.Now, o.AfterFunc, o.ToolsOnly = time.Now, time.AfterFunc, true }

const slow = `[{"tool":"get","then":"allow"},{"tool":"*_delete","then":"ask","within":"10m"},{"tool":"deploy",` +
	`"then":"ask","within":"5m","escalate":"on call"}]`

func TestChainOfApprovers(t *testing.T) {
	broken := errors.New("the chat is down")
	var asked atomic.Int64
	fails := approver(func(context.Context, Item) (Decision, error) { return Decision{}, broken })
	passes := approver(func(context.Context, Item) (Decision, error) { return Decision{}, ErrPending })
	for _, tt := range []struct {
		name, tool string
		chain      []Approver
		status     Status
		by         string
		after      time.Duration
		err        error
	}{
		{"the rules", "get", []Approver{silent(&asked)}, Approved, ByPolicy, 0, nil},
		{"a person", "a_delete", []Approver{says(Approve, "ann")}, Approved, "ann", 0, nil},
		{"a person who denies", "a_delete", []Approver{says(Deny, "ann")}, Denied, "ann", 0, nil},
		{"somebody who passes it on", "a_delete", []Approver{passes, says(Approve, "ben")}, Approved, "ben", 0, nil},
		{"somebody who cannot be reached", "a_delete", []Approver{fails, says(Approve, "ben")}, Approved, "ben", 0, nil},
		{"the time", "a_delete", []Approver{silent(&asked)}, Expired, "", 10 * time.Minute, nil},
		{"the time, with nobody to ask", "a_delete", nil, Expired, "", 10 * time.Minute, nil},
		{"the time, when all pass", "a_delete", []Approver{passes, passes}, Expired, "", 10 * time.Minute, nil},
		{"the next one, after the time", "deploy", []Approver{silent(&asked), says(Approve, "ben")}, Approved, "ben",
			5 * time.Minute, nil},
		{"nobody, after twice the time", "deploy", []Approver{silent(&asked), silent(&asked)}, Expired, "", 10 * time.Minute,
			nil},
		{"an error", "a_delete", []Approver{passes, fails}, Pending, "", 0, broken},
		{"an answer that is none", "a_delete", []Approver{says("dance", "ann")}, Pending, "", 0, ErrInput},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := open(t, slow, clocked)
				began := time.Now()
				it, err := d.Propose(began, call("r", "c", tt.tool, `{}`))
				require.NoError(t, err)
				it, err = d.Wait(t.Context(), it.ID, tt.chain...)
				require.ErrorIs(t, err, tt.err)
				require.Equal(t, tt.status, it.Status)
				require.Equal(t, tt.by, it.By)
				require.Equal(t, tt.after, time.Since(began))
				require.Empty(t, d.watchers)
				require.Equal(t, inside(d.Session), inside(d.again(slow)))
			})
		})
	}
	require.EqualValues(t, 4, asked.Load(), "nobody is asked twice, or for what a rule allows")
}

func TestFirstAnswerEndsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, slow, clocked)
		it, err := d.Propose(time.Now(), call("r", "c", "a_delete", `{}`))
		require.NoError(t, err)
		var asked atomic.Int64
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() {
				got, err := d.Wait(t.Context(), it.ID, silent(&asked))
				if err != nil || got.By != "cleo" {
					t.Error(got.By, err)
				}
			})
		}
		synctest.Wait()
		require.EqualValues(t, 3, asked.Load())
		_, err = d.Resolve(time.Now(), Decision{Item: it.ID, Digest: it.Digest, Action: Deny, By: "cleo"})
		require.NoError(t, err)
		waiting.Wait()
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, slow, clocked)
		it, err := d.Propose(time.Now(), call("r", "c", "a_delete", `{}`))
		require.NoError(t, err)
		var asked atomic.Int64
		for _, chain := range [][]Approver{nil, {silent(&asked)}} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			got, err := d.Wait(ctx, it.ID, chain...)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, Pending, got.Status)
			cancel()
		}
		_, err = d.Wait(t.Context(), "i99")
		require.ErrorIs(t, err, ErrIllegal)
		d.fail = errDisk
		_, err = d.Wait(t.Context(), it.ID)
		require.ErrorIs(t, err, errDisk, "the time is over, and that cannot be written")
	})
}

// Who waits again after the item escalated asks the second approver, not the first.
func TestWaitAfterTheItemEscalated(t *testing.T) {
	d := open(t, slow, func(o *Options) { o.ToolsOnly, o.Now = true, func() time.Time { return start } })
	it := d.propose(call("r", "c", "deploy", `{}`))
	d.now = it.Expires
	none, err := d.Expire(d.now)
	require.NoError(t, err)
	require.Empty(t, none)
	require.Equal(t, []string{itemEscalated}, d.types(1))
	now, _ := d.Item(it.ID)
	require.Equal(t, "on call", now.Approver)
	require.Empty(t, now.Escalate)
	require.Equal(t, d.now.Add(5*time.Minute), now.Expires)
	var asked atomic.Int64
	got, err := d.Wait(t.Context(), it.ID, silent(&asked), says(Approve, "ben"))
	require.NoError(t, err)
	require.Equal(t, "ben", got.By)
	require.Zero(t, asked.Load())
	require.Equal(t, inside(d.Session), inside(d.again(slow)))
}

func TestTimeOfAnItem(t *testing.T) {
	d := open(t, slow, func(o *Options) { o.ToolsOnly = true })
	for _, tt := range []struct {
		tool     string
		within   time.Duration
		escalate string
		want     time.Duration
		to       string
	}{
		{"a_delete", 0, "", 10 * time.Minute, ""},
		{"a_delete", time.Minute, "", time.Minute, ""},
		{"a_delete", time.Hour, "eve", 10 * time.Minute, "eve"},
		{"deploy", 0, "", 5 * time.Minute, "on call"},
		{"deploy", 0, "eve", 5 * time.Minute, "eve"},
	} {
		sub := call("r", tt.tool+tt.within.String()+tt.escalate, tt.tool, `{}`)
		sub.Within, sub.Escalate = tt.within, tt.escalate
		it := d.propose(sub)
		require.Equal(t, d.now.Add(tt.want), it.Expires)
		require.Equal(t, tt.to, it.Escalate)
		it = d.resolve(it, Approve, "")
		require.Equal(t, d.now.Add(time.Hour), it.Expires, "an approved item has Options.TTL to be redeemed")
	}
	require.Equal(t, inside(d.Session), inside(d.again(slow)))
}

func TestAnswerAfterTheItemEscalated(t *testing.T) {
	d := open(t, slow, func(o *Options) { o.ToolsOnly = true })
	it := d.propose(call("r", "c", "deploy", `{}`))
	d.now = it.Expires // and nobody called Expire
	got := d.resolve(it, Approve, "")
	require.Equal(t, Approved, got.Status)
	require.Equal(t, []string{itemEscalated, "TOOL_CALL_APPROVED"}, d.types(1))
	require.Equal(t, inside(d.Session), inside(d.again(slow)))
}

func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, slow, clocked)
		var done []string
		do := func(sub Subject, chain ...Approver) (Item, error) {
			return d.Do(t.Context(), sub, func(g Subject) (json.RawMessage, error) {
				done = append(done, string(g.Body))
				return json.RawMessage(`{"ok": true}`), nil
			}, chain...)
		}
		edit := approver(func(context.Context, Item) (Decision, error) {
			return Decision{Action: Edit, By: "ann", Body: json.RawMessage(`{"id":2}`)}, nil
		})
		it, err := do(call("r", "c1", "a_delete", `{"id":1}`), edit)
		require.NoError(t, err)
		require.Equal(t, Done, it.Status)
		require.Equal(t, `{"ok":true}`, string(it.Result))
		require.Equal(t, []string{`{"id":2}`}, done, "what was approved, not what was proposed")
		it, err = do(call("r", "c1", "a_delete", `{"id":1}`), edit)
		require.NoError(t, err)
		require.Equal(t, Done, it.Status)
		require.Len(t, done, 1, "once")
		for id, tt := range map[string]struct {
			tool   string
			chain  []Approver
			status Status
		}{
			"c2": {"a_delete", []Approver{says(Deny, "ann")}, Denied}, "c3": {"unheard_of", nil, Denied},
			"c4": {"a_delete", nil, Expired},
			"c5": {"a_delete", []Approver{approver(func(context.Context, Item) (Decision, error) {
				return Decision{Action: Respond, By: "ann", Body: json.RawMessage(`1`)}, nil
			})}, Done},
		} {
			it, err = do(call("r", id, tt.tool, `{"n":"`+id+`"}`), tt.chain...)
			require.NoError(t, err)
			require.Equal(t, tt.status, it.Status)
		}
		require.Len(t, done, 1)

		// The policy asks for more between the approval and the redemption.
		slowly := d.Watch(func(e Event) {
			if e.Type == "TOOL_CALL_APPROVED" && e.By == ByPolicy {
				require.NoError(t, d.SetPolicy(time.Now(), "bob", policyOf(t, `[{"tool":"get","then":"ask"}]`)))
			}
		})
		it, err = do(call("r", "c6", "get", `{}`), says(Approve, "ann"))
		slowly()
		require.NoError(t, err)
		require.Equal(t, "ann", it.By)
		require.Len(t, done, 2)

		broken := errors.New("no such host")
		it, err = d.Do(t.Context(), call("r", "c7", "get", `{"x":1}`), func(Subject) (json.RawMessage, error) {
			return nil, broken
		}, says(Approve, "ann"))
		require.ErrorIs(t, err, broken)
		require.Equal(t, Redeemed, it.Status)
		_, err = do(call("r", "c7", "get", `{"x":1}`))
		require.ErrorIs(t, err, ErrDecided, "nobody knows whether it was done")
		require.Equal(t, inside(d.Session), inside(d.again(slow)))
	})
	d := open(t, slow)
	_, err := d.Do(t.Context(), contextOf("r"), nil)
	require.ErrorIs(t, err, ErrInput, "without a clock")
	_, err = d.Wait(t.Context(), "i1", says(Approve, "ann"))
	require.ErrorIs(t, err, ErrInput)
}

func TestToolsOnly(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.ToolsOnly = true })
	require.Equal(t, Denied, d.propose(call("denied", "c1", "unheard_of", `{}`)).Status)
	require.Equal(t, running, d.Phase("denied"))
	first := d.propose(call("r", "c1", "weight_delete", `{}`))
	require.Equal(t, toolProposed, d.Phase("r"))
	d.propose(call("r", "c2", "profile_get", `{}`))
	_, err := d.Propose(d.now, contextOf("r"))
	require.ErrorIs(t, err, ErrIllegal, "the run has begun")
	_, err = d.Propose(d.now, draft("r2", "hi"))
	require.ErrorIs(t, err, ErrIllegal)
	d.redeem(d.resolve(first, Approve, ""))
	require.Equal(t, "c2", d.Unfinished()[0].Call)
	d.propose(contextOf("r3"))
	require.NoError(t, d.Finish(d.now, "r", "enough"))
	_, err = d.Propose(d.now, call("r", "c3", "profile_get", `{}`))
	require.ErrorIs(t, err, ErrIllegal)
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

// The rules may take long to judge a large body. Meanwhile everybody else goes on.
func TestJudgingHoldsNobodyUp(t *testing.T) {
	d := open(t, `[{"tool":"big","when":[{"at":"/p","path":"src"}],"then":"allow"},{"tool":"get","then":"allow"}]`,
		func(o *Options) { o.ToolsOnly, o.Root = true, stuck{make(chan struct{}), make(chan struct{})} })
	files := d.options.Root.(stuck)
	done := make(chan error)
	go func() {
		_, err := d.Propose(start, call("r", "c", "big", `{"p":"src/a"}`))
		done <- err
	}()
	<-files.entered
	it := d.propose(call("r", "c2", "get", `{}`)) // while a rule looks at the path
	require.NoError(t, d.SetPolicy(d.now, "bob", policyOf(t, `[{"tool":"big","then":"deny"}]`)))
	close(files.leave)
	require.NoError(t, <-done)
	items := d.Items("r")
	require.Equal(t, it.ID, items[0].ID)
	require.Equal(t, Denied, items[1].Status, "by the policy that holds when it is proposed")
}

// An answer given from inside the callback, at once, is not lost: the state changed before.
func TestAnswerFromInsideTheCallback(t *testing.T) {
	d := open(t, someRules)
	var order []string
	var grants []string
	d.Watch(func(e Event) {
		order = append(order, e.Type)
		switch e.Type {
		case "RUN_STAGED", "TOOL_CALL_PROPOSED", "ASSISTANT_DRAFT_PROPOSED":
			it, ok := d.Item(e.Item)
			require.True(t, ok)
			require.Equal(t, Pending, it.Status)
			d.resolve(it, Approve, "")
		case "RUN_STAGE_APPROVED", "TOOL_CALL_APPROVED", "ASSISTANT_FINAL_APPROVED":
			g, err := d.Redeem(d.now, e.Item)
			require.NoError(t, err)
			grants = append(grants, string(g.Kind))
		case "TOOL_CALL_STARTED":
			_, err := d.Done(d.now, e.Item, json.RawMessage(`1`))
			require.NoError(t, err)
		}
	})
	d.propose(contextOf("r"))
	d.propose(call("r", "c", "weight_delete", `{}`))
	d.propose(draft("r", "hello"))
	want := []string{
		"RUN_STAGED", "RUN_STAGE_APPROVED", itemRedeemed, "RUN_STARTED",
		"TOOL_CALL_PROPOSED", "TOOL_CALL_APPROVED", itemRedeemed, "TOOL_CALL_STARTED", toolCallResult,
		"ASSISTANT_DRAFT_PROPOSED", "ASSISTANT_FINAL_APPROVED", itemRedeemed, runFinished,
	}
	require.Equal(t, want, order)
	require.Equal(t, want, d.types(0))
	require.Equal(t, []string{"context", "tool", "response"}, grants)
	require.Equal(t, finished, d.Phase("r"))
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

func TestWatchersSeeEveryEvent(t *testing.T) {
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
		slices.Sort(seqs)
		for i, seq := range seqs {
			require.Equal(t, first+uint64(i)+1, seq)
		}
	}
	require.Equal(t, inside(d.Session), inside(d.again(`[{"tool":"get","then":"allow"}]`)))
}

func TestCancel(t *testing.T) {
	d := open(t, someRules)
	var one, two int
	cancelOne := d.Watch(func(Event) { one++ })
	d.Watch(func(Event) { two++ })
	d.propose(contextOf("r1"))
	cancelOne()
	cancelOne()
	d.propose(contextOf("r2"))
	require.Equal(t, 1, one)
	require.Equal(t, 2, two)
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
	d := open(t, someRules, func(o *Options) { o.limits.events = 5 })
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
	d := open(t, someRules, func(o *Options) { o.limits.eventBytes = 10_000 })
	for i := range 50 {
		sub := contextOf(fmt.Sprint("r", i))
		sub.Body = json.RawMessage(`"` + strings.Repeat("x", 900) + `"`)
		sub.Body = json.RawMessage(`{"a":` + string(sub.Body) + `}`)
		d.propose(sub)
		require.LessOrEqual(t, d.st.eventBytes, 10_000)
	}
	require.LessOrEqual(t, cap(d.st.events), 40, "what is dropped is let go of")
	big := contextOf("big")
	big.Body = json.RawMessage(`{"a":"` + strings.Repeat("x", 20_000) + `"}`)
	d.propose(big)
	events, all := d.Events(d.seq() - 1)
	require.Len(t, events, 1, "the last is kept whatever its size")
	require.True(t, all)
}
