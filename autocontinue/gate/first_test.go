package gate

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Point 5: the first decision wins.

func TestFirstDecisionWins(t *testing.T) {
	type try struct {
		action Action
		body   string
	}
	all := []try{{Approve, ""}, {Edit, `{"id":2}`}, {Edit, `{"id":3}`}, {Deny, ""}, {Respond, `1`}, {Respond, `2`}, {Stop, ""}}
	for _, first := range all {
		for _, then := range all {
			t.Run(string(first.action)+first.body+" then "+string(then.action)+then.body, func(t *testing.T) {
				d := open(t, someRules)
				it := d.propose(call(d.started("r"), "c", "weight_delete", `{"id":1}`))
				won := d.resolve(it, first.action, first.body)
				before := d.seq()
				dec := d.decision(it, then.action, then.body)
				dec.By, dec.Reason = "bob", "as I say"
				got, err := d.Resolve(d.now.Add(time.Hour*2), dec)
				if then == first {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, ErrDecided)
				}
				require.Equal(t, won, got, "the loser sees who won")
				require.Equal(t, "ann", got.By)
				require.Equal(t, before, d.seq())
			})
		}
	}
}

func TestTwoBrowsersRace(t *testing.T) {
	for range 200 {
		d := open(t, someRules)
		it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
		answers := map[Action]error{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, a := range []Action{Approve, Deny} {
			dec := d.decision(it, a, "")
			wg.Go(func() {
				_, err := d.Resolve(start, dec)
				mu.Lock()
				defer mu.Unlock()
				answers[a] = err
			})
		}
		wg.Wait()
		got, _ := d.Item(it.ID)
		loser := map[Action]Action{Approve: Deny, Deny: Approve}[got.Action]
		require.NoError(t, answers[got.Action])
		require.ErrorIs(t, answers[loser], ErrDecided)
		require.Equal(t, inside(d.Session), inside(d.again(someRules)))
	}
}

func TestDecisionsThatAreNone(t *testing.T) {
	d := open(t, someRules)
	it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
	for name, tt := range map[string]struct {
		change func(*Decision)
		want   error
	}{
		"an unknown item":        {func(d *Decision) { d.Item = "i99" }, ErrUnknown},
		"no item":                {func(d *Decision) { d.Item = "" }, ErrUnknown},
		"nobody":                 {func(d *Decision) { d.By = " " }, ErrInput},
		"the policy's name":      {func(d *Decision) { d.By = "Policy" }, ErrInput},
		"nobody's name":          {func(d *Decision) { d.By = " unaudited" }, ErrInput},
		"a name with a disguise": {func(d *Decision) { d.By = "ann\u202e" }, ErrInput},
		"a long name":            {func(d *Decision) { d.By = string(make([]byte, 300)) }, ErrInput},
		"a long reason":          {func(d *Decision) { d.Reason = string(make([]byte, maxReason+1)) }, ErrInput},
		"a reason of bytes":      {func(d *Decision) { d.Reason = "\xff" }, ErrInput},
		"an approval with body":  {func(d *Decision) { d.Body = []byte(`{}`) }, ErrInput},
		"no action":              {func(d *Decision) { d.Action = "" }, ErrInput},
		"another action":         {func(d *Decision) { d.Action = "APPROVE" }, ErrInput},
		"an edit without body":   {func(d *Decision) { d.Action = Edit }, ErrInput},
	} {
		t.Run(name, func(t *testing.T) {
			dec := d.decision(it, Approve, "")
			tt.change(&dec)
			_, err := d.Resolve(d.now, dec)
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, Pending, d.status(it.ID))
		})
	}
}

func TestDenialAlwaysHasAReasonToRead(t *testing.T) {
	d := open(t, someRules)
	d.started("r")
	for i, tt := range []struct {
		action    Action
		given     string
		want, run string
	}{
		{Deny, "too much", "too much", ""},
		{Deny, "", "a person denied it and gave no reason", ""},
		{Deny, " \n", "a person denied it and gave no reason", ""},
		{Stop, "", "a person stopped the run and gave no reason", "a person stopped the run and gave no reason"},
	} {
		it := d.propose(call("r", fmt.Sprint("c", i), "weight_delete", fmt.Sprintf(`{"id":%d}`, i)))
		dec := d.decision(it, tt.action, "")
		dec.Reason = tt.given
		got, err := d.Resolve(d.now, dec)
		require.NoError(t, err)
		require.Equal(t, tt.want, got.Reason)
		require.Equal(t, tt.run, d.Runs()[0].Reason)
		_, err = d.Resolve(d.now, dec)
		require.NoError(t, err, "the same again")
	}
}
