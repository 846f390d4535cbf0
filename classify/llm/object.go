package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// lastObject returns the last complete JSON object in content that is wanted, or, if none is, the last one, whatever stands
// around it: fences, prose, thoughts, another object, half an object. A nil wanted takes any.
//
// An object inside another one is part of that, and so it is when the other one breaks off: half an answer is none. Whether
// an object stands inside of one that broke off before shows where it stands: as the value of a key, in an array, before a
// comma or a closing bracket. Where JSON allows no object, after a complete value or instead of a key, a new one begins.
//
// What programs write where JSON has no word (NaN, Infinity, None) is read as null.
func lastObject(content string, wanted func(json.RawMessage) bool) (json.RawMessage, bool) {
	var (
		text   = []byte(content)
		last   json.RawMessage
		chosen bool
		depth  int // how many objects that broke off may still be open
		broken = -1
		words  int
	)
	for i := 0; ; {
		next := bytes.IndexAny(text[i:], "{}")
		if next < 0 {
			return last, last != nil
		}
		i += next
		if text[i] == '}' {
			depth = max(0, depth-1)
			i++
			continue
		}
		if !begins(text[i:]) {
			if depth > 0 {
				depth++
			}
			i++
			continue
		}
		var object json.RawMessage
		dec := json.NewDecoder(bytes.NewReader(text[i:]))
		switch err := dec.Decode(&object); {
		case err == nil:
			end := i + int(dec.InputOffset())
			if depth == 0 || !inside(text[:i], text[end:], i == broken) {
				if take := wanted == nil || wanted(object); take || !chosen {
					last, chosen = object, take
				}
			}
			i = end
		case errors.Is(err, io.ErrUnexpectedEOF):
			return last, last != nil
		default:
			at := i + 1
			if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
				at = min(max(at, i+int(bad.Offset)-1), len(text))
			}
			if from, to := foreign(text, i, at); from < to && words < maxForeign {
				words++
				text = bytes.Join([][]byte{text[:from], text[to:]}, []byte("null"))
				continue
			}
			depth += open(text[i:at])
			broken, i = at, at
		}
	}
}

// begins reports whether an object may begin here: after the bracket stands a key, or the end.
func begins(text []byte) bool {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '"' || rest[0] == '}')
}

var asValue = compiled(`(?:"[ \t\r\n]*:|[\[,])[ \t\r\n]*$`)

// inside reports whether an object between before and after belongs to one that broke off. Where that one broke, no object
// of it can begin.
func inside(before, after []byte, there bool) bool {
	if after = bytes.TrimLeft(after, " \t\r\n"); len(after) > 0 && bytes.IndexByte([]byte(",]}"), after[0]) >= 0 {
		return true
	}
	return !there && asValue().Match(before[max(0, len(before)-256):])
}

// open counts the objects that are open at the end of the beginning of one.
func open(text []byte) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			n++
		case c == '}':
			n--
		}
	}
	return n
}

const maxForeign = 32

var foreignWord = compiled(`^(?i:[-+]?(?:nan|inf(?:inity)?)|none)\b`)

// foreign returns where a word that JSON lacks stands, if that is what broke the object that begins at start.
func foreign(text []byte, start, at int) (from, to int) {
	for _, from := range [...]int{at - 1, at} { // of nan, none and -Infinity the first letter is good JSON
		if from > start {
			if w := foreignWord().Find(text[from:min(len(text), from+12)]); w != nil {
				return from, from + len(w)
			}
		}
	}
	return 0, 0
}
