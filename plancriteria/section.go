package plancriteria

import (
	"html"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// names are the section's names, best first.
var names = []string{"Success Criteria", "Acceptance Criteria", "Definition of Done"}

// findSection returns the heading with the first of the names that a heading in doc has, and the heading's text.
func findSection(doc ast.Node, src []byte, names []string) (found *ast.Heading, title string, err error) {
	for _, name := range names {
		for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
			heading, ok := n.(*ast.Heading)
			if !ok {
				continue
			}
			text := headingText(heading, src)
			switch isNamed := strings.EqualFold(undecorated(text), name); {
			case isNamed && found != nil:
				return nil, "", ErrAmbiguous
			case isNamed:
				found, title = heading, text
			}
		}
		if found != nil {
			return found, title, nil
		}
	}
	return nil, "", ErrNoSection
}

// contentStart returns where the content after heading, which has text, starts.
func contentStart(heading *ast.Heading, src []byte) int {
	lines := heading.Lines()
	end := lineEnd(src, lines.At(lines.Len()-1).Stop)
	if underlined := heading.Pos() == lines.At(0).Start; underlined {
		end = lineEnd(src, end)
	}
	return end
}

// markup matches inline markup: an image, a link or an escaped character, whose words it captures, a tag, a comment and
// the marks of emphasis and code.
var markup = compiled(`!\[[^\]]*\]\([^)]*\)|\[([^\]]*)\]\([^)]*\)|\\([[:punct:]])|<[^>]*>|[*_` + "`]")

// headingText returns the text of heading without its markup, on one line. It returns "" for a heading that is so long
// that finding the markup, which may take quadratic time, is not safe.
func headingText(heading *ast.Heading, src []byte) string {
	raw := string(heading.Lines().Value(src))
	if len(raw) > 512 {
		return ""
	}
	return oneLine(html.UnescapeString(markup().ReplaceAllString(raw, "$1$2")))
}

// The parts around a heading's words: emoji, also as :name:; numbering before; a colon or attributes after.
const emoji = `[\p{So}\p{Sk}\p{M}\p{Cf}\s]|:[a-z0-9_+-]+:`

var (
	before = compiled(`^(?:` + emoji + `|[§#(]*\d[\d.]*[.):]*|[§–—-]\s|(?i:[a-z]|[ivxlc]+)[.):]+\s)+`)
	after  = compiled(`(?:` + emoji + `|[:：.。—–]|\{[^{}]*\})+$`)
)

// undecorated returns a heading's text without the parts around its words.
func undecorated(title string) string {
	return after().ReplaceAllString(before().ReplaceAllString(title, ""), "")
}

// oneLine folds white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// compiled returns a function that compiles expr when it is first called: a program without plans does not wait for it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

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
		words.Write(c.Lines().Value(src))
		if html, ok := c.(*ast.HTMLBlock); ok && html.HasClosure() {
			words.Write(html.ClosureLine.Value(src))
		}
		words.WriteByte('\n')
	}
	it := Item{Text: oneLine(withoutComments(words.String()))}
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

func withoutComments(text string) string { return comment().ReplaceAllString(text, "$1") }

// notContent matches what says nothing in a text without comments: a heading, and a checkbox.
var notContent = compiled(`(?m)^[ \t]{0,3}#{1,6}(?:[ \t].*)?$|\[[ xX]\]`)

// hasContent reports whether the text of a section has words.
func hasContent(text string) bool {
	words := notContent().ReplaceAllString(withoutComments(text), "")
	return strings.ContainsFunc(words, unicode.IsLetter)
}
