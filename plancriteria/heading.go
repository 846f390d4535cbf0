package plancriteria

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// names are the section's names, best first.
var names = []string{"Success Criteria", "Acceptance Criteria", "Definition of Done"}

// section is a heading that may begin a section, with its text and its name.
type section struct {
	heading     *ast.Heading
	title, name string
}

// findSection returns the section with the first of the names that a heading in doc has.
func findSection(doc ast.Node, src []byte, names []string) (section, error) {
	inline := parser.NewParser(parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 0)),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...))
	var sections []section
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if heading, ok := n.(*ast.Heading); ok {
			title := headingText(inline, heading, src)
			sections = append(sections, section{heading, title, undecorated(title)})
		}
	}
	for _, name := range names {
		is := func(s section) bool { return strings.EqualFold(s.name, name) }
		if i := slices.IndexFunc(sections, is); i >= 0 {
			if slices.ContainsFunc(sections[i+1:], is) {
				return section{}, ErrAmbiguous
			}
			return sections[i], nil
		}
	}
	return section{}, ErrNoSection
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

// headingText returns the text of heading without its markup, on one line. It returns "" for a heading that is so long
// that inline parsing, which may take quadratic time, is not safe.
func headingText(inline parser.Parser, heading *ast.Heading, src []byte) string {
	raw := definitions().ReplaceAll(heading.Lines().Value(src), nil)
	if len(raw) > 512 {
		return ""
	}
	var b strings.Builder
	_ = ast.Walk(inline.Parse(text.NewReader(raw)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			s := n.Segment.Value(raw)
			if !n.IsRaw() {
				s = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(s)))
			}
			b.Write(s)
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.Image:
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return oneLine(b.String())
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
