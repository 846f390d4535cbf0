package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// lineKind says what a line is in Markdown. Only prose kinds hold the agent's voice; fenced and quoted lines are data.
type lineKind uint8

const (
	blankLine lineKind = iota
	paragraphLine
	itemLine    // a list item, after its marker
	headingLine // after its marker
	tableLine
	quotedLine // > …
	fencedLine // inside a code fence or an edit block
	fenceLine  // the delimiter of one
	ruleLine   // --- or ***
)

func (k lineKind) voice() bool {
	return k == paragraphLine || k == itemLine || k == headingLine || k == tableLine
}

// line is one line of a text, or of a line longer than maxLine a part that ends at white space.
type line struct {
	kind       lineKind
	start, end int // of its content, in bytes: without marker, surrounding white space and line break
}

const maxLine = 4096

// fenceKind says what a code fence holds, from its info string.
type fenceKind uint8

const (
	plainFence fenceKind = iota // no info string, or text
	shellFence
	codeFence
	diffFence
	editFence // SEARCH/REPLACE and conflict markers, fenced or not
	nFenceKinds
)

// lineReader splits a text into lines and follows its fences. Line breaks are LF, CRLF and CR.
type lineReader struct {
	text  string
	pos   int
	edit  int  // where the last line is that can close an edit block, -1 if there is none
	rest  bool // pos is inside a line that is longer than maxLine
	quote bool // the last line, or its last part, was a quoted one
	fence struct {
		open  bool
		char  byte // 0: an edit block
		width int
		kind  fenceKind
	}
}

// newLineReader returns a reader of the last maxText bytes of a text, from the start of a line on if there is one.
func newLineReader(text string) lineReader {
	from := max(0, len(text)-maxText)
	if from > 0 {
		from += 1 + strings.IndexByte(text[from:], '\n')
	}
	end := text[max(0, len(text)-maxText):]
	edit := max(strings.LastIndex(end, "\n>>>>>>>"), strings.LastIndex(end, "\r>>>>>>>"))
	if edit >= 0 {
		edit += len(text) - len(end)
	}
	return lineReader{text: text, pos: from, edit: edit}
}

// next returns the next line; ok is false at the end of the text.
func (r *lineReader) next() (l line, ok bool) {
	if r.pos >= len(r.text) {
		return line{}, false
	}
	start, middle := r.pos, r.rest
	part := r.text[start:min(len(r.text), start+maxLine)]
	end := start + len(part)
	if n := strings.IndexAny(part, "\r\n"); n >= 0 {
		end = start + n
		r.pos, r.rest = end+1, false
		if strings.HasPrefix(r.text[end:], "\r\n") {
			r.pos++
		}
	} else {
		if end < len(r.text) && !isBlank(r.text[end]) { // cut at white space, else at a rune boundary
			if i := strings.LastIndexAny(part, " \t"); i > 0 {
				end = start + i + 1
			}
			for n := 1; n < utf8.UTFMax && !utf8.RuneStart(r.text[end]); n++ {
				end--
			}
		}
		r.pos, r.rest = end, end < len(r.text)
	}
	for start < end {
		if n := plaintext.EscapeSequence(r.text[start:end]); n > 0 {
			start += n
		} else if isBlank(r.text[start]) {
			start++
		} else {
			break
		}
	}
	for end > start && isBlank(r.text[end-1]) {
		end--
	}
	r.rest = r.rest && (middle || start < end)
	l = r.classify(start, end, middle)
	r.quote = l.kind == quotedLine
	return l, true
}

func isBlank(c byte) bool { return c <= ' ' || c == 0x7f }

func isBlankRune(r rune) bool { return r < utf8.RuneSelf && isBlank(byte(r)) }

// classify tells the kind of a line. Of one that is longer than maxLine only the first part begins with a marker.
func (r *lineReader) classify(start, end int, middle bool) line {
	s := r.text[start:end]
	if strings.HasPrefix(s, "\ufeff") {
		start += len("\ufeff")
		s = r.text[start:end]
	}
	l := line{kind: paragraphLine, start: start, end: end}
	if r.fence.open {
		l.kind = fencedLine
		if !middle && r.closes(s) {
			r.fence.open = false
			l.kind = fenceLine
		} else if isEditMark(s) {
			r.fence.kind = editFence
		}
		return l
	}
	if s == "" {
		l.kind = blankLine
		return l
	}
	if middle {
		if r.quote {
			l.kind = quotedLine
		}
		return l
	}
	l.marker(s)
	for l.start < l.end && isBlank(r.text[l.start]) {
		l.start++
	}
	// Behind a list marker, too, there may be a fence or a quote.
	if s = r.text[l.start:l.end]; s == "" {
		return l
	}
	switch c := s[0]; c {
	case '`', '~':
		if n := run(s, c); n >= 3 && !(c == '`' && strings.IndexByte(s[n:], '`') >= 0) {
			r.fence.open, r.fence.char, r.fence.width, r.fence.kind = true, c, n, infoKind(s[n:])
			l.kind = fenceLine
		}
	case '<':
		switch {
		case strings.HasPrefix(s, "<<<<<<<") && r.edit > l.start: // one that is never closed is no block
			r.fence.open, r.fence.char, r.fence.kind = true, 0, editFence
			l.kind = fenceLine
		case isEditMark(s):
			l.kind = ruleLine
		case strings.HasPrefix(s, "<!--") && strings.HasSuffix(s, "-->"):
			l.kind = quotedLine
		}
	case '>':
		l.kind = quotedLine
		if isEditMark(s) {
			l.kind = ruleLine
		}
	}
	return l
}

