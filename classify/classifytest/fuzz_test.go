package classifytest

import (
	"encoding/json"
	"testing"
)

func FuzzCheck(f *testing.F) {
	f.Add(`{"model":"m","messages":[{"role":"user","content":"json"}],"response_format":{"type":"json_schema","json_schema":` +
		`{"name":"v","strict":true,"schema":{"type":"object","properties":{"a":{"items":{}}},"required":["a"],` +
		`"additionalProperties":false}}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		if check([]byte(body)) == nil && !json.Valid([]byte(body)) {
			t.Error("accepted what is not JSON")
		}
	})
}
