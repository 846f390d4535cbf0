package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// line returns at most n bytes of a text on one line, for a person to read.
func line(s string, n int) string { return plaintext.Visible(head(s, n)) }

// shown is line for a text of several lines.
func shown(s string, n int) string { return plaintext.VisibleLines(head(s, n)) }

// head returns at most n bytes of a text, whole characters.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// pretty indents a JSON value for reading and editing. Numbers keep their digits and keys their order. A character
// that a person would not see becomes an escape of JSON, so that the result is the same value.
func pretty(body json.RawMessage) string {
	var compact, b bytes.Buffer
	if json.Compact(&compact, body) != nil || json.Indent(&b, compact.Bytes(), "", "  ") != nil {
		return plaintext.Visible(string(body))
	}
	return plaintext.ReplaceHidden(b.String(), func(raw string) string {
		r, _ := utf8.DecodeRuneInString(raw)
		if r > 0xFFFF {
			hi, lo := utf16.EncodeRune(r)
			return fmt.Sprintf(`\u%04x\u%04x`, hi, lo)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// typable returns a text for a person to edit: unusual spaces become plain ones, and other characters that cannot be
// seen are left out. Joiners and the like stay where scripts and emoji need them. Line feeds stay.
func typable(s string) string {
	return plaintext.ReplaceHidden(s, func(raw string) string {
		if r, _ := utf8.DecodeRuneInString(raw); plaintext.IsSpace(r) {
			return " "
		}
		return ""
	})
}

// restore returns what a person typed, with every line that they did not change as it was in the text before.
func restore(before, typed string) string {
	was := make(map[string][]string) // lines, by what the person saw of them
	for l := range strings.SplitSeq(before, "\n") {
		seen := typable(strings.TrimSuffix(l, "\r"))
		was[seen] = append(was[seen], l)
	}
	lines := strings.Split(typed, "\n")
	for i, l := range lines {
		if old := was[l]; len(old) > 0 {
			lines[i], was[l] = old[0], old[1:]
		}
	}
	return strings.Join(lines, "\n")
}

// member is one key of an object and its value, as written.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the keys of an object in their order; nil for any other value.
func members(body json.RawMessage) []member {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var list []member
	for dec.More() {
		key, err := dec.Token()
		var m member
		if err != nil || dec.Decode(&m.value) != nil {
			return nil
		}
		m.key, _ = key.(string)
		list = append(list, m)
	}
	return list
}

// object writes an object of members.
func object(list []member) json.RawMessage {
	b := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quoted(m.key)...), ':'), m.value...)
	}
	return append(b, '}')
}

const shortValue = 200 // bytes, with the key

// shortFirst moves short values of an object before long ones, so that padding hides nothing.
func shortFirst(body json.RawMessage) json.RawMessage {
	list := members(body)
	isLong := func(m member) bool { return len(m.key)+len(m.value) > shortValue }
	short := slices.DeleteFunc(slices.Clone(list), isLong)
	if slices.EqualFunc(short, list[:len(short)], func(a, b member) bool { return a.key == b.key }) {
		return body
	}
	long := slices.DeleteFunc(list, func(m member) bool { return !isLong(m) })
	return object(append(short, long...))
}

// quoted returns a text as a JSON string.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string does not fail
	return strings.TrimSpace(b.String())
}
