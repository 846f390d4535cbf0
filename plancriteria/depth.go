package plancriteria

import "bytes"

// The parser visits each open list and quote on each line. So the sum of the depths of all lines bounds its time.
const (
	maxDepth      = 500         // of one line
	maxTotalDepth = 4 * MaxSize // of all lines
)

// tooDeep reports whether parsing src would take more than about a second. It never underestimates a depth: it takes
// each list and quote to stay open to the end. It refuses only what is a thousand times deeper than people write.
func tooDeep(src []byte) bool {
	depth, total := 0, 0
	for line := range bytes.Lines(src) {
		depth = max(depth, lineDepth(bytes.TrimRight(line, "\n")))
		if total += depth; depth > maxDepth || total > maxTotalDepth {
			return true
		}
	}
	return false
}

// lineDepth returns in how many lists and quotes a line can be at most that opens one, 0 if it opens none. Two
// columns of white space continue a list item.
func lineDepth(line []byte) int {
	const tabWidth = 4
	markers, columns := 0, 0
	for i := 0; i < len(line); {
		switch n := markerLen(line[i:]); {
		case line[i] == ' ':
			columns++
			i++
		case line[i] == '\t':
			columns += tabWidth
			i++
		case n > 0:
			markers++
			i += n
		default:
			i = len(line)
		}
	}
	if markers == 0 {
		return 0
	}
	return markers + columns/2
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
