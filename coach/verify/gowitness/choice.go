package gowitness

import (
	"regexp"
	"strings"
)

// choice is what -run and -skip say; empty is nothing.
type choice struct{ run, skip string }

// takes reports whether a test function is meant to run, as go help testflag has it: a pattern is one or more alternatives, each a
// list of expressions between slashes, of which the first is for functions. What cannot be read chooses nothing.
func (c choice) takes(name string) bool {
	if c.run != "" && !matches(c.run, name, false) {
		return false
	}
	return c.skip == "" || !matches(c.skip, name, true)
}

// matches reports whether an alternative of a pattern matches a function; whole is without what is for subtests alone.
func matches(pattern, name string, whole bool) bool {
	for _, alternative := range split(pattern, '|') {
		parts := split(alternative, '/')
		if whole && len(parts) > 1 {
			continue
		}
		// Blanks and the like never stand in a name; testing rewrites them in both.
		if re, err := regexp.Compile(strings.ReplaceAll(parts[0], " ", "_")); err == nil && re.MatchString(name) {
			return true
		}
	}
	return false
}

// split splits a pattern at a character that is in no brackets and not escaped.
func split(pattern string, at byte) []string {
	var list []string
	begin, square, round := 0, 0, 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '[':
			square++
		case c == ']':
			square = max(0, square-1)
		case c == '(' && square == 0:
			round++
		case c == ')' && square == 0:
			round--
		case c == '\\':
			i++
		case c == at && square == 0 && round == 0:
			list = append(list, pattern[begin:i])
			begin = i + 1
		}
	}
	return append(list, pattern[begin:])
}
