package coach

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

// lookAhead is how many runes beyond the cut are read, so that a forged prefix across the cut is seen whole.
const lookAhead = 128

// room is where a text is cleaned that becomes a message, or part of one. It stays on the stack.
type room [maxMessage + lookAhead]rune

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
// It returns "" for a max below 1. Cleaning twice is cleaning once. Its cost is linear in s, its memory in max. What it
// has nothing to do to is returned as it is and shares the memory of s.
func Clean(s string, max int) string {
	if max < 1 {
		return ""
	}
	if isClean(s, max) {
		return s
	}
	var buf room
	rs := visible(buf[:0], s, max)
	disarm(rs)
	if spells(rs, s) && len(rs) <= max {
		return s
	}
	return string(cut(rs, max))
}

// finish is Clean for a finished message: a prefix it begins with is taken off instead of being disarmed. Unless that
// leaves nothing, it is put after lead.
func finish(lead, s string, max int) string {
	if s == "" {
		return ""
	}
	var buf room
	rs := trimPrefix(visible(buf[:0], s, max))
	disarm(rs)
	if rs = cut(rs, max); len(rs) == 0 {
		return ""
	}
	size := len(lead)
	for _, r := range rs {
		size += utf8.RuneLen(r)
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(lead)
	for _, r := range rs {
		b.WriteRune(r)
	}
	return b.String()
}

// isClean reports whether a glance tells that Clean changes nothing: s is short, ASCII, on one line and without brackets.
func isClean(s string, max int) bool {
	if len(s) > max {
		return false
	}
	space := true
	for i := range len(s) {
		switch c := s[i]; c {
		case ' ':
			if space {
				return false
			}
			space = true
			continue
		case '[', ']', '{', '}', '<', '>':
			return false
		default:
			if c < ' ' || c > '~' {
				return false
			}
		}
		space = false
	}
	return !space || s == ""
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

// spells reports whether rs are the runes of s, none of which stands for invalid UTF-8.
func spells(rs []rune, s string) bool {
	i := 0
	for _, r := range s {
		if i == len(rs) || rs[i] != r || r == utf8.RuneError {
			return false
		}
		i++
	}
	return i == len(rs)
}

// visible appends to rs, which is empty, the first runes of s, more than max of them if there are, without what is
// invisible and on one line.
func visible(rs []rune, s string, max int) []rune {
	space := false
	for len(s) > 0 && len(rs) < max+lookAhead {
		if n := classify.EscapeSequence(s); n > 0 {
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
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

// cut returns rs, shortened to max runes with the ellipsis it then ends with. It overwrites a rune of rs.
func cut(rs []rune, max int) []rune {
	if len(rs) <= max {
		return rs
	}
	end := max - 1
	for i := end; i > 0 && i > end-20 && i > end/2; i-- {
		if rs[i] == ' ' {
			end = i
			break
		}
	}
	for end > 0 && rs[end-1] == ' ' {
		end--
	}
	rs[end] = '…'
	return rs[:end+1]
}
