package skills

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mentions reports whether word stands in the human's own words of text, as a word of its own.
func mentions(text, word string) bool {
	if word == "" || !occurs(text, 0, len(text), word) {
		return false // as in most texts, whose structure need not be read then
	}
	for start, end := range ownWords(text) {
		if occurs(text, start, end, word) {
			return true
		}
	}
	return false
}

// occurs reports whether word stands in text[start:end] as a word of its own.
func occurs(text string, start, end int, word string) bool {
	for i := start; i+len(word) <= end; i++ {
		if strings.EqualFold(text[i:i+len(word)], word) && begins(text[:i]) && ends(text[i+len(word):]) {
			return true
		}
	}
	return false
}

// maxPunctuation is how many marks may stand between a word and the white space around it. It keeps the search linear
// for a trigger that is itself made of punctuation.
const maxPunctuation = 16

// begins reports whether a word can begin after before.
func begins(before string) bool {
	for range maxPunctuation {
		r, n := utf8.DecodeLastRuneInString(before)
		if n == 0 || separates(r) {
			return true
		}
		if !strings.ContainsRune(`"'*_`, r) && !unicode.In(r, unicode.Ps, unicode.Pi, unicode.Pf) {
			return false
		}
		before = before[:len(before)-n]
	}
	return false
}

// ends reports whether a word can end before after.
func ends(after string) bool {
	for range maxPunctuation {
		r, n := utf8.DecodeRuneInString(after)
		if n == 0 || separates(r) || r == ',' || r == ';' {
			return true
		}
		if !strings.ContainsRune(`"'*_.:!?`, r) && !unicode.In(r, unicode.Pe, unicode.Pi, unicode.Pf) {
			return false
		}
		after = after[n:]
	}
	return false
}

// separates reports whether r parts words without white space beside it: a full stop, comma or dash outside ASCII does,
// a hyphen or slash does not.
func separates(r rune) bool {
	const zeroWidthSpace, byteOrderMark = '\u200b', '\ufeff'
	return unicode.IsSpace(r) || r == zeroWidthSpace || r == byteOrderMark ||
		r > unicode.MaxASCII && unicode.In(r, unicode.Pd, unicode.Po)
}
