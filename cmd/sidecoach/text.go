package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden reports whether a terminal would act on r or show nothing for it: control, bidirectional and zero-width
// characters. The two joiners that emoji and several scripts need are harmless.
func hidden(r rune) bool {
	const zwnj, zwj = '\u200c', '\u200d'
	return !unicode.IsPrint(r) && r != zwnj && r != zwj
}

// visible writes the hidden characters of s as escapes: \x1b, \u202e, and \xff for a byte that is not UTF-8.
func visible(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		b.WriteString(escape(r, s[:n]))
		s = s[n:]
	}
	return b.String()
}

// escape returns how one character is shown; raw are its bytes.
func escape(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case !hidden(r):
		return raw
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// quote shows a span of the agent's text on one line: in quotation marks, white space folded, hidden characters
// escaped, at most limit characters between the marks.
func quote(span string, limit int) string {
	rest := ""
	if n := limit * 16; len(span) > n { // more than can be shown, whatever it holds
		for !utf8.RuneStart(span[n]) && n > 0 {
			n--
		}
		span, rest = span[:n], span[n:]
	}
	var parts []string
	length := 0
	for s := strings.Join(strings.Fields(span), " "); len(s) > 0 && length <= limit; {
		r, n := utf8.DecodeRuneInString(s)
		parts = append(parts, escape(r, s[:n]))
		length += utf8.RuneCountInString(parts[len(parts)-1])
		s = s[n:]
	}
	if length <= limit && rest == "" {
		return `"` + strings.Join(parts, "") + `"`
	}
	for length > limit-1 && len(parts) > 0 {
		last := len(parts) - 1
		length -= utf8.RuneCountInString(parts[last])
		parts = parts[:last]
	}
	return `"` + strings.Join(parts, "") + `…"`
}

// position returns line and column of a byte offset, both from 1, the column in characters as an editor counts them: a
// byte order mark is none.
func position(text string, offset int) (line, column int) {
	before := text[:offset]
	line = 1 + strings.Count(before, "\n")
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if line == 1 {
		before = strings.TrimPrefix(before, "\ufeff")
	}
	return line, 1 + utf8.RuneCountInString(before)
}

// wrap breaks a line between words so that no part is longer than width characters, unless a word is. Parts after the
// first stand below the text of a list item. A width of 0 or less breaks nothing.
func wrap(line string, width int) []string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	hang := indent
	if strings.HasPrefix(text, "- ") {
		hang += "  "
	}
	var parts []string
	part, empty := indent, true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(part)+1+utf8.RuneCountInString(word) > width {
			parts = append(parts, part)
			part, empty = hang, true
		}
		if !empty {
			part += " "
		}
		part += word
		empty = false
	}
	return append(parts, part)
}

// columns is how many columns of a terminal a character takes, by its block: East Asian ones and emoji take two, marks none.
func columns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && (r <= 0x115f || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi) && !(0xff61 <= r && r <= 0xffdc) ||
		0x3000 <= r && r <= 0x303e || 0xff01 <= r && r <= 0xff60 || 0xffe0 <= r && r <= 0xffe6 || 0x1f300 <= r && r <= 0x1faff):
		return 2
	}
	return 1
}

// lastColumns returns the end of a text that fits into some columns, with an ellipsis where something is left out; all of it
// where width is 0.
func lastColumns(s string, width int) string {
	total := 0
	for _, r := range s {
		total += columns(r)
	}
	if width <= 0 || total <= width {
		return s
	}
	total++ // the ellipsis
	for i, r := range s {
		if total <= width {
			return "…" + s[i:]
		}
		total -= columns(r)
	}
	return "…"
}
