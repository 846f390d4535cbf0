package llm

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWindow is how many characters of an output the judge sees at most.
const maxWindow = 2400

const maxMark = 50 // characters of the mark of a cut, which count

// window is what is shown of a text: all of it, or its head and its longer tail.
type window struct {
	head, tail string
	from, to   int // bytes of the text that are left out
	left       int // characters left out; 0 is none
}

// windowOf shows a text of up to max characters whole. Of a longer one it shows the head, less than a third of them, and the
// tail, both cut at line boundaries where one is near, at rune boundaries otherwise. Blanks at the ends of a text that is
// cut do not count.
func windowOf(text string, max int) window {
	total := utf8.RuneCountInString(text)
	if total <= max {
		return window{tail: text}
	}
	start := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	end := len(strings.TrimRightFunc(text, unicode.IsSpace))
	if start >= end || utf8.RuneCountInString(text[start:end]) <= max {
		return window{tail: strings.TrimSpace(text)}
	}
	if max -= maxMark; max < 0 {
		max = 0
	}
	from := start + runes(text[start:end], max*3/10)
	to := end - lastRunes(text[start:end], max-max*3/10)
	if i := strings.LastIndexByte(text[start:from], '\n') + 1; 2*i >= from-start {
		from = start + i
	}
	if text[to-1] != '\n' {
		if i := strings.IndexByte(text[to:end], '\n') + 1; i > 0 && 3*i <= end-to {
			to += i
		}
	}
	w := window{head: text[start:from], tail: text[to:end], from: from, to: to}
	w.left = total - utf8.RuneCountInString(w.head) - utf8.RuneCountInString(w.tail)
	return w
}

// String is the window with its cut marked.
func (w window) String() string {
	if w.left == 0 {
		return w.tail
	}
	head := w.head
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head + "[… " + strconv.Itoa(w.left) + " characters left out …]\n" + w.tail
}

// runes returns how many bytes the first n runes of s have.
func runes(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// lastRunes returns how many bytes the last n runes of s have.
func lastRunes(s string, n int) int {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return len(s) - i
}

// clean makes text fit to be shown to a judge: valid UTF-8, line ends as \n, no control characters but \n and \t, nothing
// invisible or bidirectional.
func clean(s string) string {
	if fit(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r == '\r' {
			return '\n'
		}
		if hidden(r) {
			return -1
		}
		return r
	}, s)
}

func fit(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, hidden)
}

func hidden(r rune) bool {
	if r < 0x7f {
		return r < ' ' && r != '\n' && r != '\t'
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}

// line is clean on one line, of at most max characters: what is longer ends with "…", which counts.
func line(s string, max int) string {
	if n := max * 8; len(s) > n { // enough for max characters, or for so much blank that nobody misses the rest
		s = s[:n]
	}
	return short(strings.Join(strings.Fields(clean(s)), " "), max)
}

// short cuts s to at most max characters, the "…" at its end included.
func short(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	if max < 1 {
		return ""
	}
	return strings.TrimRightFunc(s[:runes(s, max-1)], unicode.IsSpace) + "…"
}
