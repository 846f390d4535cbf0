package main

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// visible returns s for one line of a terminal, see [plaintext.Visible].
func visible(s string) string { return plaintext.Visible(s) }

// quote shows a span of the agent's text on one line: in quotation marks, white space folded, hidden characters
// escaped, at most limit characters between the marks.
func quote(span string, limit int) string {
	cut := ""
	if n := limit * 16; len(span) > n { // more than can be shown
		for n > 0 && !utf8.RuneStart(span[n]) {
			n--
		}
		span, cut = span[:n], "…"
	}
	return `"` + plaintext.Cut(plaintext.Visible(strings.Join(strings.Fields(span), " "))+cut, limit) + `"`
}

// position returns line and column of a byte offset, both from 1. The column is in characters, as an editor counts
// them, without a byte order mark.
func position(text string, offset int) (line, column int) {
	before := text[:offset]
	line = 1 + strings.Count(before, "\n")
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if line == 1 {
		before = strings.TrimPrefix(before, "\ufeff")
	}
	return line, 1 + utf8.RuneCountInString(before)
}

// wrap breaks a line between words so that no part is wider than width columns, unless a word is. Parts after the first
// stand below the text of a list item. A width of 0 or less breaks nothing.
func wrap(line string, width int) []string {
	if width <= 0 || runewidth.StringWidth(line) <= width {
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
		if !empty && runewidth.StringWidth(part+" "+word) > width {
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

// lastColumns returns the end of a text that fits into width columns, with an ellipsis where something is left out; all
// of it if width is 0.
func lastColumns(s string, width int) string {
	if width <= 0 || runewidth.StringWidth(s) <= width {
		return s
	}
	return runewidth.TruncatePrefix(s, width, "…")
}
