package gate

import (
	"errors"
	"strings"
)

// matchWildcard reports whether s is pattern, in which each * stands for any text, also none. Nothing else is special.
func matchWildcard(pattern, s string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, first)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	last := parts[len(parts)-1]
	for _, part := range parts[:len(parts)-1] {
		_, after, ok := strings.Cut(s, part)
		if !ok {
			return false
		}
		s = after
	}
	return strings.HasSuffix(s, last)
}

// checkPattern refuses a tool's pattern that matches no tool, or that looks as if more than * were special.
func checkPattern(pattern string) error {
	if strings.Contains(pattern, "**") {
		return errors.New(`"**" means the same as "*": write one`)
	}
	name := strings.ReplaceAll(pattern, "*", "")
	if len(pattern) > maxTool {
		return errors.New("the tool's pattern is too long for any tool's name")
	}
	for _, r := range name {
		if !toolRune(r) {
			return errors.New("a tool's pattern has letters a-z, A-Z, digits and _ - . : / and *, which stands for any text; nothing else is a wildcard")
		}
	}
	return nil
}

// toolRune reports whether a tool's name may hold r. Names are ASCII, so that no two look alike.
func toolRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.:/", r)
}
