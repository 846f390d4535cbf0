package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// stands reports, by encoding/json's own tokens, whether two keys of one object are the same or differ in case only.
func stands(data []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	type level struct {
		keys  []string
		key   bool // a key comes next
		array bool
	}
	var open []*level
	value := func() {
		if len(open) > 0 {
			open[len(open)-1].key = true
		}
	}
	for {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			open = append(open, &level{key: true, array: tok == json.Delim('[')})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			value()
			continue
		}
		if len(open) == 0 || open[len(open)-1].array || !open[len(open)-1].key {
			value()
			continue
		}
		top := open[len(open)-1]
		key := strings.NewReplacer("ı", "i", "İ", "i").Replace(tok.(string))
		if slices.ContainsFunc(top.keys, func(k string) bool { return strings.EqualFold(k, key) }) {
			return true
		}
		top.keys, top.key = append(top.keys, key), false
	}
}

func generic(t *testing.T, data []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&v))
	_, err := dec.Token()
	require.ErrorIs(t, err, io.EOF)
	return v
}

func FuzzStrict(f *testing.F) {
	for _, tt := range strictCases {
		if len(tt.body) < 1000 {
			f.Add([]byte(tt.body))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := read(data)
		var bad *bodyError
		switch {
		case err == nil:
			require.True(t, json.Valid(data))
			require.True(t, utf8.Valid(data))
			require.False(t, stands(data), "%q", data)
			require.Equal(t, generic(t, data), generic(t, got))
			again, err := read(got)
			require.NoError(t, err)
			require.Equal(t, got, again)
			// What reads it finds every value where encoding/json does.
			v, err := readJSON(got)
			require.NoError(t, err)
			if list := v.list; v.isObject() {
				var m map[string]json.RawMessage
				require.NoError(t, json.Unmarshal(got, &m))
				require.Len(t, list, len(m))
				for _, one := range list {
					require.Equal(t, string(m[one.key]), string(one.raw))
				}
			} else if v.isArray() {
				var a []json.RawMessage
				require.NoError(t, json.Unmarshal(got, &a))
				require.Len(t, list, len(a))
				for i, one := range list {
					require.Equal(t, string(a[i]), string(one.raw))
				}
			}
		case !errors.As(err, &bad):
			t.Fatalf("%T", err)
		case strings.Contains(bad.problem, "twice"), strings.Contains(bad.problem, "case only"):
			require.True(t, stands(data), "%q", data)
		case strings.Contains(bad.problem, "not JSON"), strings.Contains(bad.problem, "empty"), strings.Contains(bad.problem, "follows"):
			require.False(t, json.Valid(data), "%q", data)
		case strings.Contains(bad.problem, "UTF-8"):
			require.False(t, utf8.Valid(data))
		}
	})
}

