package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

func inFile(name string) func(*Config, *limits) {
	return func(c *Config, _ *limits) { c.PolicyFile = name }
}

func TestRulesAreKeptInAFileAndReplacedAsAWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.json")
	d := serve(t, inFile(file))
	data, err := os.ReadFile(file)
	require.NoError(t, err, "a first start writes what the session has")
	_, err = gate.ParsePolicy(data)
	require.NoError(t, err)

	ann, ben := d.open(d.enter("ann"), ""), d.open(d.enter("ben"), "")
	set := *ann.until("settings").Settings
	assert.Equal(t, string(data), set.Rules)
	assert.True(t, set.Kept)
	assert.Equal(t, set.Rules, ben.until("settings").Settings.Rules)

	mine := "[\n  {\"tool\": \"profile_get\",   \"then\": \"deny\"}\n]"
	save := func(was, rules string) map[string]any {
		return map[string]any{"t": "policy", "was": was, "rules": rules}
	}
	for _, tt := range []struct{ rules, want string }{
		{`[{"tool":"x"}]`, "then"},
		{`[{"tool":"*","then":"allow"}]`, "may only deny"},
		{`[{"tool":"x","then":"ask","match":["y"]}]`, "match"},
		{`{`, ""},
	} {
		p := ann.ask(save(set.Rules, tt.rules))
		if assert.NotNil(t, p, tt.rules) {
			assert.Equal(t, "policy", p.Code)
			assert.Contains(t, p.Message, tt.want)
		}
	}
	unchanged, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, data, unchanged, "a bad rule leaves the file alone")

	require.Nil(t, ann.ask(save(set.Rules, mine)))
	data, err = os.ReadFile(file)
	require.NoError(t, err)
	mine = "[\n  {\"tool\":\"profile_get\",\"then\":\"deny\"}\n]\n"
	assert.Equal(t, mine, string(data), "a rule a line")
	then, _, _ := d.session.Policy().Overview(gate.Tool, "profile_get")
	assert.Equal(t, gate.Denied, then)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1, "no temporary file is left")

	assert.Equal(t, mine, ben.until("settings").Settings.Rules, "everybody sees it")
	assert.Equal(t, "conflict", ben.ask(save(set.Rules, "[]")).Code, "ben's change began with the old rules")

	events, _ := d.session.Events(0)
	assert.Equal(t, "ann", events[len(events)-1].By)

	require.NoError(t, os.WriteFile(file, []byte("[ ]"), 0o600))
	p := ann.ask(save(mine, "[]"))
	require.NotNil(t, p)
	assert.Contains(t, p.Message, "policy file by hand")

	again := serve(t, inFile(file)) // a restart
	assert.Equal(t, "[\n]\n", again.session.Policy().String())
	events, _ = again.session.Events(0)
	assert.Equal(t, byFile, events[len(events)-1].By)
}

func TestNewRefusesAPolicyFileThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	s := serve(t).session
	bad := filepath.Join(dir, "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`[{"tool":"x","when":"y","then":"allow"}]`), 0o600))
	long := filepath.Join(dir, "long.json")
	require.NoError(t, os.WriteFile(long, make([]byte, 1<<20+1), 0o600))
	for name, want := range map[string]string{
		bad: "when", long: "the limit is 1048576", dir: "is a directory",
		filepath.Join(dir, "none", "p.json"): "write the policy file",
	} {
		_, err := New(Config{Session: s, PolicyFile: name})
		assert.ErrorContains(t, err, want, name)
	}
}

func TestJournalThatFailsLeavesTheOldRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.json")
	policy, err := gate.ParsePolicy([]byte(someRules))
	require.NoError(t, err)
	broken := false
	s, err := gate.New(policy, gate.Options{Audited: true, Journal: func([]byte) error {
		if broken {
			return os.ErrClosed
		}
		return nil
	}})
	require.NoError(t, err)
	d := serve(t, inFile(file), func(c *Config, _ *limits) { c.Session = s })
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	p := d.open(d.enter("ann"), "")
	set := p.until("settings").Settings
	broken = true
	assert.Equal(t, "journal", p.ask(map[string]any{"t": "policy", "was": set.Rules, "rules": "[]"}).Code)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

