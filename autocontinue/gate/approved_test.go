package gate

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Point 1: what was approved is what runs.

func TestDigestIsOverEverythingButTheLabel(t *testing.T) {
	base := call("run", "c1", "weight_delete", `{"id":1}`)
	seen := map[string]string{digest(base): "base"}
	for name, change := range map[string]func(*Subject){
		"kind": func(s *Subject) { s.Kind = Context }, "thread": func(s *Subject) { s.Thread = "th2" },
		"run": func(s *Subject) { s.Run = "run2" }, "call": func(s *Subject) { s.Call = "c2" },
		"tool": func(s *Subject) { s.Tool = "weight_delet" }, "body": func(s *Subject) { s.Body = json.RawMessage(`{"id":1.0}`) },
		"a border moved":       func(s *Subject) { s.Thread, s.Run = "thr", "un" },
		"a length in the text": func(s *Subject) { s.Run, s.Call = "run2:c1", "" },
		"the order of keys":    func(s *Subject) { s.Body = json.RawMessage(`{"id":1,"x":2}`) },
		"the other order":      func(s *Subject) { s.Body = json.RawMessage(`{"x":2,"id":1}`) },
	} {
		sub := base
		change(&sub)
		require.NotContains(t, seen, digest(sub), name)
		seen[digest(sub)] = name
	}
	labelled := base
	labelled.Label = "something else"
	require.Equal(t, digest(base), digest(labelled))
}

func TestDecisionEchoesTheDigestItSaw(t *testing.T) {
	d := open(t, someRules)
	one := d.propose(call(d.started("r"), "c1", "weight_delete", `{"id":1}`))
	two := d.propose(call("r", "c2", "weight_delete", `{"id":2}`))
	for _, seen := range []string{"", two.Digest, one.Digest[:63], one.Digest + "0"} {
		dec := d.decision(one, Approve, "")
		dec.Digest = seen
		_, err := d.Resolve(d.now, dec)
		require.ErrorIs(t, err, ErrStale)
	}
	require.Equal(t, Pending, d.status(one.ID))
}

func TestRedeemHandsOutTheApprovedBytesOnce(t *testing.T) {
	d := open(t, someRules)
	args := []byte("{ \"big\" : 12345678901234567890.10 ,\n\"s\":\"<\\u00e9&\u2028\", \"z\":1,\"a\":[ ] }")
	const kept = "{\"big\":12345678901234567890.10,\"s\":\"<\\u00e9&\u2028\",\"z\":1,\"a\":[]}"
	sub := call(d.started("r"), "c", "weight_delete", string(args))
	sub.Body = args
	it := d.propose(sub)
	clear(args) // the caller's to do with as it likes
	require.Equal(t, kept, string(it.Body))
	clear(it.Body)
	_, err := d.Redeem(d.now, it.ID)
	require.ErrorIs(t, err, ErrPending)
	got := d.resolve(it, Approve, "")
	clear(got.Body)

	again := d.again(someRules)
	for _, s := range []*Session{d.Session, again} {
		g, err := s.Redeem(d.now, it.ID)
		require.NoError(t, err)
		require.Equal(t, kept, string(g.Body))
		require.Equal(t, digest(g.Subject), g.Digest)
		require.Equal(t, "ann", g.By)
		require.False(t, g.Edited)
		_, err = s.Redeem(d.now, it.ID)
		require.ErrorIs(t, err, ErrSpent)
	}
}

func TestManyRedeemOneGrant(t *testing.T) {
	d := open(t, `[{"tool":"get","then":"allow"}]`)
	it := d.propose(call(d.started("r"), "c", "get", `{}`))
	var grants, spent atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := d.Redeem(start, it.ID); err == nil {
				grants.Add(1)
			} else if errorIs(err, ErrSpent) {
				spent.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, grants.Load())
	require.EqualValues(t, 15, spent.Load())
}

func TestSameCallIDWithOtherArgumentsIsAnError(t *testing.T) {
	d := open(t, someRules)
	first := call(d.started("r"), "c", "weight_delete", `{"id":1}`)
	it := d.propose(first)
	check := func() {
		t.Helper()
		for name, change := range map[string]func(*Subject){
			"arguments": func(s *Subject) { s.Body = json.RawMessage(`{"id":2}`) },
			"digits":    func(s *Subject) { s.Body = json.RawMessage(`{"id":1.0}`) },
			"tool":      func(s *Subject) { s.Tool = "meal_delete" },
			"thread":    func(s *Subject) { s.Thread = "other" },
		} {
			sub := first
			change(&sub)
			before := d.seq()
			_, err := d.Propose(d.now, sub)
			require.ErrorIs(t, err, ErrReused, name)
			require.Equal(t, before, d.seq())
		}
		// The same again, with another label and other white space, is the same item.
		again := first
		again.Label, again.Body = "renamed", json.RawMessage(" {\"id\" : 1}\n")
		require.Equal(t, it.ID, d.propose(again).ID)
		require.Empty(t, d.propose(again).Label)
	}
	check()
	d.resolve(it, Edit, `{"id":3}`)
	check()
	d.redeem(it)
	check()
	_, err := d.Done(d.now, it.ID, json.RawMessage(`"gone"`))
	require.NoError(t, err)
	check()
	require.NoError(t, d.Finish(d.now, "r", ""))
	check()
	require.Equal(t, "c", d.propose(call(d.started("r2"), "c", "weight_delete", `{"id":2}`)).Call, "a call ID is its run's")
}

func TestSameRunIDWithAnotherContextIsAnError(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.KeepRuns = 1 })
	it := d.propose(contextOf("r"))
	require.Equal(t, it.ID, d.propose(contextOf("r")).ID)
	other := contextOf("r")
	other.Body = json.RawMessage(`{"prompt":"delete everything"}`)
	_, err := d.Propose(d.now, other)
	require.ErrorIs(t, err, ErrReused)
	d.resolve(it, Deny, "")
	require.Equal(t, Denied, d.propose(contextOf("r")).Status)
	d.resolve(d.propose(contextOf("r2")), Deny, "")
	require.Empty(t, d.Items("r"))
	_, err = d.Propose(d.now, contextOf("r"))
	require.ErrorIs(t, err, ErrReused, "also when its items are no longer kept")
}

func TestRunBelongsToItsThread(t *testing.T) {
	d := open(t, someRules)
	d.started("r")
	for _, sub := range []Subject{call("r", "new", "profile_get", `{}`), draft("r", "hello"), contextOf("r")} {
		sub.Thread = "other"
		_, err := d.Propose(d.now, sub)
		require.ErrorIs(t, err, ErrReused)
	}
	d.propose(draft("r", "hello"))
}

func TestApprovalGoesStale(t *testing.T) {
	d := open(t, someRules)
	it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
	d.now = it.Expires.Add(-1)
	it = d.resolve(it, Approve, "")
	require.Equal(t, d.now.Add(time.Hour), it.Expires, "an approval in the last moment leaves time to redeem")
	d.now = it.Expires
	_, err := d.Redeem(d.now, it.ID)
	require.ErrorIs(t, err, ErrExpired)
	it, _ = d.Item(it.ID)
	require.Equal(t, Expired, it.Status)
	require.Empty(t, it.By, "expiry is nobody's decision, also after an approval")
	_, err = d.Redeem(start, it.ID)
	require.ErrorIs(t, err, ErrExpired, "a clock that runs back brings nothing back")
}
