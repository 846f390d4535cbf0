package gate

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Point 2: an edit is a new proposal, and the policy is asked again.

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
	d := open(t, `[{"tool":"*_delete","then":"ask"},{"tool":"*_delete","when":[{"at":"/all","exists":true}],"then":"deny"}]`,
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
	require.Equal(t, got.Final, g.Digest)
	require.True(t, g.Edited)
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
		require.NoError(t, d.SetPolicy(d.now, "bob", policyOf(t, `[{"tool":"meal_save_batch","when":[{"at":"/rows","count_over":2}],"then":"deny"},{"tool":"meal_save_batch","then":"allow"}]`)))
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
		require.Equal(t, Ask, it.Verdict)
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
		require.Equal(t, Refused, d.Phase("r"))
	})
}

func TestResponseInPlaceOfTheTool(t *testing.T) {
	d := open(t, someRules)
	it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
	_, err := d.Resolve(d.now, d.decision(it, Respond, `{"a":1,"a":2}`))
	require.ErrorIs(t, err, ErrInput)
	got := d.resolve(it, Respond, `{"error": "not today"}`)
	require.Equal(t, Answered, got.Status)
	require.Equal(t, `{"error":"not today"}`, string(got.Result))
	require.Equal(t, running, d.Phase("r"))
	_, err = d.Redeem(d.now, it.ID)
	require.ErrorIs(t, err, ErrDenied)
	_, err = d.Done(d.now, it.ID, json.RawMessage(`1`))
	require.ErrorIs(t, err, ErrIllegal)
	require.Equal(t, got, d.resolve(it, Respond, `{"error":"not today"}`))
	_, err = d.Resolve(d.now, d.decision(it, Respond, `{}`))
	require.ErrorIs(t, err, ErrDecided)
	_, err = d.Resolve(d.now, d.decision(d.propose(draft("r", "hello")), Respond, `{}`))
	require.ErrorIs(t, err, ErrIllegal)
}