// ruled is the command of a checkbox: the rules with one about a gate or a tool.
func ruled(p gate.Policy, what, name string, on bool) map[string]any {
	then := map[bool]string{true: "ask", false: "allow"}[on]
	rules := strings.TrimSuffix(p.String(), "]\n")
	for line := range strings.Lines(p.String()) {
		if strings.Contains(line, `{"`+what+`":"`+name+`","then":`) && !strings.Contains(line, "deny") {
			rules = strings.Replace(rules, line, "", 1)
		}
	}
	rules = strings.TrimRight(rules, ",\n") + `,{"` + what + `":"` + name + `","then":"` + then + `"}]`
	return map[string]any{"t": "policy", "was": p.String(), "rules": strings.Replace(rules, "[,", "[", 1), what: name, "on": on}
}

func TestCheckboxesSayWhatHolds(t *testing.T) {
	d := serve(t)
	p := d.open(d.enter("ann"), "")
	set := p.until("settings").Settings
	boxes := func(s *settings) map[string]gate.Status {
		m := map[string]gate.Status{}
		for _, b := range append(s.Gates, s.Tools...) {
			m[b.Name] = b.Then
		}
		return m
	}
	assert.Equal(t, map[string]gate.Status{"context": "pending", "response": "pending", "profile_get": "approved",
		"weight_delete": "pending", "wipe": "denied"}, boxes(set))
	change := func(what, name string, on bool) *problem {
		return p.ask(ruled(d.session.Policy(), what, name, on))
	}
	require.Nil(t, change("gate", "response", false))
	require.Nil(t, change("tool", "profile_get", true))
	now := d.console.settings()
	assert.Equal(t, gate.Approved, boxes(now)["response"])
	assert.Equal(t, gate.Pending, boxes(now)["profile_get"])
	assert.Equal(t, 1, strings.Count(d.session.Policy().String(), `"profile_get"`),
		"the rule is changed, not doubled")

	refused := change("tool", "weight_delete", false)
	require.NotNil(t, refused)
	assert.Contains(t, refused.Message, "*_delete")
	assert.NotNil(t, change("tool", "wipe", true), "a rule that denies is stricter")
	assert.NotNil(t, change("tool", "*", true))
	assert.NotNil(t, change("gate", "tool", false))

	require.Nil(t, p.ask(map[string]any{"t": "audited", "on": false}))
	assert.False(t, d.session.Audited())
}

func TestConditionsStandBesideTheBox(t *testing.T) {
	d := serve(t)
	policy, err := gate.ParsePolicy([]byte(`[{"tool":"*_batch","then":"ask"},{"tool":"*_batch","when":[{` +
		`"at":"/rows","count_over":3}],"then":"deny"}]`))
	require.NoError(t, err)
	require.NoError(t, d.session.SetPolicy(d.clock.now(), "host", policy))
	d.console.cfg.Tools = []string{"a_batch", "other"}
	set := d.console.settings()
	require.Len(t, set.Tools, 2)
	stricter := []string{"tool *_batch when /rows count_over 3: deny"}
	assert.Equal(t, box{"a_batch", gate.Pending, "tool *_batch: ask", stricter}, set.Tools[0])
	assert.Equal(t, gate.Denied, set.Tools[1].Then)
	assert.Empty(t, set.Tools[1].Unless)

	p := d.open(d.enter("ann"), "")
	p.until("settings")
	require.Nil(t, p.ask(ruled(policy, "tool", "other", true)),
		"a new rule for a tool that none knew")
	then, _, _ := d.session.Policy().Overview(gate.Tool, "other")
	assert.Equal(t, gate.Pending, then)
}

func TestRulesOfTheHostAreFollowed(t *testing.T) {
	d := serve(t)
	p := d.open(d.enter("ann"), "")
	p.until("settings")
	policy, err := gate.ParsePolicy([]byte(`[{"tool":"new_tool","then":"ask"}]`))
	require.NoError(t, err)
	require.NoError(t, d.session.SetPolicy(d.clock.now(), "host", policy))
	assert.Contains(t, p.until("settings").Settings.Rules, "new_tool")
}
