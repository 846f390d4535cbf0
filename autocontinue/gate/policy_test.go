package gate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Point 3: the strictest rule wins, unknown tools are denied, and a bad policy does not load.

func judge(t testing.TB, rules, tool, args string) Then {
	t.Helper()
	return policyOf(t, rules).Judge(call("r", "c", tool, args)).Then
}

func TestExampleOfTheReadme(t *testing.T) {
	const rules = `[{"tool":"profile_get","then":"allow"},{"tool":"*_delete","then":"ask","match":["weight_delete"]},{"tool":"*_save_batch","then":"ask"},{"gate":"response","then":"allow"}]`
	p := policyOf(t, rules)
	for _, tt := range []struct {
		sub  Subject
		want Then
	}{
		{call("r", "c", "profile_get", `{}`), Allow},
		{call("r", "c", "weight_delete", `{}`), Ask},
		{call("r", "c", "_delete", `{}`), Ask},
		{call("r", "c", "meal_save_batch", `{}`), Ask},
		{call("r", "c", "meal_save", `{}`), Forbid},
		{call("r", "c", "delete", `{}`), Forbid},
		{draft("r", "hi"), Allow},
		{contextOf("r"), Ask},
	} {
		require.Equal(t, tt.want, p.Judge(tt.sub).Then, "%s %s", tt.sub.Kind, tt.sub.Tool)
	}
	written, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, rules, string(written))
}

func TestStrictestWinsInAnyOrder(t *testing.T) {
	rules := []string{
		`{"tool":"a_b","then":"allow"}`, `{"tool":"a_*","then":"ask"}`, `{"tool":"*_b","then":"deny"}`,
		`{"tool":"a_*","when":[{"at":"/n","over":1}],"then":"deny"}`, `{"tool":"a_c","then":"allow"}`,
		`{"tool":"*_d","then":"allow"}`, `{"tool":"*","when":[{"at":"/x","equals":1}],"then":"deny"}`,
	}
	want := map[string]Verdict{
		`a_b{"x":0}`:       {Forbid, "tool *_b: deny"},
		`a_c{"n":1}`:       {Forbid, "tool * when /x equals 1: deny"}, // x cannot be read
		`a_c{"n":1,"x":2}`: {Ask, "tool a_*: ask"},
		`a_c{"n":2,"x":2}`: {Forbid, "tool a_* when /n over 1: deny"},
		`z_d{"x":0}`:       {Allow, "tool *_d: allow"},
		`z_e{"x":0}`:       {Forbid, "no rule names this tool"},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		r.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		p := policyOf(t, "["+strings.Join(rules, ",")+"]")
		for what, v := range want {
			tool, args, _ := strings.Cut(what, "{")
			require.Equal(t, v, p.Judge(call("r", "c", tool, "{"+args)), what)
		}
	}
}

func TestExactIsExact(t *testing.T) {
	for _, tt := range []struct {
		rule, tool string
		want       bool
	}{
		{"get", "get", true}, {"get", "Get", false}, {"get", "get_all", false}, {"get", "target", false}, {"get", "ge", false},
		{"a.c", "abc", false}, {"a.c", "a.c", true}, {"a.*", "abc", false}, {"a.*", "a.", true}, {"*", "x", true},
		{"a*a", "a", false}, {"a*a", "aa", true}, {"a*b*c", "abbc", true}, {"a*b*c", "acb", false}, {"*a*", "bab", true},
		{"*ab*ab*", "xabx", false}, {"*_x_*", "a_x_", true}, {"a*", "ba", false},
	} {
		require.Equal(t, tt.want, matchWildcard(tt.rule, tt.tool), "%s against %s", tt.rule, tt.tool)
	}
}

