package gate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unseen are characters that count as printable, but of which nothing is seen: fillers, variation selectors and blanks.
// Hidden text is carried by them as by zero-width ones.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034f, 0x034f, 1}, // combining grapheme joiner
		{0x115f, 0x1160, 1}, // Hangul fillers
		{0x17b4, 0x17b5, 1}, // Khmer inherent vowels
		{0x180b, 0x180f, 1}, // Mongolian variation selectors and vowel separator
		{0x2800, 0x2800, 1}, // Braille blank
		{0x3164, 0x3164, 1}, // Hangul filler
		{0xfe00, 0xfe0f, 1}, // variation selectors
		{0xffa0, 0xffa0, 1}, // halfwidth Hangul filler
	},
	R32: []unicode.Range32{
		{0x16fe4, 0x16fe4, 1}, // Khitan filler
		{0x1d159, 0x1d159, 1}, // musical null notehead
		{0xe0100, 0xe01ef, 1}, // variation selectors
	},
}

// hidden reports whether a human would not see r as a character of its own, at its place: control and bidirectional
// characters, zero-width ones and joiners, tags, separators and spaces that are not the plain one, private and unassigned
// characters.
func hidden(r rune) bool { return !unicode.IsPrint(r) || unicode.Is(unseen, r) }

// Visible returns s for one line of text that a human reads before deciding: every character that they would not see, or
// that would move others, is written as an escape, \x1b, \u202e or \U000e0041, and \xff for a byte that is not UTF-8. Line
// breaks and tabs are escaped too; see [VisibleLines]. What is printable stays as it is, also a backslash, so the result is
// for the eye and not to be read back. Visible says nothing about markup: escape that for the place it is shown at.
func Visible(s string) string { return visible(s, false) }

// VisibleLines is [Visible] for text of several lines: line feeds and tabs stay, and a carriage return before a line feed is
// left out.
func VisibleLines(s string) string { return visible(strings.ReplaceAll(s, "\r\n", "\n"), true) }

// brief shows at most limit characters of s, on one line.
func brief(s string, limit int) string {
	n := 0
	for i := range s {
		if n == limit {
			return Visible(s[:i]) + "…"
		}
		n++
	}
	return Visible(s)
}

func visible(s string, lines bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case lines && (r == '\n' || r == '\t'), !hidden(r):
			b.WriteString(s[:n])
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		s = s[n:]
	}
	return b.String()
}
