package plancriteria

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// frontMatter matches YAML front matter. A first line "---" with a blank line after it is a rule.
var frontMatter = compiled(`(?s)\A(?:\x{feff})?(?:---[ \t]*\n(?:(?:---|\.\.\.)[ \t]*(?:\n|\z)|` +
	`[ \t]*[^ \t\n].*?\n(?:---|\.\.\.)[ \t]*(?:\n|\z)))?`)

// normalize returns a copy of markdown in which each line ends in \n, and the byte order mark and the front matter
// are blank lines. It has the same length, so its offsets are offsets in markdown.
func normalize(markdown []byte) []byte {
	src := bytes.Clone(markdown)
	for i, c := range src {
		switch {
		case c != '\r':
		case i+1 < len(src) && src[i+1] == '\n':
			src[i] = ' '
		default:
			src[i] = '\n'
		}
	}
	head := frontMatter().Find(src)
	for i := range head {
		head[i] = '\n'
	}
	return src
}

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

// openers matches white space and the markers of lists and quotes at the start of a line.
var openers = compiled(`^(?:[ \t]|>|(?:[-+*]|[0-9]+[.)])(?:[ \t]|$))+`)

// lineDepth returns in how many lists and quotes a line can be at most that opens one, 0 if it opens none. Two
// columns of white space continue a list item.
func lineDepth(line []byte) int {
	markers, columns := 0, 0
	for _, c := range openers().Find(line) {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 4
		case '>', '-', '+', '*', '.', ')':
			markers++
		}
	}
	if markers == 0 {
		return 0
	}
	return markers + columns/2
}

// parseBlocks parses only the block structure of src: inline markup cannot change what is a heading or a list item.
// Its time is linear if src is not [tooDeep].
func parseBlocks(src []byte) ast.Node {
	p := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	return p.Parse(text.NewReader(src))
}

// lineEnd returns where the line of pos ends, after its line end.
func lineEnd(src []byte, pos int) int {
	if n := bytes.IndexByte(src[pos:], '\n'); n >= 0 {
		return pos + n + 1
	}
	return len(src)
}
