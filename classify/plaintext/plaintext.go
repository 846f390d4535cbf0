// Package plaintext answers one question: what does a human see of a text?
//
// Agents, plans, judges and tools hand us text that we show to people, send to models and compare. This package
// decides, for all rooms, which characters cannot be seen, how they are shown or dropped, and whether a text is a
// message of ours:
//
//   - [Visible], [VisibleLines] and [VisibleJSON] show a text to a person; each unseen character becomes an escape such
//     as \u202e.
//   - [Clean] and [Line] prepare a text for a model or for a message; unseen characters are dropped.
//   - [IsBlank] tells whether a person would see anything at all.
//   - [IsOurs] tells whether a text begins with [Prefix]. [Disarm] makes a forged prefix harmless.
//   - [Redact] masks secrets before a text is kept or shown, [MaskedLine] before it is cut.
//
// Everything here is pure and safe for concurrent use. Time is linear in the length of the text.
//
// # Limits
//
// The package judges characters, not fonts. A letter of another alphabet that looks like a Latin one is visible; only
// [Fold], and thus [IsOurs] and [Disarm], see through it. Markup is left alone: escape it for the place where it is
// shown.
//
// # Errors
//
// No function fails. Invalid UTF-8 is text like any other: [Visible] writes its bytes as escapes, [Clean] as U+FFFD.
package plaintext

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// IsInvisible reports whether a person sees nothing of r, or a terminal acts on it: control and format characters (zero
// width and bidirectional ones among them), variation selectors, fillers, tags and noncharacters. White space is not
// invisible, see [IsSpace]. The rule follows Unicode's categories and its property Default_Ignorable_Code_Point, in the
// version of Go's package unicode.
func IsInvisible(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return (r < ' ' || r == 0x7f) && !IsSpace(r)
	case IsSpace(r):
		return false
	case r&0xfffe == 0xfffe, 0xfdd0 <= r && r <= 0xfdef: // noncharacters
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
		blank)
}

// blank are characters that count as printable and show nothing, beside those that Unicode calls ignorable.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{{0x17b4, 0x17b5, 1}},                          // Khmer inherent vowels
	R32: []unicode.Range32{{0x16fe4, 0x16fe4, 1}, {0x1d159, 0x1d159, 1}}, // Khitan filler, musical null notehead
}

// IsSpace reports whether r separates words: Unicode's white space, line and paragraph separators included, and the
// blank Braille pattern.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r == '\u2800' }

// IsBlank reports whether nothing of text can be seen: white space, invisible characters, terminal escape sequences, or
// nothing at all.
func IsBlank(text string) bool { return strings.TrimLeftFunc(StripEscapes(text), isUnseen) == "" }

func isUnseen(r rune) bool { return IsSpace(r) || IsInvisible(r) }

// EscapeSequence returns the length in bytes of the terminal escape sequence that s begins with, or 0. It knows control
// sequences such as a colour ("\x1b[31m") and strings such as a title or a hyperlink ("\x1b]…\a"), as in ECMA-48. An
// unfinished sequence is none.
func EscapeSequence(s string) int {
	if len(s) < 2 || s[0] != '\x1b' {
		return 0
	}
	return len(escapeSequence().FindString(s))
}

const escapeForm = `\x1b(?:\[[0-?]{0,62}[ -/]{0,62}[@-~]|[\]P_^X][^\a\x1b]*(?:\a|\x1b\\))`

var escapeSequence, escapeSequences = compiled(`^` + escapeForm), compiled(escapeForm)

// compiled returns a function that compiles expr when a text first needs it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// StripEscapes returns s without its terminal escape sequences.
func StripEscapes(s string) string {
	if strings.IndexByte(s, '\x1b') < 0 {
		return s
	}
	return escapeSequences().ReplaceAllString(s, "")
}

// Visible returns s for one line that a person reads. Each invisible, private or unassigned character, line break and
// unusual space becomes an escape: \x1b, \u202e, \U000e0041, and \xff for a byte that is not UTF-8. A joiner or
// variation selector stays where scripts and emoji need it: right after a visible character that can take it. Printable
// characters stay, also a backslash; so the result is for the eye and cannot be read back.
func Visible(s string) string { return visible(s, false, escape) }

// VisibleLines is [Visible] for text of several lines: line feeds and tabs stay, and "\r\n" becomes "\n".
func VisibleLines(s string) string { return ReplaceHidden(s, escape) }

