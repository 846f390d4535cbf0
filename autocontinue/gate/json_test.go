package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var strictCases = []struct{ name, body, want, problem string }{
	{"an object", ` { "a" : [ 1 , {"b":null} ] } `, `{"a":[1,{"b":null}]}`, ""},
	{"digits", `{"a":1.50,"b":12345678901234567890,"c":1E+05,"d":-0,"e":1e-00}`,
		`{"a":1.50,"b":12345678901234567890,"c":1E+05,"d":-0,"e":1e-00}`, ""},
	{"escapes stay", `{"a":"\u00e9\ud83d\ude00\/<é"}`, `{"a":"\u00e9\ud83d\ude00\/<é"}`, ""},
	{"the order of keys", `{"z":1,"a":2}`, `{"z":1,"a":2}`, ""},
	{"the same key elsewhere", `{"a":{"a":[{"a":1},{"a":2}]}}`, `{"a":{"a":[{"a":1},{"a":2}]}}`, ""},
	{"names that only look alike", `{"rows":1,"rоws":2,"row s":3,"rows ":4}`, `{"rows":1,"rоws":2,"row s":3,"rows ":4}`,
		""},
	{"a name with a brace", `{"}":"{","]":"\"","\\":"\\"}`, `{"}":"{","]":"\"","\\":"\\"}`, ""},

	{"nothing", "", "", "not one JSON value"},
	{"blanks", " \n", "", "not one JSON value"},
	{"a key twice", `{"id":1,"id":1}`, "", "has a key twice"},
	{"a key twice, escaped", `{"id":1,"\u0069d":2}`, "", "has a key twice"},
	{"a key twice, deep", `[[{"x":{"id":1,"id":2}}]]`, "", "has a key twice"},
	{"the empty key twice", `{"":1,"":2}`, "", "has a key twice"},
	{"a key in another case", `{"id":1,"ID":2}`, "", "differ in case only"},
	{"a Kelvin sign", `{"key":1,"\u212aey":2}`, "", "differ in case only"},
	{"a long s", `{"rows":1,"rowſ":2}`, "", "differ in case only"},
	{"a dotless i", `{"id":1,"ıd":2}`, "", "differ in case only"},
	{"a dotted I", `{"ID":1,"İD":2}`, "", "differ in case only"},
	{"a final sigma", `{"σ":1,"ς":2}`, "", "differ in case only"},
	{"a titlecase letter", `{"ǆ":1,"ǅ":2}`, "", "differ in case only"},
	{"a second value", `{} {}`, "", "not one JSON value"},
	{"a stray brace", `{}}`, "", "not one JSON value"},
	{"a second line", "{}\nnull", "", "not one JSON value"},
	{"a NUL after it", "{}\x00", "", "not one JSON value"},
	{"a byte order mark", "\ufeff{}", "", "not one JSON value"},
	{"a comment", `{"a":1/*x*/}`, "", "not one JSON value"},
	{"a comma too many", `{"a":1,}`, "", "not one JSON value"},
	{"half of it", `{"a":`, "", "not one JSON value"},
	{"NaN", `{"a":NaN}`, "", "not one JSON value"},
	{"a leading zero", `{"a":01}`, "", "not one JSON value"},
	{"single quotes", `{'a':1}`, "", "not one JSON value"},
	{"a control character", "{\"a\":\"\x01\"}", "", "not one JSON value"},
	{"bytes", "{\"a\":\"\xff\"}", "", "not UTF-8"},
	{"a surrogate in bytes", "{\"a\":\"\xed\xa0\x80\"}", "", "not UTF-8"},
	{"the first half of a pair", `{"a":"\ud83d"}`, "", "half of a surrogate pair"},
	{"the first half and a letter", `{"a":"\ud83dx\ude00"}`, "", "half of a surrogate pair"},
	{"the second half", `{"a":"\ude00"}`, "", "half of a surrogate pair"},
	{"halves in the wrong order", `{"a":"\ude00\ud83d"}`, "", "half of a surrogate pair"},
	{"half a pair in a key", `{"\uD800":1}`, "", "half of a surrogate pair"},
	{"an escaped escape", `{"a":"\\ud800"}`, `{"a":"\\ud800"}`, ""},
	{"a huge exponent", `{"a":1e1000000}`, "", "exponent"},
	{"a huge exponent below", `{"a":1e-9999999999999999999999}`, "", "exponent"},
	{"an exponent of zeros", `{"a":1e0000000000000001}`, `{"a":1e0000000000000001}`, ""},
	{"deep enough", strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), ""},
	{"too deep", strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), "", "are nested"},
	{"far too deep", strings.Repeat(`{"a":`, 1_000_000), "", "not one JSON value"},
}

func TestStrict(t *testing.T) {
	for _, tt := range strictCases {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readText([]byte(tt.body))
			require.Equal(t, tt.want, string(got))
			if tt.problem == "" {
				require.NoError(t, err)
				return
			}
			var bad *bodyError
			require.ErrorAs(t, err, &bad)
			require.ErrorIs(t, err, ErrInput)
			require.Contains(t, bad.problem, tt.problem)
			require.LessOrEqual(t, bad.offset, len(tt.body))
		})
	}
}

func TestStrictBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	_, err := readJSON([]byte("[" + strings.Repeat("0,", maxValues) + "0]"))
	require.ErrorContains(t, err, "values")
}

