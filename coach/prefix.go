package coach

import (
	"strings"
	"sync"
	"unicode"
)

// name is the prefix without what can be written in many ways.
const name = "systemcoach"

// IsOurs reports whether text begins with "[System Coach]", after white space, byte order marks and other invisible
// characters: a message of ours that came back, never the human's words. The plain "continue" cannot be told this way.
func IsOurs(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return isSpace(r) || isInvisible(r) })
	return strings.HasPrefix(text, strings.TrimSpace(Prefix))
}

// nameAt returns the end of the name in rs when it starts at i, however it is spelled and spaced; otherwise 0.
func nameAt(rs []rune, i int) int {
	matched, gap := 0, 0
	for ; i < len(rs); i++ {
		switch r := fold(rs[i]); {
		case r == rune(name[matched]):
			matched, gap = matched+1, 0
			if matched == len(name) {
				return i + 1
			}
		case matched == 0 || isWordRune(r) || gap == 8:
			return 0
		default:
			gap++
		}
	}
	return 0
}

// disarm turns the brackets around each name in rs into parentheses.
func disarm(rs []rune) {
	for i := 0; i < len(rs); i++ {
		end := nameAt(rs, i)
		if end == 0 || i > 0 && isWordRune(rs[i-1]) {
			continue
		}
		for j := i - 1; j >= 0 && !isWordRune(rs[j]); j-- {
			if isOpening(rs[j]) {
				rs[j] = '('
			}
		}
		for j := end; j < len(rs) && !isWordRune(rs[j]); j++ {
			if isClosing(rs[j]) {
				rs[j] = ')'
			}
		}
		i = end - 1
	}
}

// trimPrefix returns rs without the prefixes it begins with: the name in brackets, or before a colon.
func trimPrefix(rs []rune) []rune {
	for {
		start, opened := 0, false
		for start < len(rs) && !isWordRune(rs[start]) {
			opened = opened || isOpening(rs[start])
			start++
		}
		end := nameAt(rs, start)
		if end == 0 {
			return rs
		}
		closed := false
		for end < len(rs) && (isClosing(rs[end]) || rs[end] == ' ' || rs[end] == '*' || rs[end] == '_' || rs[end] == ':') {
			closed = closed || opened && isClosing(rs[end]) || rs[end] == ':'
			end++
		}
		if !closed {
			return rs
		}
		rs = rs[end:]
	}
}

func isOpening(r rune) bool {
	return r == '<' || r == '＜' || unicode.In(r, unicode.Ps, unicode.Pi)
}

func isClosing(r rune) bool {
	return r == '>' || r == '＞' || unicode.In(r, unicode.Pe, unicode.Pf)
}

func isWordRune(r rune) bool {
	r = fold(r) // a circled letter is a symbol until folded
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// fold maps a letter to the lower-case ASCII letter it looks like, and any other rune to its lower case. It knows
// full-width, circled, squared and mathematical letters, and the look-alikes of the table below.
func fold(r rune) rune {
	switch {
	case r < 0x80:
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

// lookalikes maps lower-case letters of other alphabets, small capitals and letters with marks. It is made for the first
// text that has any.
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
