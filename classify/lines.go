package classify

import (
	"strings"
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
	scan  bool              // the two fields below are set
	edit  int               // where the last line is that can close an edit block, -1 if there is none
	note  int               // where the last --> is
	inset bool              // inside an HTML comment
	skip  func(pos int) int // when not nil: returns where to go on
	done  func() bool       // when not nil: reports whether there is no time to look ahead
	rest  bool              // pos is inside a line that is longer than maxLine
	quote bool              // which is a quoted one
	fence struct {
		open  bool
		char  byte // 0: an edit block
		width int
		kind  fenceKind
	}
}

// next returns the next line; ok is false at the end of the text.
func (r *lineReader) next() (l line, ok bool) {
	if r.skip != nil {
		r.pos = r.skip(r.pos)
	}
	if r.pos >= len(r.text) {
		return line{}, false
	}
	start, middle := r.pos, r.rest
	rest := r.text[start:]
	if len(rest) > maxLine {
		rest = rest[:maxLine]
	}
	long := false
	end := strings.IndexByte(rest, '\n')
	if end < 0 {
		end = strings.IndexByte(rest, '\r')
	} else if cr := strings.IndexByte(rest[:end], '\r'); cr >= 0 {
		end = cr
	}
	switch {
	case end >= 0:
		r.pos = start + end + 1
		if r.text[start+end] == '\r' && r.pos < len(r.text) && r.text[r.pos] == '\n' {
			r.pos++
		}
		end += start
	case start+len(rest) == len(r.text):
		end = len(r.text)
		r.pos = end
	default:
		end = start + len(rest)
		if !isBlank(r.text[end]) {
			end = start + cutAt(rest)
		}
		r.pos = end
		long = true
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
	r.rest = long && (middle || start < end)
	if middle {
		return r.middle(start, end), true
	}
	l = r.classify(start, end)
	r.quote = l.kind == quotedLine
	return l, true
}

// middle returns a part of a line that is not its beginning: nothing in it is a marker.
func (r *lineReader) middle(start, end int) line {
	l := line{kind: paragraphLine, start: start, end: end}
	switch {
	case start == end:
		l.kind = blankLine
	case r.fence.open:
		l.kind = fencedLine
	case r.quote:
		l.kind = quotedLine
		r.inset = r.inset && !strings.Contains(r.text[start:end], "-->")
	}
	return l
}

// cutAt returns where to cut a line that is too long: after its last white space, else at a rune boundary.
func cutAt(s string) int {
	if i := strings.LastIndexAny(s, " \t"); i > 0 {
		return i + 1
	}
	i := len(s)
	for i > len(s)-4 && i > 1 && s[i-1]&0xC0 == 0x80 {
		i--
	}
	if i > 1 && s[i-1] >= 0xC0 {
		i--
	}
	return i
}

func isBlank(c byte) bool { return c <= ' ' || c == 0x7f }

func (r *lineReader) classify(start, end int) line {
	s := r.text[start:end]
	if strings.HasPrefix(s, "\ufeff") {
		start += len("\ufeff")
		s = r.text[start:end]
	}
	l := line{kind: paragraphLine, start: start, end: end}
	if r.fence.open {
		l.kind = fencedLine
		if r.closes(s) {
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
	if r.inset {
		l.kind = quotedLine
		r.inset = !strings.Contains(s, "-->")
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
		r.lookAhead(l.start)
		switch {
		case strings.HasPrefix(s, "<<<<<<<") && r.edit > l.start:
			r.fence.open, r.fence.char, r.fence.kind = true, 0, editFence
			l.kind = fenceLine
		case isEditMark(s):
			l.kind = ruleLine
		case strings.HasPrefix(s, "<!--") && strings.HasSuffix(s, "-->"):
			l.kind = quotedLine
		case strings.HasPrefix(s, "<!--") && !strings.Contains(s, "-->") && r.note > l.start:
			l.kind = quotedLine
			r.inset = true
		}
	case '>':
		l.kind = quotedLine
		if isEditMark(s) {
			l.kind = ruleLine
		}
	}
	return l
}

// lookAhead finds, once, what an edit block or a comment that opens at start must have ahead of it. One that is never
// closed is no block: it hides nothing.
func (r *lineReader) lookAhead(start int) {
	if r.scan {
		return
	}
	r.scan = true
	r.edit = r.last(start, ">>>>>>>", func(at int) bool {
		return at > 0 && (r.text[at-1] == '\n' || r.text[at-1] == '\r')
	})
	r.note = r.last(start, "-->", func(int) bool { return true })
}

// last returns where mark stands last behind start, at a place that fits, or -1. It gives up when there is no time.
func (r *lineReader) last(start int, mark string, fits func(at int) bool) int {
	for end := len(r.text); end > start; {
		from := max(start, end-someText)
		part := r.text[from:min(len(r.text), end+len(mark)-1)]
		for i := strings.LastIndex(part, mark); i >= 0; i = strings.LastIndex(part[:i+len(mark)-1], mark) {
			if fits(from + i) {
				return from + i
			}
		}
		if end = from; r.done != nil && r.done() {
			return -1
		}
	}
	return -1
}

// marker reads what a line begins with: a list marker, a heading's hashes, a table's bar.
func (l *line) marker(s string) {
	switch c := s[0]; {
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
	case c == '-' || c == '*' || c == '_' || c == '=':
		if len(s) >= 3 && strings.Trim(s, string(c)+" ") == "" {
			l.kind = ruleLine
			return
		}
		if (c == '-' || c == '*') && len(s) > 1 && isBlank(s[1]) {
			l.item(s, 1)
		}
	case c == '+' && len(s) > 1 && isBlank(s[1]):
		l.item(s, 1)
	case c >= '0' && c <= '9':
		n := 1
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if w := numberMark(s[n:]); w > 0 {
			l.item(s, n+w)
		}
	case strings.HasPrefix(s, "•") || strings.HasPrefix(s, "·"):
		_, n := utf8.DecodeRuneInString(s)
		l.item(s, n)
	case strings.HasPrefix(s, "–") || strings.HasPrefix(s, "—"):
		if len(s) > 3 && isBlank(s[3]) {
			l.item(s, 3)
		}
	case c >= 0xE2:
		l.eastMarker(s)
	}
}

// eastMarker reads the markers that Japanese and Chinese texts have: ・ and ● before items, ① and １． before numbered
// ones, ■ before headings, 【 and 】 around them.
func (l *line) eastMarker(s string) {
	r, n := utf8.DecodeRuneInString(s)
	rest := strings.TrimLeft(s[n:], " \t")
	// "■ You've hit your limit" is no heading
	if rest == "" || rest[0] < utf8.RuneSelf && !strings.ContainsAny(rest[:1], "`*[(") {
		return
	}
	switch {
	case r == '・' || r == '●' || r == '○':
		l.item(s, n)
	case '①' <= r && r <= '⑳':
		l.item(s, n)
	case '０' <= r && r <= '９':
		for n < len(s) && '０' <= r && r <= '９' {
			r, _ = utf8.DecodeRuneInString(s[n:])
			n += utf8.RuneLen(r)
		}
		if r == '．' || r == '）' {
			l.item(s, n)
		}
	case r == '■' || r == '◆' || r == '▼':
		l.kind = headingLine
		l.start += n
	case r == '【' && strings.HasSuffix(s, "】"):
		l.kind = headingLine
	}
}

// numberMark returns the length of what makes the number before s a list marker, or 0. White space follows it but in
// scripts without spaces: "1.修复".
func numberMark(s string) int {
	if strings.HasPrefix(s, "、") || strings.HasPrefix(s, "．") || strings.HasPrefix(s, "）") {
		return len("、")
	}
	if len(s) < 2 || s[0] != '.' && s[0] != ')' {
		return 0
	}
	if r, _ := utf8.DecodeRuneInString(s[1:]); isBlank(s[1]) || unspaced(r) {
		return 1
	}
	return 0
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
