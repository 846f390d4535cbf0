package gate

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Point 6: expiry denies and is nobody's decision; the same denied call again and again stops the run.

func TestExpiry(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.TTL = time.Minute })
	it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
	require.Equal(t, d.now.Add(time.Minute), it.Expires)
	d.now = it.Expires.Add(-1)
	none, err := d.Expire(d.now)
	require.NoError(t, err)
	require.Empty(t, none)
	d.now = it.Expires
	before := d.seq()
	gone, err := d.Expire(d.now)
	require.NoError(t, err)
	require.Len(t, gone, 1)
	require.Equal(t, Expired, gone[0].Status)
	require.Empty(t, gone[0].By)
	require.Empty(t, gone[0].Action)
	require.NotEmpty(t, gone[0].Reason)
	require.Equal(t, []string{itemExpired}, d.types(before))
	events, _ := d.Events(before)
	require.Empty(t, events[0].By)
	require.Equal(t, running, d.Phase("r"), "a denied tool returns to running")
	for _, a := range []Action{Approve, Deny, Stop} {
		_, err = d.Resolve(d.now, d.decision(it, a, ""))
		require.ErrorIs(t, err, ErrExpired)
	}
	_, err = d.Redeem(d.now, it.ID)
	require.ErrorIs(t, err, ErrExpired)
	again, err := d.Expire(d.now.Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, again)
}

// Nobody called Expire: the operation sees for itself.
func TestAnswerAfterTheTimeIsNoAnswer(t *testing.T) {
	for name, late := range map[string]func(d *desk, it Item) error{
		"approve": func(d *desk, it Item) error { _, err := d.Resolve(d.now, d.decision(it, Approve, "")); return err },
		"deny":    func(d *desk, it Item) error { _, err := d.Resolve(d.now, d.decision(it, Deny, "")); return err },
		"redeem":  func(d *desk, it Item) error { _, err := d.Redeem(d.now, it.ID); return err },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, someRules)
			it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
			d.now = it.Expires
			require.ErrorIs(t, late(d, it), ErrExpired)
			require.Equal(t, Expired, d.status(it.ID))
			require.Equal(t, inside(d.Session), inside(d.again(someRules)))
		})
	}
	d := open(t, someRules)
	sub := call(d.started("r"), "c", "weight_delete", `{}`)
	it := d.propose(sub)
	d.now = it.Expires
	require.NoError(t, d.SetPolicy(d.now, "bob", policyOf(t, `[{"tool":"weight_delete","then":"allow"}]`)))
	require.Equal(t, Expired, d.propose(sub).Status, "proposed again too late")
}

func TestExpiredContextEndsItsRun(t *testing.T) {
	d := open(t, someRules)
	it := d.propose(contextOf("r"))
	_, err := d.Expire(it.Expires)
	require.NoError(t, err)
	require.Equal(t, Refused, d.Phase("r"))
}

func TestNeverExpires(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.TTL = Never })
	it := d.propose(contextOf("r"))
	require.True(t, it.Expires.IsZero())
	gone, err := d.Expire(d.now.Add(1000 * time.Hour))
	require.NoError(t, err)
	require.Empty(t, gone)
	d.resolve(it, Approve, "")
}

func TestSameDeniedCallStopsTheRun(t *testing.T) {
	same := []string{`{"id":10,"s":"é"}`, `{"s":"\u00e9","id":1e1}`, `{"id":10.0,"s":"\u00E9"}`}
	for name, deny := range map[string]func(d *desk, it Item){
		"by a human": func(d *desk, it Item) { d.resolve(it, Deny, "") },
		"by expiry": func(d *desk, it Item) {
			d.now = it.Expires
			_, err := d.Expire(d.now)
			require.NoError(d.t, err)
		},
		"by the policy": func(d *desk, it Item) { require.Equal(d.t, Denied, it.Status) },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, `[{"tool":"weight_delete","then":"ask"}]`)
			tool := "weight_delete"
			if name == "by the policy" {
				tool = "unheard_of"
			}
			d.started("r")
			for i, args := range same {
				require.Equal(t, running, d.Phase("r"))
				deny(d, d.propose(call("r", fmt.Sprint("c", i), tool, args)))
				if i == 1 {
					deny(d, d.propose(call("r", "other", tool, `{"id":11}`)))
				}
			}
			require.Equal(t, Refused, d.Phase("r"))
			_, err := d.Propose(d.now, call("r", "c9", tool, `{"id":12}`))
			require.ErrorIs(t, err, ErrIllegal)
			require.Equal(t, "the same tool was denied 3 times", d.Runs()[0].Reason)
			require.Equal(t, inside(d.Session), inside(d.again(`[{"tool":"weight_delete","then":"ask"}]`)))
		})
	}
	d := open(t, someRules, func(o *Options) { o.DenyLimit = Never })
	d.started("r")
	for i := range 20 {
		d.resolve(d.propose(call("r", fmt.Sprint("c", i), "weight_delete", `{}`)), Deny, "")
	}
	require.Equal(t, running, d.Phase("r"))
}

func TestSameDeniedDraftStopsTheRun(t *testing.T) {
	d := open(t, someRules)
	d.started("r")
	for i := range 3 {
		it := d.propose(draft("r", "buy now"))
		require.Equal(t, Pending, it.Status, "draft %d", i)
		d.resolve(it, Deny, "")
	}
	require.Equal(t, Refused, d.Phase("r"))
}

// Three calls that are the same run out at the same moment: the third stops the run and takes the fourth along.
func TestManyExpireAtOnce(t *testing.T) {
	d := open(t, someRules)
	d.started("r")
	var last Item
	for i := range 3 {
		d.propose(call("r", fmt.Sprint("c", i), "weight_delete", `{}`))
	}
	last = d.propose(call("r", "c4", "meal_delete", `{}`))
	other := d.propose(contextOf("r2"))
	calls := d.calls
	gone, err := d.Expire(last.Expires)
	require.NoError(t, err)
	require.Equal(t, calls+1, d.calls, "one block")
	require.Len(t, gone, 4)
	require.Equal(t, other.ID, gone[3].ID)
	require.Equal(t, Withdrawn, d.status(last.ID))
	require.Equal(t, Refused, d.Phase("r"))
	require.Empty(t, d.Pending())
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

func TestStopTakesEverythingAlong(t *testing.T) {
	d := open(t, someRules)
	d.started("r")
	running := d.propose(call("r", "c0", "profile_get", `{}`))
	d.redeem(running)
	approved := d.propose(call("r", "c1", "profile_get", `{}`))
	pending := d.propose(call("r", "c2", "weight_delete", `{}`))
	bad := d.propose(call("r", "c3", "weight_delete", `{"id":1}`))
	require.Equal(t, toolProposed, d.Phase("r"))
	d.resolve(bad, Stop, "")
	require.Equal(t, Refused, d.Phase("r"))
	require.Equal(t, Withdrawn, d.status(approved.ID))
	require.Equal(t, Withdrawn, d.status(pending.ID))
	_, err := d.Redeem(d.now, approved.ID)
	require.ErrorIs(t, err, ErrDenied)
	_, err = d.Resolve(d.now, d.decision(pending, Approve, ""))
	require.ErrorIs(t, err, ErrDecided)
	require.Len(t, d.Unfinished(), 1)
	_, err = d.Done(d.now, running.ID, json.RawMessage(`"late"`))
	require.NoError(t, err)
	require.Empty(t, d.Unfinished())
	require.Equal(t, Refused, d.Phase("r"))
}