// ReplaceHidden is [VisibleLines] with other escapes: hidden returns what stands for a character that would be escaped.
// raw is the character, or a byte that is not UTF-8, as it stands in s.
func ReplaceHidden(s string, hidden func(raw string) string) string {
	return visible(strings.ReplaceAll(s, "\r\n", "\n"), true, hidden)
}

// VisibleJSON is [VisibleLines] for JSON. Its escapes are those of JSON, so the value stays the same.
func VisibleJSON(text string) string {
	return ReplaceHidden(text, func(raw string) string {
		escaped := ""
		r, _ := utf8.DecodeRuneInString(raw)
		for _, unit := range utf16.AppendRune(nil, r) {
			escaped += fmt.Sprintf(`\u%04x`, unit)
		}
		return escaped
	})
}

func escape(raw string) string {
	switch r, _ := utf8.DecodeRuneInString(raw); {
	case len(raw) == 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

func visible(s string, lines bool, hidden func(raw string) string) string {
	var b strings.Builder
	b.Grow(len(s))
	before := ' ' // the visible character just before; a space after an escape
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
		case r == ' ', lines && (r == '\n' || r == '\t'), isVisible(r), joins(before, r, s[n:]):
			b.WriteString(s[:n])
			before, s = r, s[n:]
			continue
		}
		b.WriteString(hidden(s[:n]))
		before, s = ' ', s[n:]
	}
	return b.String()
}

func isVisible(r rune) bool { return unicode.IsPrint(r) && !IsSpace(r) && !IsInvisible(r) }

// joins reports whether r is a joiner or a variation selector in its proper place: after a character that it changes
// and, for a joiner, before one that it joins.
func joins(before, r rune, after string) bool {
	const zwnj, zwj, textStyle, emojiStyle = '\u200c', '\u200d', '\ufe0e', '\ufe0f'
	switch r {
	case textStyle, emojiStyle:
		return before >= utf8.RuneSelf && !unicode.IsLetter(before) && isVisible(before) ||
			strings.ContainsRune("0123456789#*", before)
	case zwnj, zwj:
		next, _ := utf8.DecodeRuneInString(after)
		return (before >= utf8.RuneSelf && isVisible(before) || before == emojiStyle) &&
			next >= utf8.RuneSelf && next != utf8.RuneError && isVisible(next)
	}
	return false
}

// Clean returns s for a model to read: valid UTF-8, line ends as "\n", without terminal escape sequences and invisible
// characters. White space stays.
func Clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(StripEscapes(s), "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r', r == '\u2028', r == '\u2029':
			return '\n'
		case IsInvisible(r):
			return -1
		}
		return r
	}, s)
}

// Line returns s on one line: cleaned as by [Clean], white space folded to single spaces, none at the ends, and cut to
// max characters as by [Cut].
func Line(s string, max int) string {
	cut := ""
	if n := 16 * max; 0 < n && n < len(s) { // enough for max characters, or for more blanks than anybody misses
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s, cut = s[:n], "…"
	}
	return Cut(strings.Join(strings.FieldsFunc(Clean(s), IsSpace), " ")+cut, max)
}

// Cut shortens s to at most max characters (Unicode code points). A text that is cut ends with "…", which counts, and
// is cut between words where a word ends among its last 20 characters. Cut returns "" for a max below 1.
func Cut(s string, max int) string {
	if max < 1 {
		return ""
	}
	if len(s) <= max || utf8.RuneCountInString(s) <= max {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == max { // the place of the mark
			s = s[:i]
			break
		}
	}
	if i := strings.LastIndexFunc(s, IsSpace); i > len(s)/2 && utf8.RuneCountInString(s[i:]) <= 20 {
		s = s[:i]
	}
	return strings.TrimRightFunc(s, IsSpace) + "…"
}

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
	const longest = 4 << 10 // bytes
	more := len(namesBefore().FindString(shape([]rune(s[:min(len(s), longest)]))))
	for at := range s {
		if more--; more < 0 {
			return s[at:]
		}
	}
	return ""
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
	}
	for _, letters := range [...][2]rune{ // each from a on
		{0x249c, 0x24b5}, {0x24b6, 0x24e9}, {0x1d400, 0x1d6a3}, // parenthesised, circled, mathematical
		{0x1f110, 0x1f129}, {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}, // parenthesised, squared, negative
		{0x1f1e6, 0x1f1ff}, // regional indicators
	} {
		if letters[0] <= r && r <= letters[1] {
			return 'a' + (r-letters[0])%26
		}
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
