package hook

import (
	"bytes"
	"encoding/json"
	"iter"
)

// A transcript's line can be megabytes of which a few words matter. What follows finds these without looking at the rest
// more than it must: it skips values by their brackets and quotes, and leaves what it returns to encoding/json. It never
// fails on what is no JSON; it finds nothing then, or less.

// members yields the members of the JSON object in b, in their order. It ends at the first thing that is none.
func members(b []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		i := space(b, 0)
		if i >= len(b) || b[i] != '{' {
			return
		}
		for i++; ; i++ {
			i = space(b, i)
			if i >= len(b) || b[i] != '"' {
				return
			}
			end := quoted(b, i)
			if end < 0 {
				return
			}
			key := string(b[i+1 : end-1])
			if bytes.IndexByte(b[i:end], '\\') >= 0 {
				key, _ = text(b[i:end])
			}
			i = space(b, end)
			if i >= len(b) || b[i] != ':' {
				return
			}
			i = space(b, i+1)
			if end = value(b, i); end < 0 {
				return
			}
			if !yield(key, b[i:end]) {
				return
			}
			i = space(b, end)
			if i >= len(b) || b[i] != ',' {
				return
			}
		}
	}
}

// elements yields the elements of the JSON array in b.
func elements(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := space(b, 0)
		if i >= len(b) || b[i] != '[' {
			return
		}
		for i++; ; i++ {
			i = space(b, i)
			end := value(b, i)
			if end < 0 || !yield(b[i:end]) {
				return
			}
			i = space(b, end)
			if i >= len(b) || b[i] != ',' {
				return
			}
		}
	}
}

// isObject reports whether b is one JSON object, to its closing brace: no half-written line.
func isObject(b []byte) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	end := value(b, i)
	return end > 0 && space(b, end) == len(b)
}

// member returns the value of the last member of that name, or nil.
func member(b []byte, name string) (v []byte) {
	for key, value := range members(b) {
		if key == name {
			v = value
		}
	}
	return v
}

// text decodes a JSON string.
func text(b []byte) (s string, ok bool) {
	if len(b) < 2 || b[0] != '"' || json.Unmarshal(b, &s) != nil {
		return "", false
	}
	return s, true
}

// texts is text without the bool.
func textOf(b []byte) string {
	s, _ := text(b)
	return s
}

func isTrue(b []byte) bool { return string(b) == "true" }

// space returns the index of the first byte of b from i on that is no white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// quoted returns the end of the string that begins at i, or -1.
func quoted(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		j := i + n
		slashes := 0
		for k := j - 1; k >= i && b[k] == '\\'; k-- {
			slashes++
		}
		i = j + 1
		if slashes%2 == 0 {
			return i
		}
	}
	return -1
}

// value returns the end of the value that begins at i, or -1.
func value(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return quoted(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				if i = quoted(b, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	case ',', ':', '}', ']':
		return -1
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] != ' ' && b[i] != '\n' && b[i] != '\t' && b[i] != '\r' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
