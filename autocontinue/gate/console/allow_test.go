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

// labels returns what may be chosen for an argument.
func (s suggestion) labels(key string) (labels []string) {
	for _, arg := range s.Args {
		if arg.Key == key {
			for _, c := range arg.Choices {
				labels = append(labels, c.Label)
			}
		}
	}
	return labels
}

// widths are rules that a person can make of a suggestion, from the narrowest on: each with one argument set to its nth
// choice and the others exact.
func (s suggestion) rule(tool, key string, n int) string {
	when := []string{s.Count}
	for _, arg := range s.Args {
		c := arg.Choices[0]
		if arg.Key == key {
			c = arg.Choices[n]
		}
		when = append(when, c.Condition)
	}
	return fmt.Sprintf(`{"tool": %q, "when": [%s], "then": "always"}`, tool, strings.Join(when, ", "))
}

func TestSuggestedRuleIsAsNarrowAsItsCall(t *testing.T) {
	d := serve(t)
	policy, err := gate.ParsePolicy([]byte(`[{"tool":"run","then":"ask"}]`))
	require.NoError(t, err)
	require.NoError(t, d.session.SetPolicy(d.clock.now(), "host", policy))
	d.running("r1")
	it := d.tool("r1", "c1", "run",
		`{"command":"git status -s","dir/~":"x","n":1.50,"path":"src/deep/a.go","deep":{"k":[1]}}`)
	s, err := d.console.suggest(it.ID)
	require.NoError(t, err)
	assert.Equal(t, []string{`exactly "git status -s"`, "commands: git status *", "anything"}, s.labels("command"))
	assert.Equal(t, []string{`exactly "x"`, "anything"}, s.labels("dir/~"))
	assert.Equal(t, []string{"exactly 1.50", "anything"}, s.labels("n"))

	calls := map[string]string{
		"the call itself": `{"command":"git status -s","dir/~":"x","n":1.5,"path":"src/deep/a.go","deep":{"k":[1]}}`,
		"another command": `{"command":"git status","dir/~":"x","n":1.5,"path":"src/deep/a.go","deep":{"k":[1]}}`,
		"two commands":    `{"command":"git status; rm x","dir/~":"x","n":1.5,"path":"src/deep/a.go","deep":{"k":[1]}}`,
		"another number":  `{"command":"git status -s","dir/~":"x","n":2,"path":"src/deep/a.go","deep":{"k":[1]}}`,
		"an argument more": `{"command":"git status -s","dir/~":"x","n":1.5,"path":"src/deep/a.go","deep":{"k":[1]}` +
			`,"force":true}`,
		"an argument less": `{"command":"git status -s","dir/~":"x","n":1.5,"path":"src/deep/a.go"}`,
		"one for another":  `{"command":"git status -s","dir/~":"x","n":1.5,"path":"src/deep/a.go","force":true}`,
		"something deep " +
			"more": `{"command":"git status -s","dir/~":"x","n":1.5,"path":"src/deep/a.go","deep":{"k":[1,2]}}`,
	}
	allowed := func(rule string) (names []string) {
		p, err := gate.ParsePolicy([]byte("[" + rule + "]"))
		require.NoError(t, err, rule)
		for name, args := range calls {
			if then, _ := p.Judge(gate.Subject{Kind: gate.Tool, Tool: "run", Body: json.RawMessage(args)}); then == gate.Approved {
				names = append(names, name)
			}
		}
		return names
	}
	assert.Equal(t, []string{"the call itself"}, allowed(`{"tool":"run","when":[`+s.Exact+`],"then":"always"}`))
	assert.Equal(t, []string{"the call itself"}, allowed(s.rule("run", "", 0)))
	assert.ElementsMatch(t, []string{"the call itself", "another command"}, allowed(s.rule("run", "command", 1)))
	assert.ElementsMatch(t, []string{"the call itself", "another number"}, allowed(s.rule("run", "n", 1)))

	long := strings.Repeat("x", maxPinned)
	s, err = d.console.suggest(d.tool("r1", "c2", "run", `{"content":"`+long+`","path":"a"}`).ID)
	require.NoError(t, err)
	assert.Empty(t, s.Exact)
	assert.Equal(t, []string{"too long to compare: choose", "anything"}, s.labels("content"))
	assert.Empty(t, s.Args[0].Choices[0].Condition, "no rule until a person says that it may be wider than the call")

	_, err = d.console.suggest(d.stage("r2", "x").ID)
	assert.Error(t, err, "a rule for a message would be one for every message")
}

func TestAlwaysAllowAddsARuleAndApproves(t *testing.T) {
	d := serve(t)
	d.running("r1")
	it := d.tool("r1", "c1", "weight_delete", `{"id":1}`)
	p := d.open(d.enter("ann"), "")
	set := p.until("settings").Settings
	allow := func(rule, version string) *problem {
		return p.ask(map[string]any{"t": "allow", "item": it.ID, "digest": it.Digest, "rules": rule, "version": version})
	}
	const good = `{"tool": "weight_delete", "thread": "main", "when": [{"at": "/id", "under": 3}], "then": "always"}`
	for rule, want := range map[string]string{
		`{"tool":"weight_delete","when":[{"at":"/id","equals":2}],"then":"always"}`: "does not match the call",
		`{"tool":"weight_delete","then":"allow"}`:                                   `"then": "always"`,
		`{"tool":"weight_delete","then":"deny"}`:                                    `"then": "always"`,
		`{"tool":"weight_*","then":"always"}`:                                       "names one tool",
		good + "," + good:                                                           `Write one rule`,
		`{"tool":`:                                                                  "not one JSON value",
	} {
		got := allow(rule, set.Version)
		if assert.NotNil(t, got, rule) {
			assert.Contains(t, got.Message, want)
		}
	}
	assert.Equal(t, "conflict", allow(good, "old").Code)
	require.Nil(t, allow(good, set.Version))
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
	got := p.ask(map[string]any{"t": "allow", "item": it.ID, "digest": it.Digest, "version": set.Version,
		"rules": `{"tool":"weight_delete","then":"always"}`})
	require.NotNil(t, got)
	assert.Equal(t, "Another rule still holds: tool weight_delete: deny. Change it in the list.", got.Message)
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
