package coach

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

// lookAhead is how many runes beyond the cut are read, so that a forged prefix across the cut is seen whole.
const lookAhead = 128

// Clean makes text of an agent, a plan or a judge fit to be shown as data inside a line of our own:
//
//   - invalid UTF-8 becomes U+FFFD, one for each run of it;
//   - control characters, terminal escape sequences, bidirectional controls and invisible characters (zero-width characters
//     and joiners, soft hyphens, byte order marks, variation selectors, tags, fillers) are removed;
//   - white space, line and paragraph separators included, is folded to single spaces, none at the ends;
//   - brackets around "System Coach", in any case, spacing, script or kind of bracket, become parentheses, so that our
//     prefix cannot be forged;
//   - what is longer than max characters (Unicode code points) is cut, between words where one ends near, and ends with
//     "…", which counts.
//
// It returns "" for a max below 1. Cleaning twice is cleaning once. Its cost is linear in s, its memory in max.
func Clean(s string, max int) string {
	if max < 1 {
		return ""
	}
	rs := visible(s, max)
	disarm(rs)
	return cut(rs, max)
}

// finish is Clean for a finished message: a prefix it begins with is taken off instead of being disarmed.
func finish(s string, max int) string {
	rs := trimPrefix(visible(s, max))
	disarm(rs)
	return cut(rs, max)
}

// quotable is Clean for text that will stand in double quotes.
func quotable(s string, max int) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '"', '“', '”', '„', '‟', '＂':
			return '\''
		}
		return r
	}, Clean(s, max))
}

// visible returns the first runes of s, more than max of them if there are, without what is invisible and on one line.
func visible(s string, max int) []rune {
	var rs []rune
	space := false
	for len(s) > 0 && len(rs) < max+lookAhead {
		r, size := utf8.DecodeRuneInString(s)
		if n := classify.EscapeSequence(s); n > 0 {
			s = s[n:]
			continue
		}
		s = s[size:]
		switch {
		case isSpace(r):
			space = true
			continue
		case isInvisible(r), r == utf8.RuneError && !space && len(rs) > 0 && rs[len(rs)-1] == r:
			continue
		}
		if space && len(rs) > 0 {
			rs = append(rs, ' ')
		}
		space = false
		rs = append(rs, r)
	}
	return rs
}

func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r == '\u2800' // blank braille pattern
}

func isInvisible(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && !isSpace(r)
	case r&0xfffe == 0xfffe, 0xfdd0 <= r && r <= 0xfdef: // noncharacters
		return true
	}
	return !isSpace(r) && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// cut returns rs, shortened to max runes with the ellipsis it then ends with.
func cut(rs []rune, max int) string {
	if len(rs) <= max {
		return string(rs)
	}
	end := max - 1
	for i := end; i > 0 && i > end-20 && i > end/2; i-- {
		if rs[i] == ' ' {
			end = i
			break
		}
	}
	return strings.TrimRight(string(rs[:end]), " ") + "…"
}
