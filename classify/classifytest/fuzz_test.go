package classifytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func FuzzUnfold(f *testing.F) {
	for _, s := range []string{`{"a":"b\nc","d":["\n",1.50,null,true,{"$lines":5}]}`, `"\n\n"`, `[]`, `"\r\n"`, `{"$lines":["a"]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		v, err := parseBody([]byte(body))
		if err != nil {
			return
		}
		var mixed bool // a body that looks unfolded already is the one thing that cannot be told apart
		rewrite(v, func(v any) any {
			m, _ := v.(map[string]any)
			_, has := m[lines]
			mixed = mixed || has
			return v
		})
		text := encode(unfold(v), "  ")
		var again any
		if again, err = parseBody([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if again = fold(again); !mixed && !reflect.DeepEqual(v, again) {
			t.Errorf("%q became %q", body, text)
		}
		if a, b := requestKey("POST", "/", v), requestKey("POST", "/", again); !mixed && a != b {
			t.Error("the key changed")
		}
	})
}

// FuzzScrub: a secret that a JSON text spells in a mixture of ways is gone from it, read as JSON or as it is, what stood
// around it is there, and the text is JSON still.
func FuzzScrub(f *testing.F) {
	f.Add("sk-t0p-secret", "before ", " after", []byte{0, 1, 2, 3})
	f.Add("/+\"<é\U0001f511", "\\", "\"", []byte{1})
	f.Fuzz(func(t *testing.T, secret, before, after string, ways []byte) {
		all := before + secret + after
		if len(secret) < 6 || len(ways) == 0 || strings.TrimSpace(secret) != secret || strings.ContainsAny(all, `\%`) ||
			strings.ContainsFunc(secret, func(r rune) bool { return r == ' ' || unicode.IsControl(r) }) || // no key in a header
			strings.Trim(secret, `"`) != secret || // after a backslash it may be the string's own
			strings.Index(all, secret) != strings.LastIndex(all, secret) || // two that overlap become one
			!utf8.ValidString(secret) || !utf8.ValidString(before) || !utf8.ValidString(after) {
			return
		}
		req := &http.Request{URL: &url.URL{}, Header: http.Header{"Api-Key": {secret}}}
		var b strings.Builder
		for i, r := range []rune(secret) {
			switch quoted, _ := json.Marshal(string(r)); ways[i%len(ways)] % 4 {
			case 0:
				b.Write(quoted[1 : len(quoted)-1])
			case 1:
				for _, u := range utf16.Encode([]rune{r}) {
					fmt.Fprintf(&b, `\u%04x`, u)
				}
			case 2:
				for _, u := range utf16.Encode([]rune{r}) {
					fmt.Fprintf(&b, `\\u%04X`, u)
				}
			case 3:
				for _, c := range []byte(string(r)) {
					fmt.Fprintf(&b, "%%%02X", c)
				}
			}
		}
		head, _ := json.Marshal(before)
		tail, _ := json.Marshal(after)
		text := string(head[:len(head)-1]) + b.String() + string(tail[1:])
		got := string(scrub([]byte(text), secretsOf(req)))
		var s string
		if err := json.Unmarshal([]byte(got), &s); err != nil {
			t.Fatalf("%s became %s: %v", text, got, err)
		}
		if s != before+redacted+after {
			t.Fatalf("%s became %s", text, got)
		}
	})
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"model":"m","messages":[{"role":"user","content":"json"}],"response_format":{"type":"json_schema","json_schema":{"name":"v","strict":true,"schema":{"type":"object","properties":{"a":{"items":{}}},"required":["a"],"additionalProperties":false}}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		if check([]byte(body)) == nil && !json.Valid([]byte(body)) {
			t.Error("accepted what is no JSON")
		}
	})
}