// numberMark matches the marker of a numbered list item.
var numberMark = compiled(`^(?:[0-9]{1,9}[.)、．）]|[０-９]+[．）])`)

// marker reads what a line begins with: a list marker, a heading's hashes, a table's bar. Japanese and Chinese texts
// have ・, ● and ① before items, ■ before headings, 【 and 】 around them, each right before a word: "■ You've hit your
// limit" is no heading.
func (l *line) marker(s string) {
	c, n := utf8.DecodeRuneInString(s)
	rest := strings.TrimLeft(s[n:], " \t")
	blank := n < len(s) && isBlank(s[n])
	east := rest != "" && (rest[0] >= utf8.RuneSelf || strings.ContainsAny(rest[:1], "`*[("))
	switch {
	case c == '|':
		l.kind = tableLine
		if strings.Trim(s, "|:- ") == "" {
			l.kind = ruleLine
		}
	case c == '#':
		if n := run(s, '#'); n <= 6 && (n == len(s) || isBlank(s[n])) {
			l.kind = headingLine
			l.start += n
		}
	case strings.ContainsRune("-*_=", c) && len(s) >= 3 && strings.Trim(s, s[:n]+" ") == "":
		l.kind = ruleLine
	case strings.ContainsRune("-*+–—", c) && blank, c == '•', c == '·',
		east && (strings.ContainsRune("・●○", c) || '①' <= c && c <= '⑳'):
		l.item(s, n)
	case '0' <= c && c <= '9' || '０' <= c && c <= '９':
		// White space follows it but in scripts without spaces: "1.修复".
		mark := numberMark().FindString(s)
		next, _ := utf8.DecodeRuneInString(s[len(mark):])
		spaced := strings.HasSuffix(mark, ".") || strings.HasSuffix(mark, ")")
		if mark != "" && (!spaced || unspaced(next) || isBlankRune(next)) {
			l.item(s, len(mark))
		}
	case east && strings.ContainsRune("■◆▼", c):
		l.kind = headingLine
		l.start += n
	case east && c == '【' && strings.HasSuffix(s, "】"):
		l.kind = headingLine
	}
}

// item makes l a list item whose marker has n bytes, and takes a checkbox off it.
func (l *line) item(s string, n int) {
	l.kind = itemLine
	for n < len(s) && isBlank(s[n]) {
		n++
	}
	if b := s[n:]; len(b) >= 3 && strings.ContainsRune(" xX", rune(b[1])) && b[0] == '[' && b[2] == ']' &&
		(len(b) == 3 || isBlank(b[3])) {
		n += 3
	}
	l.start += n
}

func (r *lineReader) closes(s string) bool {
	if r.fence.char == 0 {
		return strings.HasPrefix(s, ">>>>>>>")
	}
	n := run(s, r.fence.char)
	return n >= r.fence.width && n == len(s)
}

func isEditMark(s string) bool {
	return strings.HasPrefix(s, "<<<<<<<") || strings.HasPrefix(s, ">>>>>>>")
}

// run returns how many times s begins with c.
func run(s string, c byte) int {
	return len(s) - len(strings.TrimLeft(s, string(rune(c))))
}

func infoKind(info string) fenceKind {
	word, _, _ := strings.Cut(strings.TrimSpace(info), " ")
	switch strings.ToLower(word) {
	case "", "text", "txt", "output", "log", "plaintext", "plain", "none":
		return plainFence
	case "bash", "sh", "shell", "console", "zsh", "terminal", "shell-session", "powershell", "cmd", "ps1", "fish":
		return shellFence
	case "diff", "patch":
		return diffFence
	}
	return codeFence
}

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

// continues reports whether l goes on with the sentence that block, hard-wrapped, left open. Behind a list, code at the
// margin begins a paragraph.
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
	return c == '`' && (block.kind != itemLine || r.text[l.start-1] != '\n') || c == '(' || unicode.IsLower(c)
}