func TestBodiesAreRefusedAtEveryDoor(t *testing.T) {
	d := open(t, someRules)
	run := d.started("r")
	busy := d.propose(call(run, "c0", "profile_get", `{}`))
	d.redeem(busy)
	pending := d.propose(call(run, "c1", "weight_delete", `{}`))
	before := d.seq()
	const secret = "hunter2"
	for _, body := range []string{`{"a":"hunter2","a":1}`, `{"a":"hunter2","A":1}`, `{"a":"hunter2"} x`, `{"a":"hunter2"`,
		"{\"hunter2\":\"\xff\"}"} {
		for name, err := range map[string]error{
			"a context":  second(d.Propose(d.now, Subject{Kind: Context, Thread: "th", Run: "r2", Body: json.RawMessage(body)})),
			"a call":     second(d.Propose(d.now, call(run, "c2", "weight_delete", body))),
			"a draft":    second(d.Propose(d.now, Subject{Kind: Response, Thread: "th", Run: run, Body: json.RawMessage(body)})),
			"an edit":    second(d.Resolve(d.now, d.decision(pending, Edit, body))),
			"a stand-in": second(d.Resolve(d.now, d.decision(pending, Respond, body))),
			"a result":   second(d.Done(d.now, busy.ID, json.RawMessage(body))),
		} {
			require.ErrorIs(t, err, ErrInput, name)
			require.NotContains(t, err.Error(), secret, name)
		}
	}
	require.Equal(t, before, d.seq())
}

func second[T any](_ T, err error) error { return err }

func TestResponseBodies(t *testing.T) {
	d := open(t, someRules)
	run := d.started("r")
	for body, problem := range map[string]string{
		`{}`:                                "needs text",
		`{"text":1}`:                        "needs text",
		`{"text":null}`:                     "needs text",
		`{"Text":"a"}`:                      "only text and a2ui",
		`{"text":"a","html":"<b>"}`:         "only text and a2ui",
		`"a"`:                               "not a JSON object",
		`{"text":"a","a2ui":{"b":1,"B":2}}`: "differ in case only",
	} {
		_, err := d.Propose(d.now, Subject{Kind: Response, Thread: "th", Run: run, Body: json.RawMessage(body)})
		require.ErrorContains(t, err, problem)
	}
	it := d.propose(Subject{Kind: Response, Thread: "th", Run: run,
		Body: json.RawMessage(`{"a2ui":null,"text":"\u003cb\u003e \u2028\u0007"}`)})
	require.Equal(t, `{"text":"<b> \u2028\u0007","a2ui":null}`, string(it.Body))
	again, _ := d.again(someRules).Item(it.ID)
	require.Equal(t, it, again)
}

func TestSizes(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.MaxBody = 40 })
	it := Subject{Kind: Context, Thread: "th", Run: "r", Body: json.RawMessage(`{"a":"` + strings.Repeat("x", 32) + `"}`)}
	d.propose(it)
	it.Run, it.Body = "r2", json.RawMessage(`{"a":"`+strings.Repeat("x", 33)+`"}`)
	_, err := d.Propose(d.now, it)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "the body has 41 bytes; the limit is 40")
	_, err = d.Propose(d.now, Subject{Kind: Response, Thread: "th", Run: "r",
		Body: json.RawMessage(`{"text":"` + strings.Repeat("\u2028", 9) + `"}`)})
	require.ErrorIs(t, err, ErrInput, "as it is written")
}

func TestNumbersCompareExactly(t *testing.T) {
	order := []string{"-1e7", "-12", "-1.5", "-1.49", "-1e-9", "0", "1e-999999", "0.1", "0.10000000000000000000000001",
		"1", "9.99", "10", "1e2", "1e999999"}
	for i, a := range order {
		for j, b := range order {
			got := compare(json.Number(a), json.Number(b))
			require.Equal(t, i < j, got < 0, "%s against %s", a, b)
			require.Equal(t, i == j, got == 0, "%s against %s", a, b)
		}
	}
	for _, same := range [][2]string{{"1", "1.0"}, {"100", "1e2"}, {"100", "1E+02"}, {"0", "-0.00e9"}, {"0.001", "1e-3"},
		{"12.5", "0.0125e3"}, {"1e00000000000005", "100000"}} {
		require.True(t, samely(same[0], same[1]), "%v", same)
	}
}

func samely(a, b string) bool {
	x, err := readJSON([]byte(a))
	y, err2 := readJSON([]byte(b))
	return err == nil && err2 == nil && sum(x, asIs) == sum(y, asIs)
}

func TestBodyErrorsAreNotSyntaxErrors(t *testing.T) {
	_, err := readJSON([]byte(`{"a":q}`))
	var syntax *json.SyntaxError
	require.False(t, errors.As(err, &syntax), "those quote the text")
}

// repeats reports, by encoding/json's own tokens, whether two keys of one object are the same or differ in case only.
func repeats(data []byte) bool {
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
		got, err := readText(data)
		var bad *bodyError
		switch {
		case err == nil:
			require.True(t, json.Valid(data))
			require.True(t, utf8.Valid(data))
			require.False(t, repeats(data), "%q", data)
			require.Equal(t, generic(t, data), generic(t, got))
			again, err := readText(got)
			require.NoError(t, err)
			require.Equal(t, got, again)
			v, err := readJSON(got)
			require.NoError(t, err)
			require.Equal(t, generic(t, got), v)
		case !errors.As(err, &bad):
			t.Fatalf("%T", err)
		case strings.Contains(bad.problem, "twice"), strings.Contains(bad.problem, "case only"):
			require.True(t, repeats(data), "%q", data)
		case strings.Contains(bad.problem, "not one JSON value"):
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
			if len(s) > 40 || !json.Valid([]byte(s)) || strings.Trim(s, "0123456789+-.eE") != "" {
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
		got := compare(json.Number(a), json.Number(b))
		want := rats[0].Cmp(rats[1])
		if (got < 0) != (want < 0) || (got > 0) != (want > 0) || samely(a, b) != (want == 0) {
			t.Fatalf("%s against %s: %d, and by big.Rat %d", a, b, got, want)
		}
	})
}
