package plancriteria

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// appendItems appends the items of list, and of the lists in them, that have words.
func appendItems(items []Item, list *ast.List, src []byte, depth int) []Item {
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		if it, ok := newItem(n, src); ok {
			it.Depth = depth
			items = append(items, it)
		}
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if nested, ok := c.(*ast.List); ok {
				items = appendItems(items, nested, src, depth+1)
			}
		}
	}
	return items
}

// newItem returns the item of the list item n, and whether it has words.
func newItem(n ast.Node, src []byte) (Item, bool) {
	var words strings.Builder
	for c := n.FirstChild(); c != nil && isText(c); c = c.NextSibling() {
		words.WriteString(blockText(c, src))
		words.WriteByte('\n')
	}
	it := Item{Text: oneLine(words.String())}
	if mark := checkbox().FindString(it.Text); mark != "" {
		it.Checkbox = true
		it.Checked = mark[1] != ' '
		it.Text = it.Text[len(mark):]
	}
	return it, it.Text != ""
}

// checkbox matches the task-list checkbox in front of an item's text.
var checkbox = compiled(`^\[[ xX]\](?: |$)`)

// isText reports whether the block n can be a list item's own text.
func isText(n ast.Node) bool {
	switch n.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *ast.HTMLBlock:
		return true
	}
	return false
}

// comment matches an HTML comment, also one that nothing closes, or a code span, which it captures.
var comment = compiled("(?s)(`[^`]*`)|<!--(?:-?>|.*?(?:-->|$))")

// blockText returns the source of the block n without its comments. Those in code spans stay.
func blockText(n ast.Node, src []byte) string {
	var b strings.Builder
	b.Write(n.Lines().Value(src))
	if html, ok := n.(*ast.HTMLBlock); ok && html.HasClosure() {
		b.Write(html.ClosureLine.Value(src))
	}
	return comment().ReplaceAllString(b.String(), "$1")
}

// hasContent reports whether the block n says something.
func hasContent(n ast.Node, src []byte) bool {
	switch n.(type) {
	case *ast.Heading:
		return false
	case *ast.List, *ast.ListItem, *ast.Blockquote:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if hasContent(c, src) {
				return true
			}
		}
		return false
	}
	words := oneLine(blockText(n, src))
	return words != checkbox().FindString(words)
}
