package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"sync"
)

// lastObject returns the last complete JSON object in a text that is wanted, or, if none is wanted, the last one.
// Prose, fences, thoughts and other objects may stand around it. An object inside another one does not count, complete
// or not: half an answer is no answer. A nil wanted takes any object.
//
// None, NaN and Infinity, which some programs write as a value, are read as null.
func lastObject(text string, wanted func(json.RawMessage) bool) (json.RawMessage, bool) {
	if object, ok := scanObjects([]byte(text), wanted); ok {
		return object, ok
	}
	return scanObjects(notJSON().ReplaceAll([]byte(text), []byte("$1 null")), wanted)
}

var notJSON = lazy(`(":)\s*(?:[Nn]one|[-+]?(?:[Nn]a[Nn]|[Ii]nf(?:inity)?|Infinity))\b`)

// lazy compiles an expression when it is first used: a program that asks no model does not wait for it.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func scanObjects(text []byte, wanted func(json.RawMessage) bool) (last json.RawMessage, found bool) {
	chosen := false
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '{')
		if next < 0 {
			return last, found
		}
		at += next
		if rest := bytes.TrimLeft(text[at+1:], " \t\r\n"); len(rest) == 0 || rest[0] != '"' && rest[0] != '}' {
			at++ // a brace in prose or code
			continue
		}
		var object json.RawMessage
		dec := json.NewDecoder(bytes.NewReader(text[at:]))
		err := dec.Decode(&object)
		switch syntax := (*json.SyntaxError)(nil); {
		case err == nil:
			if take := wanted == nil || wanted(object); take || !chosen {
				last, found, chosen = object, true, take
			}
			at += int(dec.InputOffset())
		case errors.Is(err, io.ErrUnexpectedEOF), !errors.As(err, &syntax):
			return last, found // what is inside an unfinished object does not count
		default:
			at += max(1, int(syntax.Offset)-1)
		}
	}
}
