package autocontinue

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

// blankPrint is the fingerprint of every blank output.
var blankPrint = keyOf(blankKey, "")

// fingerprint folds text so that the same output at a later pause is recognised though it was printed anew:
//
//   - white space, punctuation, control and invisible characters only separate words;
//   - case is ignored;
//   - dates, times of day and durations ("12:30:05", "3.2s", "5 minutes"), hashes (7 or more hexadecimal digits, letters
//     among them), line numbers ("parser.go:12:3", "line 12") and generated IDs (UUIDs, "req_8f3kq2", 12 or more digits)
//     each become a mark that says no more than that there was one.
//
// All other numbers are kept: "3 of 10" and "4 of 10" differ. It takes linear time and constant memory.
func fingerprint(text string) key {
	if classify.IsBlank(text) {
		return blankPrint
	}
	return foldedKey(printKey, text)
}

// foldedKey is the key of text folded as for a fingerprint.
func foldedKey(kind, text string) key {
	var f folder
	f.start(kind)
	f.fold(text)
	return f.key()
}

// The marks. No word contains a control character.
const (
	markTime     = '\x01'
	markDuration = '\x02'
	markID       = '\x03'
	markLine     = '\x04'
)

// folder writes the folded words of a text into a digest, a space after each.
type folder struct {
	digest
	last byte // the mark written last, if nothing was since
}

func (f *folder) fold(text string) {
	for i := 0; i < len(text); {
		if !startsWord(text[i:]) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if isSymbol(r) {
				f.word(text[i : i+size])
			}
			i += size
			continue
		}
		rest := text[i:]
		if n := uuid(rest); n > 0 {
			f.mark(markID)
			i += n
		} else if n := timestamp(rest); n > 0 {
			f.mark(markTime)
			i += n
		} else if n := duration(rest); n > 0 {
			f.mark(markDuration)
			i += n
		} else {
			i += f.plain(text[:i], rest)
		}
	}
}

// plain writes the word that rest begins with, and what only that word makes recognisable after it. It returns the length
// of both. Before is the text before the word.
func (f *folder) plain(before, rest string) int {
	n := word(rest)
	w := rest[:n]
	if prefix, _, ok := strings.Cut(w, "_"); ok {
		if u := uuid(rest[len(prefix)+1:]); u > 0 {
			f.mark(markID)
			return len(prefix) + 1 + u
		}
	}
	if isGenerated(w) {
		f.mark(markID)
	} else {
		f.word(w)
	}
	if a := generatedAfter(w, rest[n:]); a > 0 {
		f.mark(markID)
		n += a
	} else if a := lineAfter(before, w, rest[n:]); a > 0 {
		f.mark(markLine)
		n += a
	}
	return n
}

// mark writes a mark, once for several in a row: "1m 5s" is a duration like "58s".
func (f *folder) mark(m byte) {
	if f.last != m {
		f.writeByte(m)
		f.writeByte(' ')
	}
	f.last = m
}

func (f *folder) word(w string) {
	f.last = 0
	for i := 0; i < len(w); {
		if c := w[i]; c < utf8.RuneSelf {
			f.writeByte(lower(c))
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(w[i:])
		var buf [utf8.UTFMax]byte
		n := utf8.EncodeRune(buf[:], unicode.ToLower(unicode.ToUpper(r)))
		for _, c := range buf[:n] {
			f.writeByte(c)
		}
		i += size
	}
	f.writeByte(' ')
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) && !isInvisible(r)
}

func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector)
}

// isSymbol reports whether r, which is in no word, is kept: "✅" and "❌" say different things.
func isSymbol(r rune) bool {
	return r >= utf8.RuneSelf && !isWordRune(r) && !unicode.IsSpace(r) && !unicode.IsPunct(r) && !isInvisible(r)
}

func startsWord(s string) bool {
	if c := s[0]; c < utf8.RuneSelf {
		return isAlnum(c)
	}
	r, _ := utf8.DecodeRuneInString(s)
	return isWordRune(r)
}

// word returns the length of the word at the start of s: letters and numbers, and underscores between them.
func word(s string) int {
	end := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			i++
			if isAlnum(c) {
				end = i
			} else if c != '_' {
				break
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isWordRune(r) {
			break
		}
		i += size
		end = i
	}
	return end
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }
func isAlnum(c byte) bool  { return isDigit(c) || isLetter(c) }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= lower(c) && lower(c) <= 'f' }
