package llm

import (
	"strings"
	"unicode"
)

// estimate is about how many tokens a text has for the tokenizers of the time, and rather too many than too few. Words, runs
// of digits and signs are pieces; letters that rarely follow each other break a word into more tokens. The nested module in
// tokens measures it against a real tokenizer.
func estimate(s string) int {
	e := estimator{}
	for _, r := range s {
		e.add(r)
	}
	e.flush()
	return (e.tenths + 9) / 10
}

// follow holds, by letter, the letters that often come after it in words.
var follow = [26]string{
	"bcdfgiklmnprstuvwy", "aeiloruyjs", "aehikloruytcs", "aeilorsuydgm", "abcdefgilmnopqrstuvwxy", "aefiloruty", "aeghilnorsuy",
	"aeiortuyn", "abcdefgklmnoprstvxz", "aeouis", "aeilnsy", "abdefiklmopstuvy", "abeimopsuy", "acdefgiklnorstuvy",
	"abcdefghiklmnoprstuvwxy", "aehiloprstuy", "u", "abcdefgiklmnoprstuvwy", "acehiklmnopqstuwy", "aeghilmorstuwyc",
	"abcdefgilmnprstxz", "aeioy", "aehilnorsy", "aceiptyu", "abcdeilmnopstw", "aeiozly",
}

type piece int

const (
	blank piece = iota
	word        // ASCII letters; the first may be upper case
	upper
	digits
	sign
	foreign
)

type estimator struct {
	tenths int // of tokens
	kind   piece
	n      int // characters of the piece under way
	odd    int // pairs of letters that rarely stand together
	run    int // how often last stands in a row
	last   rune
}

func (e *estimator) add(r rune) {
	kind := kindOf(r)
	if kind == word && e.kind == upper && e.n == 1 {
		e.kind = word // that was a capital
	}
	if kind != e.kind || kind == foreign || kind == blank && r != e.last {
		if kind == digits && e.kind == blank && e.last == ' ' { // no digit takes the space before it
			e.tenths += 9
		}
		e.flush()
		e.kind = kind
	}
	switch {
	case kind == foreign:
		e.tenths += foreignTenths(r, e.last)
		e.n = 0
	case r == e.last && e.n > 0:
		e.run++
		switch { // long runs of one character are tokens of their own
		case e.run <= 3 || kind == digits || kind == blank:
			e.n++
		case kind == sign:
			e.tenths++
		default:
			e.tenths += 3
		}
	default:
		if kind == word && e.n > 0 && !strings.ContainsRune(follow[(e.last|0x20)-'a'], r) {
			e.odd++
		}
		e.n++
		e.run = 1
	}
	e.last = r
}

func kindOf(r rune) piece {
	switch {
	case r == ' ' || r == '\t' || r == '\n' || r == '\r':
		return blank
	case 'a' <= r && r <= 'z':
		return word
	case 'A' <= r && r <= 'Z':
		return upper
	case '0' <= r && r <= '9':
		return digits
	case r >= 0x80:
		return foreign
	}
	return sign
}

// flush counts the piece under way.
func (e *estimator) flush() {
	if e.n == 0 {
		return
	}
	switch e.kind {
	case blank:
		if e.n > 1 || e.last != ' ' { // a single space belongs to the word after it
			e.tenths += 9
		}
	case word:
		e.tenths += 10 + 9*e.odd + max(0, e.n-7)
	case upper:
		e.tenths += max(10, 6*e.n)
	case digits:
		e.tenths += 10 * ((e.n + 2) / 3)
	case sign:
		e.tenths += max(9, 7*e.n)
	}
	e.n, e.odd, e.run = 0, 0, 0
}

// foreignTenths is what a character outside ASCII costs after another.
func foreignTenths(r, last rune) int {
	switch {
	case r == last && (r == '\ufffd' || 0x2500 <= r && r <= 0x257F): // rules
		return 3
	case r == last && r < 0x250:
		return 6
	case r < 0x250: // Latin
		return 10
	case unicode.In(r, unicode.Cyrillic, unicode.Greek):
		return 5
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		return 9
	case 0x3000 <= r && r <= 0x303F, 0xFF00 <= r && r <= 0xFF65: // signs of East Asian scripts
		return 10
	case unicode.In(r, unicode.Han):
		return 11
	case unicode.In(r, unicode.Hangul, unicode.Thai):
		return 12
	case unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Devanagari):
		return 8
	case unicode.In(r, unicode.Mn), 0x2010 <= r && r <= 0x2027, r == '→', r == '✅', r == '✓': // accents and typographic signs
		return 10
	case 0x2190 <= r && r <= 0x25FF:
		return 20
	case r < 0x10000:
		return 22
	}
	return 28
}
