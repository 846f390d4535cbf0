package llm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	const (
		completion = `{"type":"completion","confidence":0.9,"reason":"r","coaching_message":null}`
		status     = `{"type":"status","confidence":0.8,"reason":"r","coaching_message":"Show it."}`
	)
	done := Verdict{Type: classify.Completion, Confidence: 0.9, Reason: "r"}
	rejected := Verdict{Type: classify.Status, Confidence: 0.8, Reason: "r", CoachingMessage: "Show it."}
	for _, tt := range []struct {
		name, in string
		want     Verdict
	}{
		{"plain", completion, done},
		{"status", status, rejected},
		{"fenced", "```json\n" + completion + "\n```", done},
		{"text around", "Here is my {verdict}: " + completion + " That's it. {sure}", done},
		{"BOM", "\ufeff" + completion, done},
		{"two objects", completion + "\n" + status, rejected},
		{"the last one broken off", completion + "\n" + status[:40], done},
		{"the first one broken off", status[:20] + "\n" + completion, done},
		{"the first one broken off after a key", `{"type"` + "\n" + completion, done},
		{"the first one broken off after a value", `{"type":"status"` + "\n" + completion, done},
		{"the first one broken off after a comma", `{"type":"status",` + "\n" + completion + "\n", done},
		{"the first one broken off at once", "{\n" + completion, done},
		{"the first one broken off with one inside", `{"note":{"type":"error"},"type":"status` + "\n" + completion, done},
		{"one that is no JSON before", `{"type": "status" | "error", "note": {"a": b}} Verdict: ` + completion, done},
		{"an empty one after", completion + "\n{}", done},
		{"another one after", completion + ` {"note":{"type":"error"},"done":true}`, done},
		{"one with an empty type after", completion + ` {"type":null} {"type":7} {"type":" "}`, done},
		{"half of one after", completion + ` {"note":{"type":"error"},`, done},
		{"half an array", "[" + completion + ",", done},
		{"NaN", `{"type":"status","confidence":NaN,"reason":"r","coaching_message":null}`, Verdict{Type: classify.Status, Confidence: 0.5, Reason: "r"}},
		{"words of programs", `{"type":"status","confidence":-Infinity,"reason":nan,"coaching_message":None}`, Verdict{Type: classify.Status, Confidence: 0.5}},
		{"words of programs in strings", `{"type":"status","confidence":NaN,"reason":"NaN, {None"}`, Verdict{Type: classify.Status, Confidence: 0.5, Reason: "NaN, {None"}},
		{"after a thought", "<think>{\"type\":\"error\"} or " + status + "?</think>" + completion, done},
		{"inside another", `{"note":{"type":"error"},` + completion[1:], done},
		{"in an array", "[" + completion + "]", done},
		{"braces in strings", `{"type":"status","confidence":0.8,"reason":"a } and { in \"it\"","coaching_message":null}`,
			Verdict{Type: classify.Status, Confidence: 0.8, Reason: `a } and { in "it"`}},
		{"duplicate keys", `{"type":"error","type":"completion","confidence":0.1,"confidence":0.9,"reason":"r"}`, done},
		{"unknown keys", `{"type":"completion","confidence":0.9,"reason":"r","extra":[{}]}`, done},
		{"type in capitals", `{"type":" Completion ","confidence":0.9,"reason":"r"}`, done},
		{"null in a string", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":"null"}`, Verdict{Type: classify.Status, Confidence: 0.9, Reason: "r"}},
		{"NULL in a string", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":" NULL. "}`, Verdict{Type: classify.Status, Confidence: 0.9, Reason: "r"}},
		{"N/A", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":"N/A"}`, Verdict{Type: classify.Status, Confidence: 0.9, Reason: "r"}},
		{"nil", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":"  Nil\n"}`, Verdict{Type: classify.Status, Confidence: 0.9, Reason: "r"}},
		{"none", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":"\"None.\""}`, Verdict{Type: classify.Status, Confidence: 0.9, Reason: "r"}},
		{"a dash", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":" - "}`, Verdict{Type: classify.Status, Confidence: 0.9, Reason: "r"}},
		{"a long dash", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":"—"}`, Verdict{Type: classify.Status, Confidence: 0.9, Reason: "r"}},
		{"a message that begins like none", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":"None of it is shown."}`,
			Verdict{Type: classify.Status, Confidence: 0.9, Reason: "r", CoachingMessage: "None of it is shown."}},
		{"blank coaching", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":" \n"}`, Verdict{Type: classify.Status, Confidence: 0.9, Reason: "r"}},
		{"coaching beside a completion", `{"type":"completion","confidence":0.9,"reason":"r","coaching_message":"Show it."}`, done},
		{"coaching beside an error", `{"type":"error","confidence":0.9,"reason":"r","coaching_message":"Show it."}`, Verdict{Type: classify.Error, Confidence: 0.9, Reason: "r"}},
		{"only a type", `{"type":"question"}`, Verdict{Type: classify.Question, Confidence: 0.5}},
		{"wrong types", `{"type":"status","confidence":[1],"reason":7,"coaching_message":{"a":1}}`, Verdict{Type: classify.Status, Confidence: 0.5}},
		{"a reason that says rejected", `{"type":"status","confidence":0.9,"reason":"rejected completion","coaching_message":null}`, Verdict{Type: classify.Status, Confidence: 0.9, Reason: "rejected completion"}},
		{"control characters", `{"type":"status","confidence":0.9,"reason":"a\u001b[31m\nb\u202e","coaching_message":"Show\u200b it.\u0000"}`,
			Verdict{Type: classify.Status, Confidence: 0.9, Reason: "a[31m b", CoachingMessage: "Show it."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(tt.in)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestParseConfidence(t *testing.T) {
	for in, want := range map[string]float64{
		"0": 0, "1": 1, "0.73": 0.73, "1.7": 1, "95": 1, "-0.2": 0, "1e999": 1, "-1e999": 0, `"0.9"`: 0.9, `" 0.9 "`: 0.9, `"high"`: 0.5,
		`"90%"`: 0.5, `"NaN"`: 0.5, "NaN": 0.5, "nan": 0.5, "Infinity": 0.5, "-inf": 0.5, "None": 0.5, `"Infinity"`: 0.5, `""`: 0.5, "null": 0.5, "true": 0.5, "[]": 0.5, "{}": 0.5,
	} {
		v, err := Parse(`{"type":"status","confidence":` + in + `}`)
		require.NoError(t, err, in)
		assert.Equal(t, want, v.Confidence, in)
	}
}

func TestUnparseable(t *testing.T) {
	for _, in := range []string{
		"", " ", "status", "null", "[]", `"status"`, "{", "{}", `{"type":"banana"}`, `{"type":null}`, `{"type":7}`, `{"type":["status"]}`, `{"confidence":1}`,
		`{"type":"status"`, `{'type':'status'}`, `{"type":"banana"} {}`,
		// Half an object, whatever is inside.
		`{"note":` + good, `{"note":` + good + `,`, `{"note":[` + good + "]\n```\n", `{"a":{"b":[{},` + good, `{"note":` + good + ` oops`, `{"a":1, oops, "note": ` + good,
		`{"a":1, oops: ` + good + `}`, `{"a":1, oops, "list":[` + good, `{"a":1, oops [` + good + `, ` + good + `]`, "{\"a\":\"x\n\", \"verdict\":" + good + "}",
		strings.Repeat("{", 1<<20), strings.Repeat(`{"a":`, 1<<17), strings.Repeat(`{"`, 1<<18),
	} {
		_, err := Parse(in)
		assert.ErrorAs(t, err, new(ParseError), "%.40q", in)
	}
}

func TestParseBounds(t *testing.T) {
	long := strings.Repeat("wörter ", 10_000)
	b, err := json.Marshal(map[string]any{"type": "status", "reason": long[:3000], "coaching_message": long[:40_000]})
	require.NoError(t, err)
	v, err := Parse(string(b))
	require.NoError(t, err)
	assert.Equal(t, maxReason, utf8.RuneCountInString(v.Reason))
	assert.LessOrEqual(t, utf8.RuneCountInString(v.CoachingMessage), maxCoaching)
	assert.True(t, strings.HasSuffix(v.CoachingMessage, "…"))

	v, err = Parse(strings.Repeat("prose ", 1<<18) + good)
	require.NoError(t, err)
	assert.Equal(t, classify.Completion, v.Type)
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{good, "```json\n" + good + "```", `{"type":"status","coaching_message":"x"}`, good + good, `{"type":"status","confidence":"1e400"}`, "\ufeff{", `{"a":{"type":"error"}}`} {
		f.Add(s, 0.4, "reason", "coaching")
	}
	f.Fuzz(func(t *testing.T, s string, conf float64, reason, coaching string) {
		v, err := Parse(s)
		if err == nil {
			requireVerdict(t, v)
		}

		// A known verdict is found wherever it stands: after anything that can't hold an object, before anything that can't begin one.
		if math.IsNaN(conf) || math.IsInf(conf, 0) {
			return
		}
		known, err := json.Marshal(map[string]any{"type": "status", "confidence": conf, "reason": reason, "coaching_message": coaching})
		if err != nil {
			t.Skip("no JSON can hold it")
		}
		alone, err := Parse(string(known))
		if err != nil {
			t.Fatal(err)
		}
		requireVerdict(t, alone)
		if want := min(max(conf, 0), 1); alone.Confidence != want {
			t.Fatalf("confidence %v, not %v", alone.Confidence, want)
		}
		around := strings.NewReplacer("{", "(", "}", ")").Replace(s)
		among, err := Parse(around + string(known) + around)
		if err != nil || among != alone {
			t.Fatalf("in %q: %+v, %v, not %+v", around, among, err, alone)
		}
		for name, whole := range map[string]string{
			"the last one":                  good + string(known),
			"before an empty one":           string(known) + " {}",
			"before one without a type":     string(known) + "\n" + `{"note":` + good + `}`,
			"before half of one":            string(known) + "\n" + `{"type":"error","note":` + good + `,`,
			"after half of one":             `{"type":"err` + "\n" + string(known),
			"with an inner one":             `{"note":` + good + `,` + string(known)[1:],
			"with NaN in it":                `{"note":NaN,` + string(known)[1:],
			"after an object broken by NaN": `{"note":NaN NaN} ` + string(known),
		} {
			if v, err := Parse(whole); err != nil || v != alone {
				t.Fatalf("%s: %q: %+v, %v, not %+v", name, whole, v, err, alone)
			}
		}
		// Half of an outer object never gives up what is inside.
		for _, half := range []string{`{"note":` + string(known), `{"notes":[{},` + string(known) + `, `, `{"a":{"b":` + string(known) + "}\n```"} {
			if v, err := Parse(half); err == nil {
				t.Fatalf("%q: %+v", half, v)
			}
		}
		// Nor does any beginning of an answer, but for the whole.
		outer := `{"verdict":` + string(known) + `,"note":` + string(known) + `}`
		if v, err := Parse(outer[:len(s)%len(outer)]); err == nil {
			t.Fatalf("the beginning of %q: %+v", outer, v)
		}
	})
}

func requireVerdict(t *testing.T, v Verdict) {
	t.Helper()
	if !v.Type.Valid() || !(v.Confidence >= 0 && v.Confidence <= 1) || v.Type != classify.Status && v.CoachingMessage != "" ||
		slices.Contains([]string{"null", "nil", "none", "n/a", "-"}, strings.ToLower(strings.TrimSpace(v.CoachingMessage))) || !utf8.ValidString(v.Reason+v.CoachingMessage) ||
		strings.ContainsFunc(v.Reason+v.CoachingMessage, hidden) ||
		utf8.RuneCountInString(v.Reason) > maxReason || utf8.RuneCountInString(v.CoachingMessage) > maxCoaching {
		t.Fatalf("%+v", v)
	}
}

func ExampleParse() {
	v, err := Parse("Sure!\n```json\n{\"type\": \"status\", \"confidence\": 1.2, \"coaching_message\": \"Show the test output.\"}\n```")
	fmt.Println(v.Type, v.Confidence, v.CoachingMessage, err)
	_, err = Parse("I think it is done.")
	fmt.Println(err)
	// Output:
	// status 1 Show the test output. <nil>
	// llm: unparseable answer: no JSON object in it
}
