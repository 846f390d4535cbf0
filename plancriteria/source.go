package plancriteria

import (
	"bytes"
)

// frontMatter matches YAML front matter. A first line "---" with a blank line after it is a rule.
var frontMatter = compiled(`(?s)\A(?:\x{feff})?(?:---[ \t]*\n(?:(?:---|\.\.\.)[ \t]*(?:\n|\z)|` +
	`[ \t]*[^ \t\n].*?\n(?:---|\.\.\.)[ \t]*(?:\n|\z)))?`)

// normalize returns a copy of markdown in which each line ends in \n, and the byte order mark and the front matter
// are blank lines. It has the same length, so its offsets are offsets in markdown.
func normalize(markdown []byte) []byte {
	src := bytes.ReplaceAll(markdown, []byte("\r\n"), []byte(" \n"))
	src = bytes.ReplaceAll(src, []byte("\r"), []byte("\n"))
	copy(src, bytes.Repeat([]byte("\n"), len(frontMatter().Find(src))))
	return src
}

// The parser visits each open list and quote on each line. So the sum of the depths of all lines bounds its time.
const (
	maxDepth      = 500         // of one line
	maxTotalDepth = 4 * MaxSize // of all lines
)

// tooDeep reports whether parsing src would take more than about a second. It never underestimates a depth: it takes
// each list and quote to stay open to the end, and two columns of white space to continue a list item. It refuses only
// what is hundreds of times deeper than people write.
func tooDeep(src []byte) bool {
	depth, total := 0, 0
	for line := range bytes.Lines(src) {
		if head := openers().Find(bytes.TrimRight(line, "\n")); bytes.ContainsAny(head, ">-+*.)") {
			depth = max(depth, len(head)+bytes.Count(head, []byte("\t")))
		}
		if total += depth; depth > maxDepth || total > maxTotalDepth {
			return true
		}
	}
	return false
}

// openers matches white space and the markers of lists and quotes at the start of a line.
var openers = compiled(`^(?:[ \t]|>|(?:[-+*]|[0-9]+[.)])(?:[ \t]|$))+`)

// lineEnd returns where the line of pos ends, after its line end.
func lineEnd(src []byte, pos int) int {
	if n := bytes.IndexByte(src[pos:], '\n'); n >= 0 {
		return pos + n + 1
	}
	return len(src)
}
