package cmdwitness

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut returns s on one line, as valid UTF-8 without control characters, of at most max bytes.
func cut(s string, max int) string {
	if len(s) > 4*max {
		s = s[:4*max]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= max {
		return s
	}
	const mark = "…"
	end := max - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
