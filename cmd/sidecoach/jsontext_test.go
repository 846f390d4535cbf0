package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The places are those of the values, in texts with any white space.
func FuzzParseJSON(f *testing.F) {
	for _, text := range []string{`{"a": [1, "x\"", {"b" : null}], "c":true}`, " [ ] ", `"x"`, `{"\u0061":-1.5e3}`, "\t{\n}\r\n", `[[[]],{}]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := parseJSON(text)
		require.Equal(t, err == nil, json.Valid(text) && !deep(text), "%v", err)
		if err != nil {
			return
		}
		require.Equal(t, decoded(t, text), valueAt(t, text, v))
	})
}

func deep(text []byte) bool { // as parseJSON counts, on a text that is valid
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '{' || c == '['):
			depth++
			if depth > deepest {
				deepest = depth
			}
		case !quoted && (c == '}' || c == ']'):
			depth--
		}
	}
	return deepest > maxNesting
}

// valueAt puts a value together again from the places of its parts.
func valueAt(t *testing.T, text []byte, v jsonValue) any {
	t.Helper()
	switch v.kind {
	case '{':
		m := map[string]any{}
		for _, c := range v.children {
			require.Equal(t, byte('"'), text[c.start])
			m[c.key] = valueAt(t, text, c.value)
		}
		return m
	case '[':
		list := []any{}
		for _, c := range v.children {
			require.Equal(t, c.start, c.value.start)
			list = append(list, valueAt(t, text, c.value))
		}
		return list
	}
	return decoded(t, text[v.start:v.end])
}

// decoded is what a text means, with its numbers as they stand there.
func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&v), string(text))
	return v
}
