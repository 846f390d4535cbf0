package gate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func judge(t testing.TB, rules, tool, args string) ruling {
	t.Helper()
	return policyOf(t, rules).verdict(call("r", "c", tool, args)).then
}

func TestExampleOfTheReadme(t *testing.T) {
	const rules = `[{"tool":"profile_get","then":"allow"},{"tool":"*_delete","then":"ask",` +
		`"match":["weight_delete"]},{"tool":"*_save_batch","then":"ask"},{"gate":"response","then":"allow"}]`
	p := policyOf(t, rules)
	for _, tt := range []struct {
		sub  Subject
		want ruling
	}{
		{call("r", "c", "profile_get", `{}`), allow},
		{call("r", "c", "weight_delete", `{}`), ask},
		{call("r", "c", "_delete", `{}`), ask},
		{call("r", "c", "meal_save_batch", `{}`), ask},
		{call("r", "c", "meal_save", `{}`), forbid},
		{call("r", "c", "delete", `{}`), forbid},
		{draft("r", "hi"), allow},
		{contextOf("r"), ask},
	} {
		require.Equal(t, tt.want, p.verdict(tt.sub).then, "%s %s", tt.sub.Kind, tt.sub.Tool)
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
	want := map[string]verdict{
		`a_b{"x":0}`:       {then: forbid, rule: "tool *_b: deny"},
		`a_c{"n":1}`:       {then: forbid, rule: "tool * when /x equals 1: deny"}, // x cannot be read
		`a_c{"n":1,"x":2}`: {then: ask, rule: "tool a_*: ask"},
		`a_c{"n":2,"x":2}`: {then: forbid, rule: "tool a_* when /n over 1: deny"},
		`z_d{"x":0}`:       {then: allow, rule: "tool *_d: allow"},
		`z_e{"x":0}`:       {then: forbid, rule: "no rule names this tool"},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		r.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		p := policyOf(t, "["+strings.Join(rules, ",")+"]")
		for what, v := range want {
			tool, args, _ := strings.Cut(what, "{")
			require.Equal(t, v, p.verdict(call("r", "c", tool, "{"+args)), what)
		}
	}
}

func TestExactIsExact(t *testing.T) {
	for _, tt := range []struct {
		rule, tool string
		want       bool
	}{
		{"get", "get", true}, {"get", "Get", false}, {"get", "get_all", false}, {"get", "target", false},
		{"get", "ge", false}, {"a.c", "abc", false}, {"a.c", "a.c", true}, {"a.*", "abc", false}, {"a.*", "a.", true},
		{"*", "x", true}, {"a*a", "a", false}, {"a*a", "aa", true}, {"a*b*c", "abbc", true}, {"a*b*c", "acb", false},
		{"*a*", "bab", true}, {"*ab*ab*", "xabx", false}, {"*_x_*", "a_x_", true}, {"a*", "ba", false},
	} {
		require.Equal(t, tt.want, matchWildcard(tt.rule, tt.tool), "%s against %s", tt.rule, tt.tool)
	}
}

func TestStarAloneKnowsNoTool(t *testing.T) {
	const rules = `[{"tool":"*","when":[{"at":"/force","equals":true}],"then":"deny"},{"tool":"save","when":[{` +
		`"at":"/n","under":3}],"then":"allow"}]`
	require.Equal(t, forbid, judge(t, rules, "unheard_of", `{"force":false}`))
	require.Equal(t, allow, judge(t, rules, "save", `{"force":false,"n":2}`))
	require.Equal(t, ask, judge(t, rules, "save", `{"force":false,"n":3}`), "known, and no rule matches")
	require.Equal(t, forbid, judge(t, rules, "save", `{"n":2}`), "a condition that cannot be read holds for a denial")
	require.Equal(t, forbid, judge(t, `[]`, "save", `{}`))
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
			for _, then := range []ruling{allow, ask, forbid} {
				matched := judge(t, `[{"tool":"x","when":[{`+tt.when+`}],"then":"`+string(then)+
					`"},{"tool":"x","when":[{"at":"/never","exists":true}],"then":"allow"}]`, "x", tt.args)
				holds := tt.want == 1 || tt.want == unreadable && then != allow
				want := ask // what no rule matches
				if holds {
					want = then
				}
				require.Equal(t, want, matched, then)
			}
		})
	}
}

