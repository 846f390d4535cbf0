package plancriteria

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

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
	mark := len(src) - len(bytes.TrimPrefix(src, []byte("\ufeff")))
	head := src[:mark+frontMatter(src[mark:])]
	for i := range head {
		head[i] = '\n'
	}
	return src
}

// frontMatter returns the length of the YAML front matter at the start of src, 0 if there is none. A first line "---"
// with a blank line after it is a rule, not front matter.
func frontMatter(src []byte) int {
	const spaces = " \t"
	line, rest, _ := bytes.Cut(src, []byte("\n"))
	if string(bytes.TrimRight(line, spaces)) != "---" {
		return 0
	}
	for first, found := true, true; found; first = false {
		line, rest, found = bytes.Cut(rest, []byte("\n"))
		switch string(bytes.TrimRight(line, spaces)) {
		case "":
			if first {
				return 0
			}
		case "---", "...":
			return len(src) - len(rest)
		}
	}
	return 0
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
