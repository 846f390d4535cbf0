package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDigestIsOverEverythingButTheLabel(t *testing.T) {
	base := call("run", "c1", "weight_delete", `{"id":1}`)
	seen := map[string]string{digest(base): "base"}
	for name, change := range map[string]func(*Subject){
		"kind": func(s *Subject) { s.Kind = Context }, "thread": func(s *Subject) { s.Thread = "th2" },
		"run": func(s *Subject) { s.Run = "run2" }, "call": func(s *Subject) { s.Call = "c2" },
		"tool": func(s *Subject) { s.Tool = "weight_delet" }, "body": func(s *Subject) {
			s.Body = json.RawMessage(`{"id":1.0}`)
		},
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
		after, _ := s.Item(it.ID)
		require.Equal(t, digest(g), after.Final)
		require.Equal(t, "ann", after.By)
		require.Nil(t, after.Edited)
		_, err = s.Redeem(d.now, it.ID)
		require.ErrorIs(t, err, ErrDecided)
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
			} else if errorIs(err, ErrDecided) {
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
			require.ErrorIs(t, err, ErrIllegal, name)
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
	require.Equal(t, "c", d.propose(call(d.started("r2"), "c", "weight_delete", `{"id":2}`)).Call,
		"a call ID is its run's")
}

func TestSameRunIDWithAnotherContextIsAnError(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.limits.keepRuns = 1 })
	it := d.propose(contextOf("r"))
	require.Equal(t, it.ID, d.propose(contextOf("r")).ID)
	other := contextOf("r")
	other.Body = json.RawMessage(`{"prompt":"delete everything"}`)
	_, err := d.Propose(d.now, other)
	require.ErrorIs(t, err, ErrIllegal)
	d.resolve(it, Deny, "")
	require.Equal(t, Denied, d.propose(contextOf("r")).Status)
	d.resolve(d.propose(contextOf("r2")), Deny, "")
	require.Empty(t, d.Items("r"))
	_, err = d.Propose(d.now, contextOf("r"))
	require.ErrorIs(t, err, ErrIllegal, "also when its items are no longer kept")
}

func TestRunBelongsToItsThread(t *testing.T) {
	d := open(t, someRules)
	d.started("r")
	for _, sub := range []Subject{call("r", "new", "profile_get", `{}`), draft("r", "hello"), contextOf("r")} {
		sub.Thread = "other"
		_, err := d.Propose(d.now, sub)
		require.ErrorIs(t, err, ErrIllegal)
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
	require.ErrorIs(t, err, ErrDenied)
	it, _ = d.Item(it.ID)
	require.Equal(t, Expired, it.Status)
	require.Empty(t, it.By, "expiry is nobody's decision, also after an approval")
	_, err = d.Redeem(start, it.ID)
	require.ErrorIs(t, err, ErrDenied, "a clock that runs back brings nothing back")
}

func TestFirstDecisionWins(t *testing.T) {
	type try struct {
		action Action
		body   string
	}
	all := []try{{Approve, ""}, {Edit, `{"id":2}`}, {Edit, `{"id":3}`}, {Deny, ""}, {Respond, `1`}, {Respond, `2`},
		{Stop, ""}}
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
		"an unknown item":        {func(d *Decision) { d.Item = "i99" }, ErrIllegal},
		"no item":                {func(d *Decision) { d.Item = "" }, ErrIllegal},
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

var errNoID = errors.New("id is missing")

func needsID(sub Subject) error {
	var args struct{ ID *json.Number }
	if sub.Kind != Tool {
		return nil
	}
	if err := json.Unmarshal(sub.Body, &args); err != nil || args.ID == nil {
		return errNoID
	}
	clear(sub.Body) // its own copy
	return nil
}

func TestEditIsCheckedAsAProposal(t *testing.T) {
	d := open(t, `[{"tool":"*_delete","then":"ask"},{"tool":"*_delete","when":[{"at":"/all","exists":true}],`+
		`"then":"deny"}]`,
		func(o *Options) { o.Schema, o.MaxBody = needsID, 100 })
	it := d.propose(call(d.started("r"), "c", "weight_delete", `{"id":1}`))
	for _, tt := range []struct {
		name, body string
		want       error
	}{
		{"the schema", `{}`, ErrInput},
		{"the schema's own error", `{}`, errNoID},
		{"the policy beats the human", `{"id":1,"all":true}`, ErrDenied},
		{"a key twice", `{"id":1,"id":2}`, ErrInput},
		{"keys that fold", `{"id":1,"ID":2}`, ErrInput},
		{"more after it", `{"id":1}{}`, ErrInput},
		{"not an object", `[1]`, ErrInput},
		{"too long", `{"id":1,"s":"` + string(make([]byte, 100)) + `"}`, ErrInput},
		{"nothing", ``, ErrInput},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := d.seq()
			_, err := d.Resolve(d.now, d.decision(it, Edit, tt.body))
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, Pending, d.status(it.ID))
			require.Equal(t, before, d.seq())
		})
	}
	got := d.resolve(it, Edit, ` {"id": 7} `)
	require.Equal(t, `{"id":1}`, string(got.Body), "the proposal stays visible")
	require.Equal(t, `{"id":7}`, string(got.Edited))
	require.Equal(t, it.Digest, got.Digest)
	edited := it.Subject
	edited.Body = json.RawMessage(`{"id":7}`)
	require.Equal(t, digest(edited), got.Final)

	again := d.again(`[]`)
	require.Equal(t, inside(d.Session), inside(replayed(t, d.Policy(), d.options, d.log.String())))
	_, err := again.Redeem(d.now, it.ID)
	require.ErrorIs(t, err, ErrDenied, "under a policy that knows no tool")

	g := d.redeem(it)
	require.Equal(t, `{"id":7}`, string(g.Body))
	require.Equal(t, "weight_delete", g.Tool)
	require.Equal(t, got.Final, digest(g))
}