func TestElements(t *testing.T) {
	const unreadable = -1
	for _, tt := range []struct {
		when, args string
		want       int
	}{
		{`"at":"/rows","any":{"at":"/kcal","over":500}`, `{"rows":[{"kcal":1},{"kcal":501}]}`, 1},
		{`"at":"/rows","any":{"at":"/kcal","over":500}`, `{"rows":[{"kcal":1},{"kcal":500}]}`, 0},
		{`"at":"/rows","any":{"at":"/kcal","over":500}`, `{"rows":[{"kcal":1},{"Kcal":501}]}`, unreadable},
		{`"at":"/rows","any":{"at":"/kcal","over":500}`, `{"rows":[{"kcal":"501"},{"kcal":600}]}`, 1},
		{`"at":"/rows","any":{"at":"/kcal","over":500}`, `{"rows":[]}`, 0},
		{`"at":"/rows","any":{"at":"/kcal","over":500}`, `{"rows":{"kcal":501}}`, unreadable},
		{`"at":"/rows","any":{"at":"/kcal","over":500}`, `{}`, unreadable},
		{`"at":"/rows","all":{"under":5}`, `{"rows":[1,2,4.9]}`, 1},
		{`"at":"/rows","all":{"under":5}`, `{"rows":[1,2,5]}`, 0},
		{`"at":"/rows","all":{"under":5}`, `{"rows":[1,"2"]}`, unreadable},
		{`"at":"/rows","all":{"under":5}`, `{"rows":[9,"2"]}`, 0},
		{`"at":"/rows","all":{"under":5}`, `{"rows":[]}`, unreadable},
		{`"at":"/rows","all":{"under":5}`, `{"rows":{"a":1,"b":2}}`, 1},
		{`"at":"/rows","any":{"all":{"equals":1}}`, `{"rows":[[2],[1,1]]}`, 1},
		{`"at":"/paths","all":{"path":"src"}`, `{"paths":["src/a","src/b/c"]}`, 1},
		{`"at":"/paths","all":{"path":"src"}`, `{"paths":["src/a","lib"]}`, 0},
	} {
		for _, then := range []ruling{allow, ask, forbid} {
			holds := tt.want == 1 || tt.want == unreadable && then != allow
			want := ask // what no rule matches
			if holds {
				want = then
			}
			rules := `[{"tool":"x","when":[{` + tt.when + `}],"then":"` + string(then) +
				`"},{"tool":"x","when":[{"at":"/never","exists":true}],"then":"allow"}]`
			require.Equal(t, want, judge(t, rules, "x", tt.args), "%s %s: %s", tt.when, tt.args, then)
		}
	}
	require.Equal(t, forbid, judge(t, `[{"tool":"x","when":[{"at":"/paths","any":{"path":"src"}}],"then":"allow"}]`, "x",
		`{"paths":["src","a/.."]}`))
}

func TestNamesAgreeOnCase(t *testing.T) {
	const rules = `[{"tool":"weight*","then":"allow"},{"tool":"*_delete","then":"deny"},{"tool":"*_EXPORT",` +
		`"then":"ask"},{"tool":"*_*","then":"deny","when":[{"at":"/force","equals":true}]}]`
	for tool, want := range map[string]ruling{
		"weight_get": allow, "weight_delete": forbid, "weight_DELETE": forbid, "weight_Delete": forbid, "Weight_get": forbid,
		"WEIGHT_delete": forbid, "weight_export": ask, "weight_Export": ask, "meal_get": forbid,
	} {
		require.Equal(t, want, judge(t, rules, tool, `{"force":false}`), tool)
	}
	require.Equal(t, forbid, judge(t, rules, "weight_get", `{"force":true}`))
}

// A pattern without a letter or digit matches tools that nobody has thought of.
func TestVaguePatternsMayOnlyDeny(t *testing.T) {
	for _, pattern := range []string{"*", "*_*", "_*", "*-*", "*:*_*", "*.*"} {
		for _, then := range []ruling{allow, ask} {
			_, err := ParsePolicy([]byte(`[{"tool":"` + pattern + `","then":"` + string(then) + `"}]`))
			require.ErrorContains(t, err, "may only deny", pattern)
		}
		require.Equal(t, forbid, judge(t, `[{"tool":"`+pattern+`","then":"deny","when":[{"at":"/x","equals":1}]}]`, "a_b",
			`{"x":2}`), "it names no tool")
	}
}

