package skills

import (
	"iter"
	"strings"
)

// ownWords yields the byte ranges of text that are the human's own words, in order: not fenced code, quoted lines, HTML
// comments that begin a line, or inline code. Block structure is read more leniently than CommonMark does, because a
// request is typed, not typeset: fences count at any indentation, and no line continues a quote without a > of its own.
func ownWords(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		var fence string // the open fence's run, or empty
		paragraph := -1  // where the open paragraph starts, or -1
		closeParagraph := func(end int) bool {
			start := paragraph
			paragraph = -1
			return start < 0 || outsideInlineCode(text, start, end, yield)
		}
		for pos := 0; pos < len(text); {
			line, next := cutLine(text, pos)
			if fence != "" {
				if closesFence(line, fence) {
					fence = ""
				}
				pos = next
				continue
			}
			body, newBlock := cutListMarkers(line)
			run := opensFence(body)
			switch {
			case body == "", body[0] == '>', run != "":
				if !closeParagraph(pos) {
					return
				}
				fence = run
			case strings.HasPrefix(body, "<!--"):
				if !closeParagraph(pos) {
					return
				}
				// "<!-->" is a whole comment, so the end may share its dashes with the start.
				from := pos + len(line) - len(body) + len("<!")
				end := strings.Index(text[from:], "-->")
				if end < 0 {
					return
				}
				paragraph = from + end + len("-->")
				_, next = cutLine(text, paragraph)
			case newBlock || body[0] == '#':
				if !closeParagraph(pos) {
					return
				}
				paragraph = pos
			case paragraph < 0:
				paragraph = pos
			}
			pos = next
		}
		closeParagraph(len(text))
	}
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

// cutListMarkers returns line without indentation and list markers, and whether it had a marker.
func cutListMarkers(line string) (body string, found bool) {
	for {
		line = strings.TrimLeft(line, " \t")
		rest := line
		if line != "" && strings.IndexByte("-+*", line[0]) >= 0 {
			rest = line[1:]
		} else if number := strings.TrimLeft(line, "0123456789"); len(number) < len(line) && number != "" &&
			(number[0] == '.' || number[0] == ')') {
			rest = number[1:]
		}
		if rest == line || strings.TrimLeft(rest, " \t") == rest {
			return line, found
		}
		line, found = rest, true
	}
}

// opensFence returns the run of backticks or tildes that opens a code fence in body, or the empty string.
func opensFence(body string) string {
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

// closesFence reports whether line closes the fence that run opened.
func closesFence(line, run string) bool {
	line = strings.Trim(line, " \t")
	return len(line) >= len(run) && strings.Trim(line, run[:1]) == ""
}