func FuzzNumbers(f *testing.F) {
	for _, n := range []string{"0", "-0.0", "1e2", "100", "-1.50", "0.0015e3", "12345678901234567890.1", "1E-05"} {
		f.Add(n, "1.5")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var rats [2]*big.Rat
		for i, s := range []string{a, b} {
			if len(s) > 40 || !json.Valid([]byte(s)) || s != strings.TrimSpace(s) || !(value{raw: []byte(s)}).isNumber() {
				t.Skip("not a short JSON number")
			}
			if e := strings.IndexAny(s, "eE"); e >= 0 && len(s)-e > 5 {
				t.Skip("big.Rat would write such a number out")
			}
			var ok bool
			if rats[i], ok = new(big.Rat).SetString(s); !ok {
				t.Fatal(s)
			}
		}
		got := parseNumber([]byte(a)).compare(parseNumber([]byte(b)))
		want := rats[0].Cmp(rats[1])
		if (got < 0) != (want < 0) || (got > 0) != (want > 0) || samely(a, b) != (want == 0) {
			t.Fatalf("%s against %s: %d, and by big.Rat %d", a, b, got, want)
		}
	})
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
	f.Add([]byte(`[{"tool":"x*","when":[{"at":"/a/0","one_of":[1,"b"]},{"at":"","exists":true}],"then":"allow","match":["xy"],"not_match":[{"tool":"x","args":{}}]},{"gate":"context","then":"deny"}]`), []byte(`{"a":[1]}`))
	f.Add([]byte(`[{"tool":"sh*","when":[{"at":"/a","command":["ls *"]},{"at":"/p","any":{"path":"src"}}],"then":"ask","within":"1m","escalate":"b"}]`), []byte(`{"a":"ls; x","p":["src/a"]}`))
	f.Add([]byte(`[{"tool":"*","when":[{"at":"/a","like":"*b"},{"at":"/n","over":1e3}],"then":"deny"}]`), []byte(`{"a":"ab"}`))
	f.Fuzz(func(t *testing.T, data, body []byte) {
		p, err := ParsePolicy(data)
		if err != nil {
			require.Empty(t, p.rules())
			return
		}
		require.False(t, stands(data))
		written, err := json.Marshal(p)
		require.NoError(t, err)
		again, err := ParsePolicy(written)
		require.NoError(t, err, "%s", written)
		back, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(written), string(back))

		turned := Policy{&ruleSet{rules: slices.Clone(p.rules())}}
		slices.Reverse(turned.set.rules)
		allowed := false
		for _, r := range p.rules() {
			require.False(t, r.tool != "" && isVague(r.tool) && r.then != Forbid)
			allowed = allowed || r.allows()
		}
		for _, sub := range []Subject{
			{Kind: Context, Body: body}, {Kind: Response, Body: body}, {Kind: Tool, Tool: "x", Body: body}, {Kind: Tool, Tool: "meal_save_batch", Body: body},
		} {
			v := p.Judge(sub)
			require.Equal(t, v, turned.Judge(sub))
			require.Equal(t, v, again.Judge(sub))
			require.True(t, v.Then != Allow || allowed)
			if _, err := readJSON(body); err != nil {
				require.Equal(t, Forbid, v.Then)
			}
		}
	})
}

// A journal that was changed anywhere is either an error or, cut at its end, what was there before.
func FuzzReplay(f *testing.F) {
	const rules = `[{"tool":"*_delete","then":"ask"},{"tool":"get","then":"allow"}]`
	var log bytes.Buffer
	o := Options{Audited: true, Journal: func(lines []byte) error { log.Write(lines); return nil }}
	p := policyOf(f, rules)
	s, err := New(p, o)
	require.NoError(f, err)
	step := func(it Item, err error) Item {
		require.NoError(f, err)
		return it
	}
	it := step(s.Propose(start, contextOf("r")))
	step(s.Resolve(start, Decision{Item: it.ID, Digest: it.Digest, Action: Edit, By: "ann", Body: json.RawMessage(`{"prompt":2}`)}))
	_, err = s.Redeem(start, it.ID)
	require.NoError(f, err)
	step(s.Propose(start, call("r", "c", "get", `{"a":1.50}`)))
	it = step(s.Propose(start, call("r", "d", "x_delete", `{}`)))
	step(s.Resolve(start, Decision{Item: it.ID, Digest: it.Digest, Action: Deny, By: "ann"}))
	whole := log.String()
	o.Journal = nil

	for i := 0; i < len(whole); i += 97 {
		f.Add(i, 1, "x")
		f.Add(i, 0, "\n")
		f.Add(i, 40, "")
	}
	f.Add(len(whole), 0, whole)
	f.Add(0, len(whole), "")
	f.Fuzz(func(t *testing.T, at, drop int, put string) {
		if at < 0 || drop < 0 || at > len(whole) || drop > len(whole)-at {
			t.Skip("outside of the journal")
		}
		changed := whole[:at] + put + whole[at+drop:]
		s, err := Replay(p, o, strings.NewReader(changed))
		kept := changed[:strings.LastIndexByte(changed, '\n')+1]
		if err == nil {
			require.True(t, strings.HasPrefix(whole, kept), "%q", changed)
			require.True(t, reflect.DeepEqual(inside(s), inside(replayed(t, p, o, kept))))
			_, _, size := s.Head()
			require.EqualValues(t, len(kept), size)
			return
		}
		require.False(t, strings.HasPrefix(whole, kept), "%q: %v", changed, err)
		good := 0 // whole lines that are untouched
		for i, line := range lines(kept) {
			if original := lines(whole); i >= len(original) || line != original[i] {
				break
			}
			good++
		}
		require.Equal(t, good+1, lineOf(t, err))
	})
}