func TestAlwaysBeatsAskAndNotDeny(t *testing.T) {
	const always = `{"tool":"save","when":[{"at":"/n","equals":1}],"then":"always"}`
	require.Equal(t, allow, judge(t, `[{"tool":"s*","then":"ask"},`+always+`]`, "save", `{"n":1}`))
	require.Equal(t, ask, judge(t, `[{"tool":"s*","then":"ask"},`+always+`]`, "save", `{"n":2}`))
	require.Equal(t, ask, judge(t, `[{"tool":"s*","then":"ask"},`+always+`]`, "save", `{"n":"1"}`),
		"what is unclear does not match")
	require.Equal(t, forbid, judge(t, `[{"tool":"s*","then":"deny"},`+always+`]`, "save", `{"n":1}`))
	v := policyOf(t, `[`+always+`]`).verdict(call("r", "c", "save", `{"n":1}`))
	require.Equal(t, verdict{then: allow, rule: "tool save when /n equals 1: always"}, v)
}

func TestRuleOfOneThread(t *testing.T) {
	p := policyOf(t, `[{"tool":"get","then":"ask"},{"tool":"get","thread":"th","then":"always"}]`)
	sub := call("r", "c", "get", `{}`)
	require.Equal(t, allow, p.verdict(sub).then)
	sub.Thread = "th2"
	require.Equal(t, ask, p.verdict(sub).then)
}

func TestShortestTimeWins(t *testing.T) {
	for _, rules := range []string{
		`[{"tool":"a*","then":"ask","within":"1h"},{"tool":"*b","then":"ask","within":"90s","escalate":"on call"},{` +
			`"tool":"ab","then":"ask"}]`,
		`[{"tool":"ab","then":"ask"},{"tool":"*b","then":"ask","within":"90s","escalate":"on call"},{"tool":"a*",` +
			`"then":"ask","within":"1h"}]`,
	} {
		want := verdict{ask, "tool *b: ask within 1m30s, then on call", 90 * time.Second, "on call"}
		require.Equal(t, want, policyOf(t, rules).verdict(call("r", "c", "ab", `{}`)))
	}
}

func TestWarnings(t *testing.T) {
	for rule, want := range map[string]string{
		`{"tool":"bash","when":[{"at":"/command","like":"git *"}],"then":"allow"}`:                 "rule 1 (tool bash when /command like \"git *\": allow): /command like \"git *\" is probably a shell line",
		`{"tool":"run_shell","when":[{"at":"/input","like":"ls*"}],"then":"ask"}`:                  "shell line",
		`{"tool":"x","when":[{"at":"/argv","any":{"at":"/cmd","like":"ls*"}}],"then":"deny"}`:      "shell line",
		`{"tool":"edit","when":[{"at":"/file_path","like":"src/*"}],"then":"allow"}`:               "probably a path",
		`{"tool":"x","when":[{"at":"/text","like":"git *"}],"then":"allow"}`:                       "",
		`{"tool":"bash","when":[{"at":"/command","command":"git status *"}],"then":"allow"}`:       "",
		`{"tool":"edit","when":[{"at":"/path","path":"src"},{"at":"/n","over":1}],"then":"allow"}`: "",
	} {
		got := policyOf(t, "["+rule+"]").Warnings()
		if want == "" {
			require.Empty(t, got, rule)
			continue
		}
		require.Len(t, got, 1, rule)
		require.Contains(t, got[0], want)
	}
}

func TestChangesOfThePolicy(t *testing.T) {
	d := open(t, `[{"tool":"a","then":"ask"},{"tool":"b","then":"allow"},{"tool":"c","then":"allow"},{`+
		`"gate":"response","then":"ask","within":"1h"}]`)
	require.NoError(t, d.SetPolicy(d.now, "ann",
		policyOf(t, `[{"tool":"d","then":"ask"},{"tool":"c","then":"allow","match":["c"]},{"tool":"a","then":"deny"},{`+
			`"gate":"response","then":"ask","within":"5m"}]`)))
	events, _ := d.Events(0)
	require.Equal(t, []string{"removed tool a: ask", "removed tool b: allow",
		"removed gate response: ask within 1h0m0s", "added tool d: ask", "added tool a: deny",
		"added gate response: ask within 5m0s"}, events[0].Changes)
	require.NoError(t, d.SetPolicy(d.now, "ann", d.Policy()))
	events, _ = d.Events(1)
	require.Equal(t, []string{"only the order, the layout or the examples of the rules changed"}, events[0].Changes)
	require.Equal(t, inside(d.Session), inside(d.again(`[]`)))
}