func TestEveryKindCanBeEdited(t *testing.T) {
	d := open(t, someRules)
	it := d.propose(contextOf("r"))
	d.resolve(it, Edit, `{"prompt":"log it twice"}`)
	require.Equal(t, `{"prompt":"log it twice"}`, string(d.redeem(it).Body))
	it = d.propose(draft("r", "first"))
	_, err := d.Resolve(d.now, d.decision(it, Edit, `{"text":"x","html":"y"}`))
	require.ErrorIs(t, err, ErrInput)
	d.resolve(it, Edit, `{"a2ui": [1.50], "text":"sec\u006fnd"}`)
	require.Equal(t, `{"text":"second","a2ui":[1.50]}`, string(d.redeem(it).Body))
	events, _ := d.Events(0)
	require.Equal(t, `{"prompt":"log it twice"}`, string(events[1].PayloadEdits))
	require.Equal(t, "first", *events[4].DraftText)
	require.Equal(t, "second", *events[5].FinalText)
	require.Equal(t, `[1.50]`, string(events[5].FinalA2UI))
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

func TestPolicyIsAskedAgain(t *testing.T) {
	deny := policyOf(t, `[{"tool":"*","then":"deny"},{"gate":"context","then":"deny"},{"gate":"response","then":"deny"}]`)
	t.Run("between proposal and approval", func(t *testing.T) {
		d := open(t, someRules)
		it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
		require.NoError(t, d.SetPolicy(d.now, "bob", deny))
		require.Equal(t, Pending, d.status(it.ID))
		for range 2 {
			got, err := d.Resolve(d.now, d.decision(it, Approve, ""))
			require.ErrorIs(t, err, ErrDenied)
			require.Equal(t, Denied, got.Status)
			require.Equal(t, ByPolicy, got.By)
			require.Equal(t, "tool *: deny", got.Rule)
		}
		_, err := d.Resolve(d.now, d.decision(it, Deny, ""))
		require.ErrorIs(t, err, ErrDecided)
		_, err = d.Redeem(d.now, it.ID)
		require.ErrorIs(t, err, ErrDenied)
	})
	t.Run("between approval and redeem", func(t *testing.T) {
		d := open(t, someRules)
		it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
		d.resolve(it, Approve, "")
		require.NoError(t, d.SetPolicy(d.now, "bob", deny))
		_, err := d.Redeem(d.now, it.ID)
		require.ErrorIs(t, err, ErrDenied)
		require.Equal(t, Denied, d.status(it.ID))
		require.NoError(t, d.SetPolicy(d.now, "bob", policyOf(t, someRules)))
		_, err = d.Redeem(d.now, it.ID)
		require.ErrorIs(t, err, ErrDenied, "a denial stays")
	})
	t.Run("about the edited body", func(t *testing.T) {
		d := open(t, someRules)
		it := d.propose(call(d.started("r"), "c", "meal_save_batch", `{"rows":[1]}`))
		d.resolve(it, Edit, `{"rows":[1,2,3]}`)
		require.NoError(t, d.SetPolicy(d.now, "bob",
			policyOf(t, `[{"tool":"meal_save_batch","when":[{"at":"/rows","count_over":2}],"then":"deny"},{`+
				`"tool":"meal_save_batch","then":"allow"}]`)))
		_, err := d.Redeem(d.now, it.ID)
		require.ErrorIs(t, err, ErrDenied)
	})
	t.Run("what waited passes by a new rule", func(t *testing.T) {
		d := open(t, someRules)
		sub := call(d.started("r"), "c", "weight_delete", `{}`)
		require.Equal(t, "tool *_delete: ask", d.propose(sub).Rule)
		require.NoError(t, d.SetPolicy(d.now, "bob", policyOf(t, `[{"tool":"weight_*","then":"allow"}]`)))
		it := d.propose(sub)
		require.Equal(t, Approved, it.Status)
		require.Equal(t, "tool weight_*: allow", it.Rule, "the rule that let it pass, not the one that asked")
		require.Equal(t, inside(d.Session), inside(d.again(someRules)))
	})
	t.Run("what passed alone is asked now", func(t *testing.T) {
		d := open(t, someRules)
		it := d.propose(call(d.started("r"), "c", "profile_get", `{}`))
		require.Equal(t, Approved, it.Status)
		require.NoError(t, d.SetPolicy(d.now, "bob", policyOf(t, `[{"tool":"profile_get","then":"ask"}]`)))
		_, err := d.Redeem(d.now, it.ID)
		require.ErrorIs(t, err, ErrPending)
		require.Len(t, d.Pending(), 1)
		got := d.resolve(it, Approve, "")
		require.Equal(t, "ann", got.By)
		require.Equal(t, inside(d.Session), inside(d.again(someRules)))
		d.redeem(it)
	})
	t.Run("what a human approved is not asked twice", func(t *testing.T) {
		d := open(t, someRules)
		it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
		d.resolve(it, Approve, "")
		d.redeem(it)
	})
	t.Run("a context and a response", func(t *testing.T) {
		d := open(t, someRules)
		it := d.propose(contextOf("r"))
		d.resolve(it, Approve, "")
		require.NoError(t, d.SetPolicy(d.now, "bob", deny))
		_, err := d.Redeem(d.now, it.ID)
		require.ErrorIs(t, err, ErrDenied)
		require.Equal(t, stopped, d.Phase("r"))
	})
}

func TestResponseInPlaceOfTheTool(t *testing.T) {
	d := open(t, someRules)
	it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
	_, err := d.Resolve(d.now, d.decision(it, Respond, `{"a":1,"a":2}`))
	require.ErrorIs(t, err, ErrInput)
	got := d.resolve(it, Respond, `{"error": "not today"}`)
	require.Equal(t, Done, got.Status)
	require.Equal(t, `{"error":"not today"}`, string(got.Result))
	require.Equal(t, running, d.Phase("r"))
	_, err = d.Redeem(d.now, it.ID)
	require.ErrorIs(t, err, ErrDenied)
	_, err = d.Done(d.now, it.ID, json.RawMessage(`1`))
	require.ErrorIs(t, err, ErrDecided)
	require.Equal(t, got, d.resolve(it, Respond, `{"error":"not today"}`))
	_, err = d.Resolve(d.now, d.decision(it, Respond, `{}`))
	require.ErrorIs(t, err, ErrDecided)
	_, err = d.Resolve(d.now, d.decision(d.propose(draft("r", "hello")), Respond, `{}`))
	require.ErrorIs(t, err, ErrIllegal)
}