func TestStarAloneKnowsNoTool(t *testing.T) {
	const rules = `[{"tool":"*","when":[{"at":"/force","equals":true}],"then":"deny"},{"tool":"save","when":[{"at":"/n","under":3}],"then":"allow"}]`
	require.Equal(t, Forbid, judge(t, rules, "unheard_of", `{"force":false}`))
	require.Equal(t, Allow, judge(t, rules, "save", `{"force":false,"n":2}`))
	require.Equal(t, Ask, judge(t, rules, "save", `{"force":false,"n":3}`), "known, and no rule matches")
	require.Equal(t, Forbid, judge(t, rules, "save", `{"n":2}`), "a condition that cannot be read holds for a denial")
	require.Equal(t, Forbid, judge(t, `[]`, "save", `{}`))
}

func TestConditions(t *testing.T) {
	const unreadable = -1
	for _, tt := range []struct {
		when, args string
		want       int // 1 holds, 0 does not
	}{
		{`"at":"/rows","count_over":2`, `{"rows":[1,[2,3],{"a":4}]}`, 1},
		{`"at":"/rows","count_over":3`, `{"rows":[1,[2,3],{"a":4}]}`, 0},
		{`"at":"/rows","count_over":0`, `{"rows":{"a":1}}`, 1},
		{`"at":"/rows","count_over":0`, `{"rows":"abc"}`, unreadable},
		{`"at":"/rows","count_over":0`, `{"Rows":[1,2,3]}`, unreadable},
		{`"at":"/rows","count_over":0`, `{}`, unreadable},
		{`"at":"/rows","count_over":0`, `{"rows":null}`, unreadable},
		{`"at":"/rows","count_under":1`, `{"rows":[]}`, 1},
		{`"at":"/rows","count_under":1`, `{"rows":[ [ ] ]}`, 0},
		{`"at":"","count_under":1`, `{}`, 1},
		{`"at":"/rows/1/kcal","over":10`, `{"rows":[{"kcal":11},{"kcal":10.000000000000000000000001}]}`, 1},
		{`"at":"/rows/1/kcal","over":10`, `{"rows":[{"kcal":11},{"kcal":10}]}`, 0},
		{`"at":"/rows/2/kcal","over":10`, `{"rows":[{"kcal":11}]}`, unreadable},
		{`"at":"/rows/01","over":10`, `{"rows":[1,11]}`, unreadable},
		{`"at":"/rows/x","over":10`, `{"rows":[1,11]}`, unreadable},
		{`"at":"/n","over":10`, `{"n":"11"}`, unreadable},
		{`"at":"/n","over":-1`, `{"n":0}`, 1},
		{`"at":"/n","over":-1`, `{"n":-0.99e0}`, 1},
		{`"at":"/n","over":-1`, `{"n":-1.01}`, 0},
		{`"at":"/n","over":9007199254740992`, `{"n":9007199254740993}`, 1},
		{`"at":"/n","over":1e308`, `{"n":1e999}`, 1},
		{`"at":"/n","under":1e-308`, `{"n":1e-99999}`, 1},
		{`"at":"/n","under":1e-308`, `{"n":-5}`, 1},
		{`"at":"/n","under":0`, `{"n":-0.0}`, 0},
		{`"at":"/a~1b/~0/","equals":1`, `{"a/b":{"~":{"":1.0}}}`, 1},
		{`"at":"/o","equals":{"a":[1,"x"],"b":null}`, `{"o":{"b":null,"a":[10e-1,"\u0078"]}}`, 1},
		{`"at":"/o","equals":{"a":1}`, `{"o":{"a":1,"b":2}}`, 0},
		{`"at":"/o","equals":["ab"]`, `{"o":["a","b"]}`, 0},
		{`"at":"/o","equals":null`, `{"o":null}`, 1},
		{`"at":"/o","equals":null`, `{}`, unreadable},
		{`"at":"/o","equals":false`, `{"o":true}`, 0},
		{`"at":"/o","one_of":["a",2]`, `{"o":2.0}`, 1},
		{`"at":"/o","one_of":["a",2]`, `{"o":"2"}`, 0},
		{`"at":"/o","equals":5`, `{"o":"5"}`, unreadable},
		{`"at":"/o","equals":"prod"`, `{"o":["prod"]}`, unreadable},
		{`"at":"/o","equals":true`, `{"o":"true"}`, unreadable},
		{`"at":"/o","equals":true`, `{"o":null}`, unreadable},
		{`"at":"/o","equals":{}`, `{"o":[]}`, unreadable},
		{`"at":"/o","equals":null`, `{"o":"x"}`, 0},
		{`"at":"/o","equals":{"env":["prod"]}`, `{"o":{"Env":["prod"]}}`, unreadable},
		{`"at":"/o","equals":{"env":["prod"]}`, `{"o":{"Env":["test"]}}`, 0},
		{`"at":"/o","one_of":[{"a":2},{"k":1}]`, `{"o":{"\u212a":1}}`, unreadable},
		{`"at":"/o","one_of":[{"K":1},{"k":1}]`, `{"o":{"k":1}}`, 1},
		{`"at":"/o","one_of":["prod","stage"]`, `{"o":["prod"]}`, unreadable},
		{`"at":"/o","one_of":[null,"prod"]`, `{"o":"test"}`, 0},
		{`"at":"/o","one_of":[null,"prod"]`, `{"o":["prod"]}`, unreadable},
		{`"at":"/o","one_of":[-1,1]`, `{"o":2}`, 0},
		{`"at":"/o","like":"/etc/*"`, `{"o":"/etc/passwd"}`, 1},
		{`"at":"/o","like":"/etc/*"`, `{"o":"/ETC/passwd"}`, 0},
		{`"at":"/o","like":"a?[b]"`, `{"o":"a?[b]"}`, 1},
		{`"at":"/o","like":"*"`, `{"o":1}`, unreadable},
		{`"at":"/o","exists":true`, `{"o":null}`, 1},
		{`"at":"/o","exists":false`, `{"O":null}`, unreadable},
		{`"at":"/o","exists":false`, `{"p":1}`, 1},
		{`"at":"/o/p","exists":false`, `{"o":1}`, unreadable},
		{`"at":"/\u017fet","exists":false`, `{"set":1}`, unreadable},
	} {
		t.Run(tt.when+" "+tt.args, func(t *testing.T) {
			for _, then := range []Then{Allow, Ask, Forbid} {
				matched := judge(t, `[{"tool":"x","when":[{`+tt.when+`}],"then":"`+string(then)+`"},{"tool":"x","when":[{"at":"/never","exists":true}],"then":"allow"}]`, "x", tt.args)
				holds := tt.want == 1 || tt.want == unreadable && then != Allow
				want := Ask // what no rule matches
				if holds {
					want = then
				}
				require.Equal(t, want, matched, then)
			}
		})
	}
}

