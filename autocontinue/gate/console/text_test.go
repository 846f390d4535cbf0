package console

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

func TestPrettyHidesNothing(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1.50}`:                 "{\n  \"a\": 1.50\n}",
		"\"x\u200by\"":               `"x\u200by"`,
		"\"\U000e0041\"":             `"\udb40\udc41"`,
		"\"\u007f\"":                 `"\u007f"`,
		`"\u202e"`:                   `"\u202e"`,
		`"é 漢 😀"`:                    `"é 漢 😀"`,
		`"` + "\u2028" + `\n"`:       `"\u2028\n"`,
		`[1e5,-0.0,1E+2,9999999999]`: "[\n  1e5,\n  -0.0,\n  1E+2,\n  9999999999\n]",
	} {
		assert.Equal(t, want, pretty(json.RawMessage(in)), in)
	}
}

// What is shown of JSON is the same value, and shows all of itself.
func FuzzPretty(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,"x"]}`, "\"\u202e\"", `"\ud800"`, `1e999`, "\"\U000e0041\u00ad\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) || !utf8.Valid(data) {
			return
		}
		s := pretty(data)
		if plaintext.VisibleLines(s) != s {
			t.Fatalf("%q hides something", s)
		}
		value := func(data []byte) (v any) {
			dec := json.NewDecoder(bytes.NewReader(data))
			dec.UseNumber()
			require.NoError(t, dec.Decode(&v))
			return v
		}
		if a, b := value(data), value([]byte(s)); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q became %q", data, s)
		}
	})
}

func TestTypable(t *testing.T) {
	for in, want := range map[string]string{
		"1\u00a01/2\u202ftablets\u3000x": "1 1/2 tablets x", "a\rb\u2028c": "a b c", "x\u200b\u202e\U000e0041y": "xy",
		"a\r\nb": "a\nb",
		"می\u200cخواهم ❤\ufe0f 👩\u200d💻 1\ufe0f": "می\u200cخواهم ❤\ufe0f 👩\u200d💻 1\ufe0f", "a\n\tb": "a\n\tb",
	} {
		assert.Equal(t, want, typable(in))
	}
}
