package gate

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// pointer is a JSON pointer (RFC 6901), split and unescaped.
type pointer []string

func parsePointer(s string) (pointer, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, errors.New(`a JSON pointer begins with a slash, such as "/rows"; an empty one is the whole body`)
	}
	parts := strings.Split(s[1:], "/")
	for i, part := range parts {
		if part == "-" {
			return nil, errors.New(`"-" in a JSON pointer is the place after the last element: nothing is there`)
		}
		for j := 0; j < len(part); j++ {
			if part[j] == '~' && (j+1 == len(part) || part[j+1] != '0' && part[j+1] != '1') {
				return nil, errors.New(`in a JSON pointer "~" is written "~0" and "/" is written "~1"`)
			}
		}
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
	}
	return parts, nil
}

// lookup is what a pointer leads to.
type lookup int

const (
	found   lookup = iota
	absent         // nothing is there, in an object that could hold it
	unclear        // the way leads through something else, or past a key that some readers take for the one named
)

// find follows a pointer.
func (p pointer) find(raw json.RawMessage) (json.RawMessage, lookup) {
	for _, part := range p {
		list, object, ok := members(raw)
		if !ok {
			return nil, unclear
		}
		var at int
		if object {
			if at = slices.IndexFunc(list, func(m member) bool { return m.key == part }); at < 0 {
				folded := fold(part)
				if slices.ContainsFunc(list, func(m member) bool { return fold(m.key) == folded }) {
					return nil, unclear
				}
				return nil, absent
			}
		} else {
			n, err := strconv.Atoi(part)
			if err != nil || n < 0 || strconv.Itoa(n) != part {
				return nil, unclear
			}
			if n >= len(list) {
				return nil, absent
			}
			at = n
		}
		raw = list[at].raw
	}
	return raw, found
}