func TestAllConditionsMustHold(t *testing.T) {
	const rules = `[{"tool":"x","when":[{"at":"/a","over":1},{"at":"/b","over":1}],"then":"deny"},{"tool":"x","then":"allow"}]`
	require.Equal(t, Forbid, judge(t, rules, "x", `{"a":2,"b":2}`))
	require.Equal(t, Allow, judge(t, rules, "x", `{"a":2,"b":1}`))
	require.Equal(t, Forbid, judge(t, rules, "x", `{"a":2}`))
	require.Equal(t, Allow, judge(t, rules, "x", `{"a":1}`))
}

func TestBadPolicies(t *testing.T) {
	for _, tt := range []struct{ policy, want string }{
		{``, "there is nothing"},
		{`{}`, "it is no list"},
		{`[] []`, "there is more after"},
		{"[\n{\"tool\":\"a\",\"then\":\"ask\"},\n{\"tool\":\"b\" \"then\":\"ask\"}]", "line 3: the text is not JSON"},
		{`[1]`, "a rule is an object"},
		{`[{}]`, `"then" is missing`},
		{`[{"tool":"a","then":"allow"},{"tool":"b","then":"allow","then":"deny"}]`, "a key stands twice"},
		{`[{"tool":"a","then":"allow","Then":"deny"}]`, "differ in upper and lower case only"},
		{`[{"tool":"a","Then":"allow"}]`, `no field "Then"`},
		{`[{"tool":"a","then":"allow"},{"tool":"b","then":"permit"}]`, `rule 2 (tool b): then: "permit" is none of`},
		{`[{"tool":"a","then":"Allow"}]`, "is none of"},
		{`[{"tool":"a","then":true}]`, "then: write a string"},
		{`[{"tool":"a","than":"allow"}]`, `no field "than"`},
		{`[{"then":"deny"}]`, `name a "tool"`},
		{`[{"tool":"","then":"deny"}]`, "the name is empty"},
		{`[{"tool":"*","then":"allow"}]`, "may only deny, not allow"},
		{`[{"tool":"*","then":"ask"}]`, "may only deny, not ask"},
		{`[{"tool":"**","then":"allow"}]`, "write one"},
		{`[{"tool":"*","when":[{"at":"","exists":true}],"then":"allow"}]`, "may only deny"},
		{`[{"tool":"\u002a","then":"allow"}]`, "may only deny"},
		{`[{"tool":"get?","then":"allow"}]`, "nothing else is a wildcard"},
		{`[{"tool":"[a-z]","then":"allow"}]`, "nothing else is a wildcard"},
		{`[{"tool":"^get$","then":"allow"}]`, "nothing else is a wildcard"},
		{`[{"tool":"get ","then":"allow"}]`, "nothing else is a wildcard"},
		{`[{"tool":"gеt","then":"allow"}]`, "nothing else is a wildcard"}, // a Cyrillic letter
		{`[{"tool":"` + strings.Repeat("a", 200) + `","then":"allow"}]`, "too long"},
		{`[{"gate":"tool","then":"allow"}]`, `names a "tool"`},
		{`[{"gate":"any","then":"allow"}]`, "none of context, tool, response"},
		{`[{"gate":"response","tool":"a","then":"allow"}]`, "write two rules"},
		{`[{"tool":"a","when":{},"then":"ask"}]`, "when: write a list"},
		{`[{"tool":"a","when":[],"then":"ask"}]`, "when: write a list"},
		{`[{"tool":"a","when":["x"],"then":"ask"}]`, "a condition is an object"},
		{`[{"tool":"a","when":[{"over":1}],"then":"ask"}]`, `needs "at"`},
		{`[{"tool":"a","when":[{"at":"/n"}],"then":"ask"}]`, "has 0 tests"},
		{`[{"tool":"a","when":[{"at":"/n","over":1,"under":3}],"then":"ask"}]`, "has 2 tests"},
		{`[{"tool":"a","when":[{"at":"n","over":1}],"then":"ask"}]`, "begins with a slash"},
		{`[{"tool":"a","when":[{"at":"/n~2","over":1}],"then":"ask"}]`, `"~" is written "~0"`},
		{`[{"tool":"a","when":[{"at":"/n~","over":1}],"then":"ask"}]`, `"~" is written "~0"`},
		{`[{"tool":"a","when":[{"at":"/n/-","over":1}],"then":"ask"}]`, "after the last element"},
		{`[{"tool":"a","when":[{"at":"/n","over":"1"}],"then":"ask"}]`, "over: write a number"},
		{`[{"tool":"a","when":[{"at":"/n","count_over":-1}],"then":"ask"}]`, "count_over: write a whole number"},
		{`[{"tool":"a","when":[{"at":"/n","count_over":1.5}],"then":"ask"}]`, "count_over: write a whole number"},
		{`[{"tool":"a","when":[{"at":"/n","one_of":[]}],"then":"ask"}]`, "one_of: write a list"},
		{`[{"tool":"a","when":[{"at":"/n","exists":1}],"then":"ask"}]`, "exists: write true or false"},
		{`[{"tool":"a","when":[{"at":"/n","like":1}],"then":"ask"}]`, "like: write a string"},
		{`[{"tool":"a","when":[{"at":"/n","more":1}],"then":"ask"}]`, `no field "more"`},
		{`[{"tool":"*_delete","then":"ask","match":["weight_del"]}]`, `match, example 1: "weight_del" does not hold: the rule does not match it`},
		{`[{"tool":"*_delete","then":"ask","not_match":["a","b_delete"]}]`, `not_match, example 2: "b_delete" does not hold: the rule matches it`},
		{`[{"tool":"a","then":"ask","match":["a b"]}]`, "letters a-z"},
		{`[{"tool":"a","then":"ask","match":"a"}]`, "match: write a list"},
		{`[{"tool":"a","then":"ask","match":[1]}]`, "write a tool's name"},
		{`[{"tool":"a","then":"ask","match":[{"tool":"a"}]}]`, "write a tool's name"},
		{`[{"tool":"a","then":"ask","match":[{"tool":"a","args":{},"x":1}]}]`, "write a tool's name"},
		{`[{"tool":"a","then":"ask","match":[{"tool":"a","args":[]}]}]`, "not a JSON object"},
		{`[{"tool":"a","then":"ask","when":[{"at":"/n","over":1}],"match":[{"tool":"a","args":{"n":1}}]}]`, "does not match it"},
		{`[{"gate":"response","then":"ask","match":["a"]}]`, `write {"body"`},
		{`[{"gate":"response","then":"ask","match":[{"body":{"txt":"a"}}]}]`, "a response has text"},
		{`[{"gate":"response","then":"ask","when":[{"at":"/text","like":"*sorry*"}],"match":[{"body":{"text":"no"}}]}]`, "does not match it"},
		{`[` + strings.Repeat(`{"tool":"a","then":"ask"},`, maxRules) + `{"tool":"a","then":"ask"}]`, "at most 1000 are read"},
		{`[` + strings.Repeat(" ", maxPolicy) + `]`, "are read"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			p, err := ParsePolicy([]byte(tt.policy))
			require.ErrorContains(t, err, tt.want)
			require.IsType(t, &PolicyError{}, err)
			require.Empty(t, p.Rules())
			require.Error(t, json.Unmarshal([]byte(tt.policy), new(Policy)))
		})
	}
}