func TestChangesOfAuditing(t *testing.T) {
	d := open(t, someRules)
	for _, on := range []bool{false, false, true} {
		require.NoError(t, d.SetAudited(d.now, "ann", on))
	}
	events, _ := d.Events(0)
	var changes []string
	for _, e := range events {
		changes = append(changes, e.Changes...)
	}
	require.Equal(t, []string{"auditing: on → off", "auditing: off → off", "auditing: off → on"}, changes)
}

func TestAllConditionsMustHold(t *testing.T) {
	const rules = `[{"tool":"x","when":[{"at":"/a","over":1},{"at":"/b","over":1}],"then":"deny"},{"tool":"x",` +
		`"then":"allow"}]`
	require.Equal(t, forbid, judge(t, rules, "x", `{"a":2,"b":2}`))
	require.Equal(t, allow, judge(t, rules, "x", `{"a":2,"b":1}`))
	require.Equal(t, forbid, judge(t, rules, "x", `{"a":2}`))
	require.Equal(t, allow, judge(t, rules, "x", `{"a":1}`))
}

func TestBadPolicies(t *testing.T) {
	for _, tt := range []struct{ policy, want string }{
		{``, "not one JSON value"},
		{`{}`, "it is not a list"},
		{`[] []`, "not one JSON value"},
		{"[\n{\"tool\":\"a\",\"then\":\"ask\"},\n{\"tool\":\"b\" \"then\":\"ask\"}]",
			"line 3: the text is not one JSON value"},
		{`[1]`, "a rule is an object"},
		{`[{}]`, `"then" must be allow`},
		{`[{"tool":"a","then":"allow"},{"tool":"b","then":"allow","then":"deny"}]`, "has a key twice"},
		{`[{"tool":"a","then":"allow","Then":"deny"}]`, "differ in case only"},
		{`[{"tool":"a","Then":"allow"}]`, `Then: a rule has only`},
		{`[{"tool":"a","then":"allow"},{"tool":"b","then":"permit"}]`,
			`rule 2 (b): "then" must be allow, ask, deny or always, not "permit"`},
		{`[{"tool":"a","then":"Allow"}]`, "must be allow, ask, deny"},
		{`[{"tool":"a","then":true}]`, "then: write a string"},
		{`[{"tool":"a","than":"allow"}]`, `than: a rule has only`},
		{`[{"then":"deny"}]`, `name a "tool"`},
		{`[{"tool":"","then":"deny"}]`, "not empty"},
		{`[{"tool":"*","then":"allow"}]`, "may only deny, not allow"},
		{`[{"tool":"*","then":"ask"}]`, "may only deny, not ask"},
		{`[{"tool":"*","when":[{"at":"","exists":true}],"then":"allow"}]`, "may only deny"},
		{`[{"tool":"\u002a","then":"allow"}]`, "may only deny"},
		{`[{"tool":"get?","then":"allow"}]`, "nothing else is a wildcard"},
		{`[{"tool":"[a-z]","then":"allow"}]`, "nothing else is a wildcard"},
		{`[{"tool":"^get$","then":"allow"}]`, "nothing else is a wildcard"},
		{`[{"tool":"get ","then":"allow"}]`, "nothing else is a wildcard"},
		{`[{"tool":"gеt","then":"allow"}]`, "nothing else is a wildcard"}, // a Cyrillic letter
		{`[{"gate":"tool","then":"allow"}]`, `name a "tool"`},
		{`[{"gate":"any","then":"allow"}]`, "context or response"},
		{`[{"gate":"response","tool":"a","then":"allow"}]`, "write two rules"},
		{`[{"tool":"a","when":{},"then":"ask"}]`, "when: write a list"},
		{`[{"tool":"a","when":[],"then":"ask"}]`, "when: write a list"},
		{`[{"tool":"a","when":["x"],"then":"ask"}]`, "a condition is an object"},
		{`[{"tool":"a","when":[{"over":1}],"then":"ask"}]`, `must have "at"`},
		{`[{"tool":"a","when":[{"at":"/n"}],"then":"ask"}]`, "it has 0"},
		{`[{"tool":"a","when":[{"at":"/n","over":1,"under":3}],"then":"ask"}]`, "it has 2"},
		{`[{"tool":"a","when":[{"at":"n","over":1}],"then":"ask"}]`, "begins with a slash"},
		{`[{"tool":"a","when":[{"at":"/n~2","over":1}],"then":"ask"}]`, `"~" is written "~0"`},
		{`[{"tool":"a","when":[{"at":"/n~","over":1}],"then":"ask"}]`, `"~" is written "~0"`},
		{`[{"tool":"a","when":[{"at":"/rows/*/x","over":1}],"then":"deny"}]`,
			`write {"at": "/rows", "any": {"at": "/x", …}}`},
		{`[{"tool":"a","when":[{"at":"/rows/*","over":1}],"then":"deny"}]`, `{"at": "/rows", "any": {"at": "", …}}`},
		{`[{"tool":"a","when":[{"at":"/rows","any":{"at":"/n"}}],"then":"deny"}]`,
			`any: the condition at "/n" must have`},
		{`[{"tool":"a","when":[{"at":"/rows","all":1}],"then":"deny"}]`, "all: a condition is an object"},
		{`[{"tool":"a*","then":"always"}]`, "names one tool, without *"},
		{`[{"tool":"a","then":"allow","within":"1m"}]`, "for a rule that asks"},
		{`[{"tool":"a","then":"deny","escalate":"bob"}]`, "for a rule that asks"},
		{`[{"tool":"a","then":"ask","within":"soon"}]`, "write a time such as"},
		{`[{"tool":"a","then":"ask","within":"-1m"}]`, "write a time such as"},
		{`[{"tool":"a","then":"ask","thread":""}]`, "thread: write a string"},
		{`[{"tool":"a","when":[{"at":"/n","over":"1"}],"then":"ask"}]`, "over: write a number"},
		{`[{"tool":"a","when":[{"at":"/n","count_over":-1}],"then":"ask"}]`, "count_over: write a whole number"},
		{`[{"tool":"a","when":[{"at":"/n","count_over":1.5}],"then":"ask"}]`, "count_over: write a whole number"},
		{`[{"tool":"a","when":[{"at":"/n","one_of":[]}],"then":"ask"}]`, "one_of: write a list"},
		{`[{"tool":"a","when":[{"at":"/n","exists":1}],"then":"ask"}]`, "exists: write true or false"},
		{`[{"tool":"a","when":[{"at":"/n","like":1}],"then":"ask"}]`, "like: write a string"},
		{`[{"tool":"a","when":[{"at":"/n","more":1}],"then":"ask"}]`, "there is no such test"},
		{`[{"tool":"*_delete","then":"ask","match":["weight_del"]}]`, `match: this does not hold for "weight_del"`},
		{`[{"tool":"*_delete","then":"ask","not_match":["a","b_delete"]}]`, `not_match: this does not hold for "b_delete"`},
		{`[{"tool":"a","then":"ask","match":[1]}]`, `match: write names of tools, such as ["weight_delete"]`},
		{`[{"tool":"a","then":"ask","not_match":[{"tool":"a","args":{"n":1}}]}]`,
			`not_match: write names of tools, such as ["weight_delete"]`},
		{`[` + strings.Repeat(`{"tool":"a","then":"ask"},`, maxRules) + `{"tool":"a","then":"ask"}]`, "at most 1000 rules"},
		{`[` + strings.Repeat(" ", maxPolicy) + `]`, "the limit is"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			p, err := ParsePolicy([]byte(tt.policy))
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, Policy{}, p)
			require.Error(t, json.Unmarshal([]byte(tt.policy), new(Policy)))
		})
	}
}

