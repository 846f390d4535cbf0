package classifytest

import (
	"encoding/json"
	"reflect"
	"testing"
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

func FuzzCheck(f *testing.F) {
	f.Add(`{"model":"m","messages":[{"role":"user","content":"json"}],"response_format":{"type":"json_schema","json_schema":{"name":"v","strict":true,"schema":{"type":"object","properties":{"a":{"items":{}}},"required":["a"],"additionalProperties":false}}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		if check([]byte(body)) == nil && !json.Valid([]byte(body)) {
			t.Error("accepted what is no JSON")
		}
	})
}