func TestExamplesThatHold(t *testing.T) {
	p := policyOf(t, `[{"tool":"*_save","when":[{"at":"/rows","count_over":1}],"then":"ask",
		"match":["meal_save",{"tool":"meal_save","args":{"rows":[1,2]}},{"args":{},"tool":"meal_save"}],
		"not_match":["meal_saved",{"tool":"meal_save","args":{"rows":[]}}]},
		{"gate":"response","when":[{"at":"/text","like":"*sorry*"}],"then":"deny","match":[{"body":{"text":"so sorry!"}}],"not_match":[{"body":{"text":"Sorry"}}]},
		{"gate":"tool","tool":"x","then":"allow","match":["x"]}]`)
	require.Equal(t, []string{"tool *_save when /rows count_over 1: ask", `gate response when /text like "*sorry*": deny`, "tool x: allow"},
		[]string{p.Rules()[0].String(), p.Rules()[1].String(), p.Rules()[2].String()})
	data, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, p, policyOf(t, string(data)))

	rules := p.Rules()
	*rules[0].When[0].CountOver = 99
	rules[0].Match[0][0] = 'x'
	require.Equal(t, p, policyOf(t, string(data)), "the rules are copies")
}

func TestUnreadableSubjectIsDenied(t *testing.T) {
	p := policyOf(t, `[{"tool":"a","then":"allow"},{"gate":"context","then":"allow"}]`)
	for _, sub := range []Subject{
		call("r", "c", "a", `{"x":1,"X":2}`), call("r", "c", "a", `[]`), call("r", "c", "a", ``), call("r", "c", "", `{}`), {},
		{Kind: "all", Body: json.RawMessage(`{}`)}, {Kind: Context, Body: json.RawMessage(`{}{}`)},
	} {
		require.Equal(t, Forbid, p.Judge(sub).Then)
	}
}

