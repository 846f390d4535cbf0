package coach

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is one word of a folded text.
type word struct {
	text string
	end  bool // a clause ends after it
}

// folded returns s in lower case, with look-alike letters replaced and without apostrophes.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\'', '’', '‘', 'ʼ', '＇':
			return -1
		}
		return fold(r)
	}, s)
}

// tokens splits a folded text as a shell would read it: at white space, quotes, brackets and operators.
func tokens(s string) []word {
	var ws []word
	endClause := func() {
		if len(ws) > 0 {
			ws[len(ws)-1].end = true
		}
	}
	add := func(raw string) {
		trimmed := strings.TrimRight(raw, ".:!?_…")
		if trimmed != "" {
			ws = append(ws, word{text: trimmed})
		}
		if trimmed != raw {
			endClause()
		}
	}
	start := 0
	for i, r := range s {
		switch {
		case strings.ContainsRune(",;()[]{}|&", r):
			add(s[start:i])
			endClause()
		case unicode.IsSpace(r), strings.ContainsRune("`\"“”*<>", r):
			add(s[start:i])
		default:
			continue
		}
		start = i + utf8.RuneLen(r)
	}
	add(s[start:])
	return ws
}

// words splits a folded text into the words a reader sees.
func words(s string) []word {
	var ws []word
	for _, t := range tokens(s) {
		for _, w := range strings.FieldsFunc(t.text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			ws = append(ws, word{text: w})
		}
		if t.end && len(ws) > 0 {
			ws[len(ws)-1].end = true
		}
	}
	return ws
}

// text returns words as one phrase.
func text(ws []word) string {
	var b strings.Builder
	for i, w := range ws {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}
