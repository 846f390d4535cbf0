package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsBlank reports whether nothing of text can be seen: it holds white space, control and format characters, terminal escape
// sequences and letters that are blank, or nothing at all. A blank output is a status, "empty output".
func IsBlank(text string) bool {
	for i := 0; i < len(text); {
		if n := EscapeSequence(text[i:]); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !invisible(r) {
			return false
		}
		i += size
	}
	return true
}

// invisible reports whether r shows nothing.
func invisible(r rune) bool {
	switch r {
	case '\u2800', '\u3164', '\u115f', '\u1160', '\uffa0': // Braille blank, Hangul fillers
		return true
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector)
}

// EscapeSequence returns the length of the terminal escape sequence that s begins with, or 0: a control sequence such as a
// colour ("\x1b[31m") or a string such as a title or a hyperlink ("\x1b]…\a"), by ECMA-48. An unfinished one is none.
func EscapeSequence(s string) int {
	if len(s) < 2 || s[0] != '\x1b' {
		return 0
	}
	switch s[1] {
	case '[':
		i := 2
		for i < len(s) && i < 64 && 0x30 <= s[i] && s[i] <= 0x3f {
			i++
		}
		for i < len(s) && i < 64 && 0x20 <= s[i] && s[i] <= 0x2f {
			i++
		}
		if i < len(s) && 0x40 <= s[i] && s[i] <= 0x7e {
			return i + 1
		}
	case ']', 'P', '_', '^', 'X':
		end := strings.IndexAny(s[2:min(len(s), 4096)], "\a\x1b")
		if end < 0 {
			return 0
		}
		if i := 2 + end; s[i] == '\a' {
			return i + 1
		} else if strings.HasPrefix(s[i:], "\x1b\\") {
			return i + 2
		}
	}
	return 0
}

// blankEscapes overwrites the terminal escape sequences of block in buf, its copy, with spaces.
func blankEscapes(buf []byte, block string) {
	for i := strings.IndexByte(block, '\x1b'); i >= 0 && i < len(block); {
		n := max(1, EscapeSequence(block[i:]))
		for j := i; j < i+n; j++ {
			buf[j] = ' '
		}
		i += n
		next := strings.IndexByte(block[i:], '\x1b')
		if next < 0 {
			return
		}
		i += next
	}
}
