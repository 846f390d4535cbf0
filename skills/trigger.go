package skills

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mentions reports whether word stands in the human's own words of text, as a word of its own.
func mentions(text, word string) bool {
	if word == "" || !occurs(text, span{0, len(text)}, word) {
		return false // most texts: their structure need not be read
	}
	for _, part := range ownWords(text) {
		if occurs(text, part, word) {
			return true
		}
	}
	return false
}

// span is a byte range of a text.
type span struct{ start, end int }

// occurs reports whether word stands in a part of text as a word of its own.
func occurs(text string, part span, word string) bool {
	for i := part.start; i+len(word) <= part.end; i++ {
		if strings.EqualFold(text[i:i+len(word)], word) && begins(text[:i]) && ends(text[i+len(word):]) {
			return true
		}
	}
	return false
}

// maxPunctuation is how many marks may stand between a word and the white space around it. It keeps the search linear
// for a trigger that is itself made of punctuation.
const maxPunctuation = 16

// begins reports whether a word can begin after before.
func begins(before string) bool {
	for range maxPunctuation {
		r, n := utf8.DecodeLastRuneInString(before)
		if n == 0 || separates(r) {
			return true
		}
		if !strings.ContainsRune(`"'*_`, r) && !unicode.In(r, unicode.Ps, unicode.Pi, unicode.Pf) {
			return false
		}
		before = before[:len(before)-n]
	}
	return false
}

// ends reports whether a word can end before after.
func ends(after string) bool {
	for range maxPunctuation {
		r, n := utf8.DecodeRuneInString(after)
		if n == 0 || separates(r) || r == ',' || r == ';' {
			return true
		}
		if !strings.ContainsRune(`"'*_.:!?`, r) && !unicode.In(r, unicode.Pe, unicode.Pi, unicode.Pf) {
			return false
		}
		after = after[n:]
	}
	return false
}

// separates reports whether r parts words without white space beside it. A full stop, comma or dash outside ASCII
// does; a hyphen or slash does not.
func separates(r rune) bool {
	const zeroWidthSpace, byteOrderMark = '\u200b', '\ufeff'
	return unicode.IsSpace(r) || r == zeroWidthSpace || r == byteOrderMark ||
		r > unicode.MaxASCII && unicode.In(r, unicode.Pd, unicode.Po)
}

// ownWords returns the parts of text that are the human's own words, in order: not fenced code, quoted lines, HTML
// comments that begin a line, or inline code. It is more lenient than CommonMark, because people type a request: a
// fence counts at any indentation, and each line of a quote needs its own >.
func ownWords(text string) []span {
	var parts []span
	fence := ""     // the run that opened the fence, or empty
	paragraph := -1 // where the open paragraph starts, or -1
	closeParagraph := func(end int) {
		if paragraph >= 0 {
			parts = appendOutsideCode(parts, text, span{paragraph, end})
		}
		paragraph = -1
	}
	for pos := 0; pos < len(text); {
		line, next := cutLine(text, pos)
		body, isItem := trimListMarkers(line)
		run := fenceRun(body)
		switch {
		case fence != "":
			if trimmed := strings.Trim(line, " \t"); len(trimmed) >= len(fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
		case body == "", body[0] == '>', run != "":
			closeParagraph(pos)
			fence = run
		case strings.HasPrefix(body, "<!--"):
			closeParagraph(pos)
			from := pos + len(line) - len(body) + len("<!") // "<!-->" is a whole comment
			end := strings.Index(text[from:], "-->")
			if end < 0 {
				return parts
			}
			paragraph = from + end + len("-->")
			_, next = cutLine(text, paragraph)
		case isItem, body[0] == '#':
			closeParagraph(pos)
			paragraph = pos
		case paragraph < 0:
			paragraph = pos
		}
		pos = next
	}
	closeParagraph(len(text))
	return parts
}

// cutLine returns the line of text at pos, without its end, and where the next one starts.
func cutLine(text string, pos int) (line string, next int) {
	n := strings.IndexAny(text[pos:], "\r\n")
	if n < 0 {
		return text[pos:], len(text)
	}
	next = pos + n + 1
	if strings.HasPrefix(text[pos+n:], "\r\n") {
		next++
	}
	return text[pos : pos+n], next
}

// trimListMarkers returns line without indentation and list markers, and whether it had a marker.
func trimListMarkers(line string) (body string, found bool) {
	for {
		line = strings.TrimLeft(line, " \t")
		marker, rest := "", strings.TrimLeft(line, "0123456789")
		if len(rest) < len(line) && rest != "" && strings.ContainsAny(rest[:1], ".)") {
			marker, rest = line[:len(line)-len(rest)+1], rest[1:]
		} else if line != "" && strings.ContainsAny(line[:1], "-+*") {
			marker, rest = line[:1], line[1:]
		}
		if marker == "" || strings.TrimLeft(rest, " \t") == rest {
			return line, found
		}
		line, found = rest, true
	}
}

// fenceRun returns the run of backticks or tildes that opens a code fence in body, or the empty string.
func fenceRun(body string) string {
	if body == "" || body[0] != '`' && body[0] != '~' {
		return ""
	}
	info := strings.TrimLeft(body, body[:1])
	run := body[:len(body)-len(info)]
	if len(run) < 3 || run[0] == '`' && strings.Contains(info, "`") {
		return ""
	}
	return run
}

// appendOutsideCode appends the parts of a paragraph that are not code spans. As in CommonMark the next run of
// backticks of the same length closes a run. A run that nothing closes is text, and so is one after a backslash.
func appendOutsideCode(parts []span, text string, p span) []span {
	unclosed := make(map[int]bool) // lengths that no later run has; so each is searched in vain once
	start := p.start
	for i := start; ; {
		at, n := nextBackticks(text[:p.end], i)
		if n == 0 {
			return append(parts, span{start, p.end})
		}
		before := text[start:at]
		if (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1 {
			i = at + 1
			continue
		}
		i = at + n
		end, m := i, 0
		for !unclosed[n] && m != n {
			if end, m = nextBackticks(text[:p.end], end+m); m == 0 {
				unclosed[n] = true
			}
		}
		if m == n {
			parts = append(parts, span{start, at})
			start, i = end+n, end+n
		}
	}
}

// nextBackticks returns where the first run of backticks in text[from:] starts, and its length, 0 if there is none.
func nextBackticks(text string, from int) (at, n int) {
	at = strings.IndexByte(text[from:], '`')
	if at < 0 {
		return len(text), 0
	}
	at += from
	return at, len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
}
