package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

func TestAlwaysAllowAddsARuleAndApproves(t *testing.T) {
	d := serve(t)
	d.running("r1")
	it := d.tool("r1", "c1", "weight_delete", `{"id":1}`)
	p := d.open(d.enter("ann"), "")
	set := p.until("settings").Settings
	allow := func(rule, was string) *problem {
		return p.ask(map[string]any{"t": "policy", "item": it.ID, "was": was,
			"rules": strings.TrimSuffix(set.Rules, "\n]\n") + "," + rule + "]"})
	}
	const good = `{"tool": "weight_delete", "thread": "main", "when": [{"at": "/id", "under": 3}], "then": "always"}`
	for rule, want := range map[string]string{
		`{"tool":"weight_delete","when":[{"at":"/id","equals":2}],"then":"always"}`: "tool *_delete: ask",
		`{"tool":"weight_delete","then":"allow"}`:                                   "tool *_delete: ask",
		`{"tool":"weight_delete","then":"deny"}`:                                    "tool weight_delete: deny",
		`{"tool":"weight_*","then":"always"}`:                                       "names one tool",
		`{"tool":`:                                                                  "not one JSON value",
	} {
		got := allow(rule, set.Rules)
		if assert.NotNil(t, got, rule) {
			assert.Contains(t, got.Message, want)
		}
	}
	assert.Equal(t, "conflict", allow(good, "old").Code)
	require.Nil(t, allow(good, set.Rules))
	require.Nil(t, p.ask(decision(it, "approve")))
	got, _ := d.session.Item(it.ID)
	assert.Equal(t, gate.Approved, got.Status)
	assert.Equal(t, "ann", got.By)
	assert.Contains(t, d.console.settings().Rules, strings.NewReplacer(": ", ":", ", ", ",").Replace(good),
		"everybody can read it on the Rules page")

	assert.Equal(t, gate.Approved, d.tool("r1", "c2", "weight_delete", `{"id":2}`).Status)
	assert.Equal(t, gate.Pending, d.tool("r1", "c3", "weight_delete", `{"id":3}`).Status)
	other := d.propose(gate.Subject{Kind: gate.Context, Thread: "other", Run: "r9", Body: json.RawMessage(`{}`)})
	_, err := d.session.Resolve(d.clock.now(),
		gate.Decision{Item: other.ID, Digest: other.Digest, Action: gate.Approve, By: "host"})
	require.NoError(t, err)
	_, err = d.session.Redeem(d.clock.now(), other.ID)
	require.NoError(t, err)
	elsewhere := d.propose(gate.Subject{Kind: gate.Tool, Thread: "other", Run: "r9", Call: "c", Tool: "weight_delete",
		Body: json.RawMessage(`{"id":1}`)})
	assert.Equal(t, gate.Pending, elsewhere.Status, "the rule is for one conversation")
}

func TestAlwaysAllowDoesNotBeatADenial(t *testing.T) {
	d := serve(t)
	d.running("r1")
	it := d.tool("r1", "c1", "weight_delete", `{"id":1}`)
	policy, err := gate.ParsePolicy([]byte(`[{"tool":"weight_delete","then":"deny"}]`))
	require.NoError(t, err)
	require.NoError(t, d.session.SetPolicy(d.clock.now(), "host", policy))
	p := d.open(d.enter("ann"), "")
	set := p.until("settings").Settings
	got := p.ask(map[string]any{"t": "policy", "item": it.ID, "was": set.Rules,
		"rules": `[{"tool":"weight_delete","then":"deny"},{"tool":"weight_delete","then":"always"}]`})
	require.NotNil(t, got)
	assert.Equal(t, "Another rule still holds: tool weight_delete: deny. Change that rule, or yours.", got.Message)
	assert.Equal(t, "illegal", p.ask(map[string]any{"t": "policy", "item": "none", "was": set.Rules, "rules": "[]"}).Code)
	assert.Equal(t, policy, d.session.Policy())
}

func TestRulesAreTriedBeforeTheyAreSaved(t *testing.T) {
	d := serve(t)
	d.running("r1")
	for i := range 120 {
		d.tool("r1", fmt.Sprint("c", i), "profile_get", fmt.Sprintf(`{"n":%d}`, i))
	}
	got, err := d.console.try(`[{"tool":"profile_get","then":"allow"},{"tool":"profile_get","when":[{"at":"/n","over":115}],"then":"deny"},
		{"tool":"profile_get","when":[{"at":"/n","under":22}],"then":"ask"},{"tool":"bash","when":[{"at":"/command","like":"ls*"}],"then":"allow"}]`)
	require.NoError(t, err)
	require.Len(t, got.Calls, 100)
	would := map[gate.Status]int{}
	for _, c := range got.Calls {
		assert.Equal(t, gate.Approved, c.Was)
		would[c.Then]++
	}
	assert.Equal(t, map[gate.Status]int{gate.Approved: 94, gate.Pending: 2, gate.Denied: 4}, would)
	assert.Equal(t, tried{got.Calls[0].Item, "profile_get", `{"n":119}`, gate.Approved, gate.Denied,
		"tool profile_get when /n over 115: deny"}, got.Calls[0])
	assert.Len(t, got.Warnings, 1)
	_, err = d.console.try(`[{}]`)
	assert.ErrorContains(t, err, "then")
	events, _ := d.session.Events(0)
	for _, e := range events {
		assert.Nil(t, e.Policy, "nothing was saved")
	}
}
