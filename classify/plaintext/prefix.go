package plaintext

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Prefix begins every message of ours but the plain "continue". A space and the message follow it.
const Prefix = "[System Coach]"

// IsOurs reports whether text begins with [Prefix], after white space and invisible characters: a message of ours that
// came back, never the human's words. The plain "continue" cannot be told this way.
func IsOurs(text string) bool {
	return strings.HasPrefix(strings.TrimLeftFunc(text, isUnseen), Prefix)
}

// Disarm replaces the brackets around each "System Coach" in s by parentheses, in whatever case, spacing, script or
// kind of bracket it is written, so that s cannot forge our prefix. Apply it to cleaned text: it does not look through
// invisible characters.
func Disarm(s string) string {
	rs := []rune(s)
	seen := shape(rs)
	names := nameInside().FindAllStringIndex(seen, -1)
	if names == nil {
		return s
	}
	for _, at := range names {
		for i := at[0] - 1; i >= 0 && !isWord(seen[i]); i-- {
			if seen[i] == '(' {
				rs[i] = '('
			}
		}
		for i := at[1]; i < len(rs) && !isWord(seen[i]); i++ {
			if seen[i] == ')' {
				rs[i] = ')'
			}
		}
	}
	return string(rs)
}

// TrimPrefix returns s without the prefixes of ours that it begins with, however they are written: the name in
// brackets, or before a colon. Apply it to cleaned text.
func TrimPrefix(s string) string {
	rs := []rune(s)
	prefixes := namesBefore().FindString(shape(rs))
	return s[len(string(rs[:len(prefixes)])):]
}

// How the name stands in a text, see [shape]: up to 8 characters that are not of a word may be between two letters.
var (
	name        = strings.Join(strings.Split("systemcoach", ""), `[^a-z0-9]{0,8}`)
	nameInside  = compiled(`\b` + name)
	namesBefore = compiled(`^(?:[^a-z0-9]*(?:\([^a-z0-9]*` + name + `[ *:]*\)|` + name + `[ *)]*:)[ *:)]*)+`)
)

// shape returns a byte for each character: the letter or digit that it looks like, 0 for another one, parentheses for
// all brackets, * for what emphasises, and a full stop for what is not of a word.
func shape(rs []rune) string {
	shape := make([]byte, len(rs))
	for i, r := range rs {
		switch f := Fold(r); { // a circled letter is a symbol until folded
		case unicode.IsLetter(f) || unicode.IsDigit(f):
			shape[i] = '0'
			if f < utf8.RuneSelf {
				shape[i] = byte(f)
			}
		case r == '<' || r == '＜' || unicode.In(r, unicode.Ps, unicode.Pi):
			shape[i] = '('
		case r == '>' || r == '＞' || unicode.In(r, unicode.Pe, unicode.Pf):
			shape[i] = ')'
		case r == '*' || r == '_':
			shape[i] = '*'
		case r == ' ' || r == ':':
			shape[i] = byte(r)
		default:
			shape[i] = '.'
		}
	}
	return string(shape)
}

func isWord(c byte) bool { return isLetter(c) || isDigit(c) }

// Fold maps a letter to the lower-case ASCII letter that it looks like, and any other rune to its lower case. It knows
// full-width, circled, squared and mathematical letters, common letters with marks, and the look-alikes of Cyrillic,
// Greek, Armenian and phonetic alphabets.
func Fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return unicode.ToLower(r)
	case 0xff01 <= r && r <= 0xff5e: // full-width ASCII
		return unicode.ToLower(r - 0xff01 + '!')
	case 0x24b6 <= r && r <= 0x24e9: // circled
		return 'a' + (r-0x24b6)%26
	case 0x249c <= r && r <= 0x24b5: // parenthesised
		return 'a' + r - 0x249c
	case 0x1d400 <= r && r <= 0x1d6a3: // mathematical
		return 'a' + (r-0x1d400)%26
	case 0x1f130 <= r && r <= 0x1f149, 0x1f150 <= r && r <= 0x1f169, 0x1f170 <= r && r <= 0x1f189: // squared, negative
		return 'a' + (r-0x1f130)%32
	case 0x1f110 <= r && r <= 0x1f129: // parenthesised capitals
		return 'a' + r - 0x1f110
	case 0x1f1e6 <= r && r <= 0x1f1ff: // regional indicators
		return 'a' + r - 0x1f1e6
	}
	r = unicode.ToLower(r)
	if l, ok := lookalikes()[r]; ok {
		return l
	}
	return r
}

// lookalikes maps lower-case letters of other alphabets, small capitals and letters with marks.
var lookalikes = sync.OnceValue(func() map[rune]rune {
	m := make(map[rune]rune)
	for l, others := range map[rune]string{
		'a': "аαᴀàáâãäåāăąǎạả", 'b': "ьвʙβ", 'c': "сϲᴄⅽçćĉċč", 'd': "ԁᴅⅾďđ", 'e': "еεᴇèéêëēĕėęěẹẻẽ",
		'f': "ꜰſ", 'g': "ɡɢցĝğġģ", 'h': "һнհʜηĥħ", 'i': "іιɪⅰìíîïĩīĭįı", 'j': "јᴊĵ", 'k': "кκᴋķ", 'l': "ӏʟⅼĺļľł",
		'm': "мᴍⅿμ", 'n': "пոɴñńņňν", 'o': "оοօᴏσòóôõöøōŏőọỏ", 'p': "рρᴘ", 'q': "ԛ", 'r': "гʀŕŗř", 's': "ѕꜱśŝşšșς",
		't': "тτᴛţťŧț", 'u': "υսᴜùúûüũūŭůűų", 'v': "ѵᴠⅴ", 'w': "ԝᴡŵω", 'x': "хχⅹ", 'y': "уүγʏýÿŷ", 'z': "ᴢźżžζ",
	} {
		for _, r := range others {
			m[r] = l
		}
	}
	return m
})
