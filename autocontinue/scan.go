package autocontinue

import (
	"unicode"
	"unicode/utf8"
)

// What recognises a piece of text that changes from one printing of an output to the next, in this and the other files,
// looks at the start of s, returns the length of what it found, 0 for nothing, and, white space aside, looks only a
// bounded way ahead.

// bounded returns n if s does not go on with the same word after n bytes, and otherwise 0.
func bounded(s string, n int) int {
	if n > 0 && n < len(s) && (startsWord(s[n:]) || s[n] == '_' && word(s[n-1:]) > 1) {
		return 0
	}
	return n
}

// digits returns how many digits s begins with, 0 if more than most.
func digits(s string, most int) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		if n++; n > most {
			return 0
		}
	}
	return n
}

// matches reports whether s begins like pattern, in which d stands for a digit, and does not go on with one.
func matches(s, pattern string) bool {
	if len(s) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] == 'd' && !isDigit(s[i]) || pattern[i] != 'd' && pattern[i] != s[i] {
			return false
		}
	}
	return len(s) == len(pattern) || !isDigit(s[len(pattern)])
}

// spaces returns the length of the white space s begins with.
func spaces(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsSpace(r) {
			return i
		}
		i += size
	}
	return len(s)
}