func TestUnauditedAsksNothing(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.Audited = false })
	run := d.started("r")
	for i, tt := range []struct {
		tool, args string
		want       Status
		by         string
	}{
		{"profile_get", `{}`, Approved, ByPolicy},
		{"weight_delete", `{}`, Approved, ByUnaudited},
		{"meal_save_batch", `{"rows":[1,2,3,4]}`, Denied, ByPolicy},
		{"unheard_of", `{}`, Denied, ByPolicy},
	} {
		it := d.propose(call(run, fmt.Sprint("c", i), tt.tool, tt.args))
		require.Equal(t, tt.want, it.Status, tt.tool)
		require.Equal(t, tt.by, it.By)
		if it.Status == Approved {
			d.redeem(it)
			_, err := d.Done(d.now, it.ID, json.RawMessage(`1`))
			require.NoError(t, err)
		}
	}
	it := d.propose(draft(run, "hello"))
	require.Equal(t, ByUnaudited, it.By)
	require.NoError(t, d.SetAudited(d.now, "ann", true))
	_, err := d.Redeem(d.now, it.ID)
	require.ErrorIs(t, err, ErrPending, "since then a human is to be asked")
	require.NoError(t, d.SetAudited(d.now, "ann", false))
	require.Equal(t, Pending, d.status(it.ID), "nothing passes by itself")
	require.Equal(t, Approved, d.propose(draft(run, "hello")).Status, "but when the host proposes it again")
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
	require.True(t, slices.Contains(d.types(0), AuditChanged))
}