func TestExamplesThatHold(t *testing.T) {
	p := policyOf(t, `[{"tool":"*_save","when":[{"at":"/rows","count_over":1}],"then":"ask",
		"match":["meal_save","weight_save"],
		"not_match":["meal_get"]},
		{"gate":"response","when":[{"at":"/text","like":"*sorry*"}],"then":"deny"},
		{"gate":"tool","tool":"x","then":"allow","match":["x"]}]`)
	var texts []string
	for _, r := range p.rules() {
		texts = append(texts, r.rule)
	}
	require.Equal(t, []string{"tool *_save when /rows count_over 1: " +
		"ask", `gate response when /text like "*sorry*": deny`,
		"tool x: allow"}, texts)
	data, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, p, policyOf(t, string(data)))
}

func TestUnreadableSubjectIsDenied(t *testing.T) {
	p := policyOf(t, `[{"tool":"a","then":"allow"},{"gate":"context","then":"allow"}]`)
	for _, sub := range []Subject{
		call("r", "c", "a", `{"x":1,"X":2}`), call("r", "c", "a", `[]`), call("r", "c", "a", ``), call("r", "c", "", `{}`),
		{}, {Kind: "all", Body: json.RawMessage(`{}`)}, {Kind: Context, Body: json.RawMessage(`{}{}`)},
	} {
		require.Equal(t, forbid, p.verdict(sub).then)
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
	require.True(t, slices.Contains(d.types(0), auditChanged))
}

// What the README says about a general rule that asks.
func TestAskWinsOverAllow(t *testing.T) {
	rules := `{"tool":"db_*","then":"ask","within":"5m"},{"tool":"db_read","then":"allow"}`
	require.Equal(t, ask, judge(t, "["+rules+"]", "db_read", `{}`))
	require.Equal(t, allow, judge(t, "["+rules+`,{"tool":"db_read","then":"always"}]`, "db_read", `{}`))
}

// What the agent reads is short: which rule denied it, and what to do instead.
func TestReasonOfADenialIsShort(t *testing.T) {
	rules := `[{"tool":"x","then":"deny"}, {"gate":"context","then":"allow"},
		{"tool":"shell","when":[{"at":"/command","command":["rm *","rmdir *","shred *","dd *","mkfs *"]}],"then":"deny"},
		{"gate":"response","when":[{"at":"/text","like":"*sorry*"}],"then":"deny"}]`
	for want, sub := range map[string]Subject{
		"(tool x): ask the human or choose another call":             call("r", "1", "x", `{}`),
		"(no rule names this tool): ask the human or choose another": call("r", "2", "y", `{}`),
		`(tool shell when /command command ["rm *","rmdir…): ask`:    call("r", "3", "shell", `{"command":"rm x"}`),
		"…): ask the human or choose another call":                   call("r", "4", "shell", `{"command":"rm y"}`),
		"(it cannot be read safely: tool shell":                      call("r", "5", "shell", `{"command":"'"}`),
		`like "*sorry*"): ask the human or write another answer`:     draft("r", "so sorry"),
	} {
		d := open(t, rules)
		d.started("r")
		it := d.propose(sub)
		require.Equal(t, Denied, it.Status)
		require.Contains(t, it.Reason, "denied by the policy ")
		require.Contains(t, it.Reason, want)
		require.LessOrEqual(t, utf8.RuneCountInString(it.Reason), 122)
		require.NotContains(t, it.Rule, "ask the human", "people see the whole rule")
	}
}

// What a policy says is shown beside every item: it is short, and hides nothing.
func TestLongRulesAreShownBriefly(t *testing.T) {
	long := strings.Repeat("\u202eab", 3000)
	p := policyOf(t, `[{"tool":"x","when":[{"at":"/`+long+`","equals":"`+long+`"}],"then":"deny"}]`)
	v := p.verdict(call("r", "c", "x", `{}`))
	require.Less(t, len(v.rule), 3000)
	require.NotContains(t, v.rule, "\u202e")
	require.True(t, strings.HasSuffix(v.rule, "…: deny"))
	for _, bad := range []string{
		`[{"tool":"x","then":"` + long + `"}]`, `[{"` + long + `":1}]`, `[{"gate":"` + long + `","then":"ask"}]`,
		`[{"tool":"x","then":"ask","when":[{"` + long + `":1}]}]`,
		`[{"tool":"x","then":"ask","when":[{"at":"/` + long + `"}]}]`,
		`[{"gate":"context","then":"ask","not_match":[{"body":{"` + long + `":1}}]}]`,
	} {
		_, err := ParsePolicy([]byte(bad))
		require.Error(t, err)
		require.Less(t, len(err.Error()), 1000)
		require.NotContains(t, err.Error(), "\u202e")
	}
}

// A line separator may be longer in the journal than in the policy.
func TestPolicyIsReadBackFromTheJournal(t *testing.T) {
	text := `[{"gate":"context","when":[{"at":"/a","like":"` + strings.Repeat("\u2028<&", maxPolicy/8) +
		`"}],"then":"deny"}]`
	d := open(t, someRules)
	require.NoError(t, d.SetPolicy(d.now, "ann", policyOf(t, text)))
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

// A journal of before may have a policy that is an error now: the error says which rule, and what to write.
func TestJournalWithAPolicyOfBefore(t *testing.T) {
	d := open(t, someRules)
	require.NoError(t, d.SetPolicy(d.now, "ann", policyOf(t, `[{"tool":"a","then":"ask","match":["a"]}]`)))
	old := strings.Replace(d.log.String(), `"match":["a"]`, `"match":[{"tool":"a","args":{}}]`, 1)
	_, err := Replay(policyOf(t, someRules), d.options, strings.NewReader(old))
	require.ErrorIs(t, err, ErrJournal)
	require.ErrorContains(t, err, "line 1: it is not an event: policy: rule 1 (a): match: write names of tools")
}

// matchSlowly is the wildcard by its definition.
func matchSlowly(pattern, s string) bool {
	if pattern == "" {
		return s == ""
	}
	if pattern[0] != '*' {
		return s != "" && s[0] == pattern[0] && matchSlowly(pattern[1:], s[1:])
	}
	for i := range len(s) + 1 {
		if matchSlowly(pattern[1:], s[i:]) {
			return true
		}
	}
	return false
}

func FuzzWildcard(f *testing.F) {
	for _, p := range []string{"", "*", "a", "*a", "a*", "a*b*a", "*ab*b", "a**a"} {
		f.Add(p, "abba")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if len(pattern) > 12 || len(s) > 20 {
			t.Skip("too long for the slow reference")
		}
		if got := matchWildcard(pattern, s); got != matchSlowly(pattern, s) {
			t.Fatalf("%q against %q: %v", pattern, s, got)
		}
	})
}

func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte(someRules), []byte(`{"rows":[1,2,3,4]}`))
	f.Add([]byte(`[{"tool":"x*","when":[{"at":"/a/0","one_of":[1,"b"]},{"at":"","exists":true}],"then":"allow",`+
		`"match":["xy"],"not_match":["y"]},{"gate":"context","then":"deny"}]`), []byte(`{"a":[1]}`))
	f.Add([]byte(`[{"tool":"sh*","when":[{"at":"/a","command":["ls *"]},{"at":"/p","any":{"path":"src"}}],`+
		`"then":"ask","within":"1m","escalate":"b"}]`), []byte(`{"a":"ls; x","p":["src/a"]}`))
	f.Add([]byte(`[{"tool":"*","when":[{"at":"/a","like":"*b"},{"at":"/n","over":1e3}],"then":"deny"}]`),
		[]byte(`{"a":"ab"}`))
	f.Fuzz(func(t *testing.T, data, body []byte) {
		p, err := ParsePolicy(data)
		if err != nil {
			require.Empty(t, p.rules())
			return
		}
		require.False(t, repeats(data))
		written, err := json.Marshal(p)
		require.NoError(t, err)
		again, err := ParsePolicy(written)
		require.NoError(t, err, "%s", written)
		back, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(written), string(back))

		backwards := slices.Clone(p.rules())
		slices.Reverse(backwards)
		turned := Policy{&backwards}
		allowed := false
		for _, r := range p.rules() {
			require.False(t, r.tool != "" && isVague(r.tool) && r.then != forbid)
			allowed = allowed || r.allows()
		}
		for _, sub := range []Subject{
			{Kind: Context, Body: body}, {Kind: Response, Body: body}, {Kind: Tool, Tool: "x", Body: body},
			{Kind: Tool, Tool: "meal_save_batch", Body: body},
		} {
			v := p.verdict(sub)
			require.Equal(t, v, turned.verdict(sub))
			require.Equal(t, v, again.verdict(sub))
			require.True(t, v.then != allow || allowed)
			if _, err := readJSON(body); err != nil {
				require.Equal(t, forbid, v.then)
			}
		}
	})
}

func TestOverview(t *testing.T) {
	p := policyOf(t, `[{"tool":"a*","then":"allow"},{"tool":"ab","when":[{"at":"/n","over":1}],"then":"deny"},
		{"tool":"ab","thread":"th","then":"ask"},{"tool":"ab","when":[{"at":"/n","over":1}],"then":"allow"}]`)
	status, why, unless := p.Overview(Tool, "ab")
	require.Equal(t, Approved, status)
	require.Equal(t, "tool a*: allow", why)
	require.Equal(t, []string{"tool ab when /n over 1: deny", "tool ab in thread th: ask"}, unless)
	status, why, unless = p.Overview(Response, "")
	require.Equal(t, Pending, status)
	require.Equal(t, "no rule matches", why)
	require.Empty(t, unless)
}
