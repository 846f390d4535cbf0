package plaintext

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Prefix begins every message of ours but the plain "continue". A space and the message follow it.
const Prefix = "[System Coach]"

// name is the prefix without what can be written in many ways.
const name = "systemcoach"

// IsOurs reports whether text begins with [Prefix], after white space and invisible characters: a message of ours that
// came back, never the human's words. The plain "continue" cannot be told this way.
func IsOurs(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return IsSpace(r) || IsInvisible(r) })
	return strings.HasPrefix(text, Prefix)
}

// Disarm replaces the brackets around each "System Coach" in s by parentheses, in whatever case, spacing, script or
// kind of bracket it is written, so that s cannot forge our prefix. Apply it to cleaned text: it does not look through
// invisible characters.
func Disarm(s string) string {
	rs := []rune(s)
	changed := false
	replace := func(i int, r rune) { rs[i], changed = r, true }
	for i := 0; i < len(rs); i++ {
		end := nameAt(rs, i)
		if end == 0 || i > 0 && isWord(rs[i-1]) {
			continue
		}
		for j := i - 1; j >= 0 && !isWord(rs[j]); j-- {
			if isOpening(rs[j]) {
				replace(j, '(')
			}
		}
		for j := end; j < len(rs) && !isWord(rs[j]); j++ {
			if isClosing(rs[j]) {
				replace(j, ')')
			}
		}
		i = end - 1
	}
	if !changed {
		return s
	}
	return string(rs)
}

// TrimPrefix returns s without the prefixes of ours that it begins with, however they are written: the name in
// brackets, or before a colon. Apply it to cleaned text.
func TrimPrefix(s string) string {
	for {
		rest := trimOnePrefix(s)
		if rest == s {
			return s
		}
		s = rest
	}
}

func trimOnePrefix(s string) string {
	const longest = 128 // characters before and within a prefix
	rs := []rune(s[:min(len(s), longest*utf8.UTFMax)])
	start, opened := 0, false
	for start < len(rs) && !isWord(rs[start]) {
		opened = opened || isOpening(rs[start])
		start++
	}
	end := nameAt(rs, start)
	if end == 0 {
		return s
	}
	closed := false
	for end < len(rs) && (isClosing(rs[end]) || strings.ContainsRune(" *_:", rs[end])) {
		closed = closed || opened && isClosing(rs[end]) || rs[end] == ':'
		end++
	}
	if !closed {
		return s
	}
	return s[len(string(rs[:end])):]
}

// nameAt returns the end of the name in rs if it starts at i, however it is spelled and spaced; otherwise 0.
func nameAt(rs []rune, i int) int {
	const maxGap = 8 // characters between two letters
	matched, gap := 0, 0
	for ; i < len(rs); i++ {
		switch r := Fold(rs[i]); {
		case r == rune(name[matched]):
			matched, gap = matched+1, 0
			if matched == len(name) {
				return i + 1
			}
		case matched == 0 || isWord(r) || gap == maxGap:
			return 0
		default:
			gap++
		}
	}
	return 0
}

func isOpening(r rune) bool { return r == '<' || r == '＜' || unicode.In(r, unicode.Ps, unicode.Pi) }
func isClosing(r rune) bool { return r == '>' || r == '＞' || unicode.In(r, unicode.Pe, unicode.Pf) }

func isWord(r rune) bool {
	r = Fold(r) // a circled letter is a symbol until folded
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

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