// What a policy says is shown beside every item: it is short, and hides nothing.
func TestLongRulesAreShownBriefly(t *testing.T) {
	long := strings.Repeat("\u202eab", 3000)
	p := policyOf(t, `[{"tool":"x","when":[{"at":"/`+long+`","equals":"`+long+`"}],"then":"deny"}]`)
	v := p.Judge(call("r", "c", "x", `{}`))
	require.Less(t, len(v.Rule), 3000)
	require.NotContains(t, v.Rule, "\u202e")
	require.True(t, strings.HasSuffix(v.Rule, "…: deny"))
	for _, bad := range []string{
		`[{"tool":"x","then":"` + long + `"}]`, `[{"` + long + `":1}]`, `[{"gate":"` + long + `","then":"ask"}]`,
		`[{"tool":"x","then":"ask","when":[{"` + long + `":1}]}]`, `[{"tool":"x","then":"ask","when":[{"at":"/` + long + `"}]}]`,
		`[{"gate":"context","then":"ask","not_match":[{"body":{"` + long + `":1}}]}]`,
	} {
		_, err := ParsePolicy([]byte(bad))
		require.Error(t, err)
		require.Less(t, len(err.Error()), 1000)
		require.NotContains(t, err.Error(), "\u202e")
	}
}

// A line separator is three bytes as it stands and six as the journal writes it.
func TestPolicyIsReadBackFromTheJournal(t *testing.T) {
	for separators, taken := range map[int]bool{maxPolicy/6 - 100: true, maxPolicy/6 + 100: false} {
		text := `[{"gate":"context","when":[{"at":"/a","like":"` + strings.Repeat("\u2028", separators) + `"}],"then":"deny"}]`
		p, err := ParsePolicy([]byte(text))
		if !taken {
			var bad *PolicyError
			require.ErrorAs(t, err, &bad)
			require.Contains(t, err.Error(), "written out")
			require.Empty(t, p.Rules())
			continue
		}
		require.NoError(t, err)
		d := open(t, someRules)
		require.NoError(t, d.SetPolicy(d.now, "ann", p))
		require.Equal(t, inside(d.Session), inside(d.again(someRules)))
	}
}
