package plancriteria

import "bytes"

// The parser goes through every open list and quote on every line, a blank one included, so that its time is bounded by
// the sum of the depths of all lines.
const (
	maxDepth      = 500         // of one line
	maxTotalDepth = 4 * MaxSize // of all lines
)

// tooDeep reports whether parsing src would take more than a second or so. It never underestimates a depth, and what it
// refuses is a thousandfold of what a plan needs.
func tooDeep(src []byte) bool {
	total, open, afterBlank := 0, 0, true
	for len(src) > 0 {
		line, rest, _ := bytes.Cut(src, []byte("\n"))
		src = rest
		depth, blank := lineDepth(line)
		switch {
		case blank: // everything stays open
			open = max(open, depth)
			depth = open
		case afterBlank: // only what the line itself continues or opens stays open
			open = depth
		default: // a paragraph may go on lazily, with all that it is in
			open = max(open, depth)
		}
		afterBlank = blank
		total += depth
		if depth > maxDepth || total > maxTotalDepth {
			return true
		}
	}
	return false
}

// lineDepth returns how many lists and quotes the beginning of line can continue or open at most, and whether nothing
// follows. A list item is continued by at least two columns of white space.
func lineDepth(line []byte) (depth int, blank bool) {
	const tabWidth = 4
	columns := 0
	for i := 0; ; {
		for ; i < len(line) && (line[i] == ' ' || line[i] == '\t'); i++ {
			columns++
			if line[i] == '\t' {
				columns += tabWidth - 1
			}
		}
		n := markerLen(line[i:])
		if n == 0 {
			return depth + columns/2, i == len(line)
		}
		depth++
		i += n
	}
}

// markerLen returns the length of the list or quote marker that line starts with, 0 if there is none.
func markerLen(line []byte) int {
	if len(line) == 0 {
		return 0
	}
	n := 1
	switch line[0] {
	case '>':
		return n
	case '-', '+', '*':
	default:
		n = len(line) - len(bytes.TrimLeft(line, "0123456789"))
		if n == 0 || n == len(line) || line[n] != '.' && line[n] != ')' {
			return 0
		}
		n++
	}
	if n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}
