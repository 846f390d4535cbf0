package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

const (
	minSecret = 8 // characters; what is shorter is a placeholder for a server without keys, and a word of its own
	redacted  = "[key]"
)

// redactor takes a key out of what a server sent: an endpoint may well repeat the header that it got.
type redactor func(string) string

func newRedactor(key string) redactor {
	if len(key) < minSecret {
		return func(s string) string { return s }
	}
	return func(s string) string {
		s = strings.ReplaceAll(s, key, redacted)
		if c := visible(s); strings.Contains(c, key) { // it would be whole again when s is shown
			return strings.ReplaceAll(c, key, redacted)
		}
		return s
	}
}

// visible is a text without what is hidden, as people and clean see it.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, s)
}

// object takes the key out of all texts of a JSON object, however they are escaped. One without it stays as it is.
func (r redactor) object(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	v, changed := r.value(v)
	if !changed {
		return raw
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // it was read from JSON
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// value is a decoded value without the key, and whether that is another one.
func (r redactor) value(v any) (_ any, changed bool) {
	switch v := v.(type) {
	case string:
		s := r(v)
		return s, s != v
	case []any:
		for i, e := range v {
			e, other := r.value(e)
			v[i], changed = e, changed || other
		}
		return v, changed
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			e, other := r.value(v[name])
			if s := r(name); s != name {
				delete(v, name)
				name, other = s, true
			}
			v[name], changed = e, changed || other
		}
		return v, changed
	}
	return v, false
}
