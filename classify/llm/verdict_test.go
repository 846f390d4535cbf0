package llm

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// parse reads a verdict from what a model wrote.
func parse(text string) (classify.Result, error) {
	object, err := Call{}.read(text)
	if err != nil {
		return classify.Result{}, err
	}
	return parseVerdict(object)
}

func TestParseVerdict(t *testing.T) {
	const (
		completion = `{"reason":"r","type":"completion","rejected":false,"confidence":0.9,"coaching_message":null}`
		status     = `{"reason":"r","type":"status","rejected":true,"confidence":0.88,"coaching_message":"Show it."}`
	)
	verdict := func(typ classify.OutputType, confidence float64, reason, coaching string) classify.Result {
		return classify.Result{Type: typ, Confidence: confidence, Reason: reason, CoachingMessage: coaching,
			WasRejectedCompletion: coaching != "", Source: "llm"}
	}
	done, rejected := verdict("completion", 0.9, "r", ""), verdict("status", 0.88, "r", "Show it.")
	silent := verdict("status", 0.88, "r", "")
	silent.WasRejectedCompletion = true
	for _, tt := range []struct {
		name, in string
		want     classify.Result
	}{
		{"plain", completion, done},
		{"rejected", status, rejected},
		{"rejected without coaching", strings.Replace(status, `"Show it."`, "null", 1), silent},
		{"coached without saying rejected", strings.Replace(status, `"rejected":true,`, "", 1), rejected},
		{"rejected that is no status", strings.Replace(completion, "false", "true", 1), done},
		{"fenced", "```json\n" + completion + "\n```", done},
		{"text around", "Here is my {verdict}: " + completion + " That's it. {sure}", done},
		{"byte order mark", "\ufeff" + completion, done},
		{"two objects", completion + "\n" + status, rejected},
		{"the last one broken off", completion + "\n" + status[:40], done},
		{"the first one broken off", `{"type":"status",` + "\n" + completion, done},
		{"one that is no JSON before", `{"type": "status" | "error", "note": {"a": b}} Verdict: ` + completion, done},
		{"after a thought", "<think>{\"type\":\"error\"} or " + status + "?</think>" + completion, done},
		{"inside another", `{"note":{"type":"error"},` + completion[1:], done},
		{"in an array", "[" + completion + "]", done},
		{"braces in strings", `{"type":"status","confidence":0.88,"reason":"a } and { in \"it\""}`, verdict("status", 0.88,
			`a } and { in "it"`, "")},
		{"duplicate keys", `{"type":"error","type":"completion","confidence":0.1,"confidence":0.9,"reason":"r"}`, done},
		{"type in capitals", `{"type":" Completion ","confidence":0.9,"reason":"r"}`, done},
		{"a word for nothing", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":" \"N/A.\" "}`,
			verdict("status", 0.9, "r", "")},
		{"null in a string", `{"type":"status","confidence":0.9,"reason":"r","coaching_message":"NULL"}`, verdict("status",
			0.9, "r", "")},
		{"a message that begins like none",
			`{"type":"status","confidence":0.9,"reason":"r","coaching_message":"None of it ran."}`, verdict("status", 0.9, "r",
				"None of it ran.")},
		{"coaching beside a completion", `{"type":"completion","confidence":0.9,"reason":"r","coaching_message":"Show it."}`,
			done},
		{"only a type", `{"type":"question"}`, verdict("question", 0.5, "", "")},
		{"wrong types", `{"type":"status","confidence":[1],"reason":7,"rejected":"yes","coaching_message":{"a":1}}`,
			verdict("status", 0, "", "")},
		{"control characters",
			`{"type":"status","confidence":0.9,"reason":"a\u001b[31m\nb\u202e","coaching_message":"Show\u200b it.\u0000"}`,
			verdict("status", 0.9, "a b", "Show it.")},
		{"a secret", `{"type":"status","confidence":0.9,"reason":"ghp_0123456789abcdefghij0123456789"}`, verdict("status",
			0.9, "ghp_"+strings.Repeat("*", 30), "")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(tt.in)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestConfidence(t *testing.T) {
	for in, want := range map[string]float64{
		"0": 0, "1": 1, "0.73": 0.73, `"0.9"`: 0.9, `" 0.9 "`: 0.9, "null": 0.5,
		"1.5": 0, "50": 0, "95": 0, "-0.2": 0, `"50"`: 0, `"95%"`: 0, `"high"`: 0, `"1e999"`: 0, `"Inf"`: 0, `"NaN"`: 0,
		`""`: 0, "true": 0, "[]": 0, "{}": 0,
	} {
		v, err := parse(`{"type":"question","confidence":` + in + `}`)
		require.NoError(t, err, in)
		assert.Equal(t, want, v.Confidence, in)
	}
	// Of a status, the number is calibrated, and keeps its order.
	for in, want := range map[string]float64{"0": 0, "0.5": 0.5, "0.6": 0.6, "0.61": 0.802, "0.7": 0.82, "0.8": 0.84,
		"0.85": 0.85, "0.86": 0.86, "1": 1, "90": 0} {
		v, err := parse(`{"type":"status","confidence":` + in + `}`)
		require.NoError(t, err, in)
		assert.InDelta(t, want, v.Confidence, 1e-9, in)
	}
}

func TestUnparseable(t *testing.T) {
	for _, in := range []string{
		"", " ", "status", "null", "[]", `"status"`, "{", "{}", `{"type":"banana"}`, `{"type":null}`, `{"type":7}`,
		`{"confidence":1}`,
		`{"type":"status"`, `{'type':'status'}`, `{"type":"banana"} {}`,
		`{"note":` + good, `{"note":` + good + `,`, `{"note":[` + good + "]\n```\n", `{"a":{"b":[{},` + good,
		`{"note":` + good + ` oops`,
		strings.Repeat("{", 1<<20), strings.Repeat(`{"a":`, 1<<17), strings.Repeat(`{"`, 1<<18),
		strings.Repeat(`{"a":[`, 50_000),
	} {
		_, err := parse(in)
		assert.Error(t, err, "%.40q", in)
	}
}

func FuzzVerdict(f *testing.F) {
	for _, s := range []string{good, "```json\n" + good + "```", `{"type":"status","coaching_message":"x"}`, good + good,
		"\ufeff{", `{"a":{"type":"error"}}`} {
		f.Add(s, 0.4, "reason", "coaching")
	}
	f.Fuzz(func(t *testing.T, s string, conf float64, reason, coaching string) {
		v, err := parse(s)
		if err == nil {
			fits := v.Type.Valid() && v.Confidence >= 0 && v.Confidence <= 1 &&
				(v.Type == classify.Status || v.CoachingMessage == "") &&
				(v.CoachingMessage == "" || v.WasRejectedCompletion) && utf8.RuneCountInString(v.Reason) <= maxReason &&
				utf8.RuneCountInString(v.CoachingMessage) <= maxCoaching &&
				plaintext.Clean(v.Reason+v.CoachingMessage) == v.Reason+v.CoachingMessage
			if !fits {
				t.Fatalf("%q gave %+v", s, v)
			}
		}
		// A whole verdict on a line of its own counts whatever stands before it, except half an object.
		b, jsonErr := json.Marshal(map[string]any{
			"type": "status", "confidence": conf, "reason": reason, "coaching_message": coaching,
		})
		if jsonErr != nil || strings.Contains(s, "{") {
			return
		}
		if v, err := parse(s + "\n" + string(b)); err != nil || v.Type != classify.Status {
			t.Fatalf("%q hid %s: %v", s, b, err)
		}
	})
}
