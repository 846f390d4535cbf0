package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// block is a line of prose, or several of which each goes on with the sentence of the one before: its end is the last
// one's.
type block struct {
	line
	size int // bytes of the lines' content: line breaks, blank lines and trailing spaces between them don't count
}

const (
	maxBlock = 2 * maxLine
	maxSpan  = 8 * maxBlock // with all that stands between the lines: the one place where white space counts
)

// quoteMarks are how many marks there are of "`", `"`, “ and ”.
type quoteMarks [4]int

func marksIn(s string) (n quoteMarks) {
	for i, mark := range [...]string{"`", `"`, "“", "”"} {
		n[i] = strings.Count(s, mark)
	}
	return n
}

// leaveOpen reports whether a quote or a code span is open that a line with the marks of next closes.
func (n quoteMarks) leaveOpen(next quoteMarks) bool {
	return n[0]%2 == 1 && next[0]%2 == 1 || n[1]%2 == 1 && next[1]%2 == 1 || n[2] > n[3] && next[3] > 0
}

// blocks calls prose for each block of the agent's voice and data for each other line, in order. Blank lines are left
// out.
func (r *lineReader) blocks(prose, data func(line)) {
	var b block // pending prose
	flush := func() {
		if b.end > b.start {
			prose(b.line)
		}
		b = block{}
	}
	for l, ok := r.next(); ok; l, ok = r.next() {
		if l.kind == blankLine || l.start >= l.end && (l.kind == paragraphLine || l.kind == fencedLine) {
			continue
		}
		if !l.kind.voice() {
			flush()
			data(l)
			continue
		}
		if b.end > 0 && r.continues(&b, l) {
			b.end = l.end
			b.size += l.end - l.start
			continue
		}
		flush()
		b = block{line: l, size: l.end - l.start}
	}
	flush()
}

// continues reports whether l goes on with the sentence that block, hard-wrapped, left open.
func (r *lineReader) continues(block *block, l line) bool {
	if l.kind != paragraphLine || block.kind == headingLine || block.kind == tableLine ||
		block.size+l.end-l.start > maxBlock || l.end-block.start > maxSpan {
		return false
	}
	if marksIn(r.text[block.start:block.end]).leaveOpen(marksIn(r.text[l.start:l.end])) {
		return true
	}
	if block.size < 40 {
		return false
	}
	if last, _ := utf8.DecodeLastRuneInString(r.text[block.start:block.end]); strings.ContainsRune(".!?:;|。！？：；", last) {
		return false
	}
	c, _ := utf8.DecodeRuneInString(r.text[l.start:])
	return c == '`' || c == '(' || unicode.IsLower(c)
}
