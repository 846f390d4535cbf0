// Package plancriteria answers one question: how does a Markdown plan define success? It returns the plan's section
// "Success Criteria", verbatim and as a list of criteria.
//
// Call [ExtractFile] for a plan in a file tree, or [Extract] for bytes. Open the tree with [os.OpenRoot]: no name and
// no symbolic link leaves its FS, while [os.DirFS] follows such links.
//
//	root, err := os.OpenRoot(repo)
//	criteria, err := plancriteria.ExtractFile(root.FS(), "docs/plans/login.md")
//
// # Which section
//
// The section begins with the heading "Success Criteria", in any case and at any level, also underlined or with
// closing #s. These parts of a heading do not count: markup, attributes ({#id}), extra white space, a numbering
// before the words ("3.", "2.1)", "IV.", "§ 3:"), emoji around them, and a colon at the end. A heading with any other
// word is another section.
//
// Without such a heading, "Acceptance Criteria" counts; without that, "Definition of Done". Headings in fences, HTML
// comments, block quotes and list items do not count. The section ends at the next heading of the same or a higher
// level.
//
// # Checks
//
// A criterion may say how it can be checked: [Item.Checks]. A plan may also list the stages of the work: [Stages].
//
// # Limits
//
// A plan is CommonMark, in UTF-8 with or without a byte order mark, with line ends of any kind, up to [MaxSize]. The
// package skips YAML front matter: a first line "---", not followed by a blank line, to a line "---" or "...". A bold
// line that looks like a heading is not a heading. A checkbox without words, as in an empty template, is not a
// criterion.
//
// # Errors
//
// There is a result only if it is certain. Otherwise one of the errors below says why, and the result is zero.
package plancriteria

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// MaxSize is the size in bytes of the largest plan that the package reads: 1 MiB.
const MaxSize = 1 << 20

// The reasons why there is no result. [ExtractFile] also returns errors of the file system.
var (
	ErrNoSection = errors.New(`no heading "Success Criteria", "Acceptance Criteria" or "Definition of Done"`)
	ErrEmpty     = errors.New("the success criteria section is empty") // or only comments, headings, bare checkboxes
	ErrAmbiguous = errors.New("more than one success criteria section")
	ErrUnusable  = errors.New("not a plan") // too large, not UTF-8, or lists or quotes nested by the hundreds
)

// Criteria is the success-criteria section of a plan.
type Criteria struct {
	Heading string // the heading's text as written, without its markup
	Text    string // the section's content, verbatim
	Items   []Item // its list items in document order, nested ones after their parent; empty if it is all prose
}

// Item is one criterion: an item of a bullet or numbered list of the section, outside quotes and code.
type Item struct {
	Text     string // without marker and checkbox, on one line: its paragraphs before any nested block, markup as written
	Checkbox bool   // it has a task-list checkbox: [ ], [x] or [X]
	Checked  bool   // the checkbox is ticked
	Depth    int    // nesting, 0 for the outermost list
}

// Leaves returns the items that are criteria themselves, in order. An item without a checkbox that has items with
// checkboxes under it is a heading.
func (c Criteria) Leaves() []Item {
	var leaves []Item
	for i, it := range c.Items {
		isHeading := false
		for _, below := range c.Items[i+1:] {
			if it.Checkbox || isHeading || below.Depth <= it.Depth {
				break
			}
			isHeading = below.Checkbox
		}
		if !isHeading {
			leaves = append(leaves, it)
		}
	}
	return leaves
}

// Open returns the leaves that are not ticked, in order.
func (c Criteria) Open() []Item {
	return slices.DeleteFunc(c.Leaves(), func(it Item) bool { return it.Checked })
}

// Extract returns the success criteria of a plan. It does not change or keep markdown, and it is safe for concurrent
// use.
//
// The first of these errors that applies is returned: [ErrUnusable], [ErrNoSection], [ErrAmbiguous], [ErrEmpty].
func Extract(markdown []byte) (Criteria, error) {
	c, err := extract(markdown, names)
	if err != nil {
		return Criteria{}, fmt.Errorf("plancriteria: %w", err)
	}
	return c, nil
}

// ExtractFile returns the success criteria of the plan name in fsys.
//
// A name may have the platform's separators, a leading "./" and "..". A name that leaves the tree, also an absolute
// one, is [fs.ErrInvalid]. So is anything but a regular file, which is not opened. Other errors are those of the file
// system and those of [Extract].
func ExtractFile(fsys fs.FS, name string) (Criteria, error) {
	markdown, err := readFile(fsys, name)
	if err != nil {
		return Criteria{}, fmt.Errorf("plancriteria: %w", err)
	}
	c, err := extract(markdown, names)
	if err != nil {
		return Criteria{}, fmt.Errorf("plancriteria: %q: %w", name, err)
	}
	return c, nil
}

func readFile(fsys fs.FS, name string) (_ []byte, err error) {
	defer func() { // a nil pointer in the interface, for example
		if p := recover(); p != nil {
			err = fmt.Errorf("the file system %T panics: %v: %w", fsys, p, fs.ErrInvalid)
		}
	}()
	clean := path.Clean(filepath.ToSlash(name))
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return nil, fmt.Errorf("%q leaves the file tree: %w", name, fs.ErrInvalid)
	}
	// Opening a pipe can block forever, so stat it first.
	info, err := fs.Stat(fsys, clean)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file: %w", name, fs.ErrInvalid)
	}
	f, err := fsys.Open(clean)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}

// Stages returns the items of a plan's section "Stages" in order, without code spans: the triggers or phases of skills.
// A plan without that section has none. The errors are those of [Extract].
func Stages(markdown []byte) ([]string, error) {
	c, err := extract(markdown, []string{"Stages"})
	if err != nil && !errors.Is(err, ErrNoSection) {
		return nil, fmt.Errorf("plancriteria: stages: %w", err)
	}
	var stages []string
	for _, it := range c.Items {
		stages = append(stages, strings.ReplaceAll(it.Text, "`", ""))
	}
	return stages, nil
}

func extract(markdown []byte, names []string) (Criteria, error) {
	if len(markdown) > MaxSize {
		return Criteria{}, fmt.Errorf("%w: larger than 1 MiB", ErrUnusable)
	}
	if !utf8.Valid(markdown) {
		return Criteria{}, fmt.Errorf("%w: not UTF-8", ErrUnusable)
	}
	src := normalize(markdown)
	if tooDeep(src) {
		return Criteria{}, fmt.Errorf("%w: lists or quotes nested too deeply", ErrUnusable)
	}
	// Inline markup cannot change what is a heading or a list item. Parsing takes linear time if src is not too deep.
	blocks := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	heading, title, err := findSection(blocks.Parse(text.NewReader(src)), src, names)
	if err != nil {
		return Criteria{}, err
	}
	c, end := Criteria{Heading: title}, len(src)
	for n := heading.NextSibling(); n != nil; n = n.NextSibling() {
		if next, ok := n.(*ast.Heading); ok && next.Level <= heading.Level {
			end = bytes.LastIndexByte(src[:next.Pos()], '\n') + 1
			break
		}
		if list, ok := n.(*ast.List); ok {
			c.Items = appendItems(c.Items, list, src, 0)
		}
	}
	start := contentStart(heading, src)
	if len(c.Items) == 0 && !hasContent(string(src[start:end])) {
		return Criteria{}, ErrEmpty
	}
	c.Text = string(markdown[start:end])
	return c, nil
}

// normalize returns a copy of markdown in which each line ends in \n, and the byte order mark and the front matter
// are blank lines. It has the same length, so its offsets are offsets in markdown.
func normalize(markdown []byte) []byte {
	src := bytes.ReplaceAll(markdown, []byte("\r\n"), []byte(" \n"))
	src = bytes.ReplaceAll(src, []byte("\r"), []byte("\n"))
	copy(src, bytes.Repeat([]byte("\n"), len(pattern("front matter").Find(src))))
	return src
}

// The parser visits each open list and quote on each line. So the depth of the deepest line, for all lines, bounds its
// time.
const (
	maxDepth      = 500         // of one line
	maxTotalDepth = 4 * MaxSize // of all lines
)

// tooDeep reports whether parsing src would take more than about a second. It never underestimates a depth: it takes
// each list and quote to stay open, and a column of white space to continue a list item. It refuses only what is
// hundreds of times deeper than people write.
func tooDeep(src []byte) bool {
	depth := 0
	for _, head := range pattern("openers").FindAll(src, -1) {
		if bytes.ContainsAny(head, ">-+*.)") {
			depth = max(depth, len(head)+bytes.Count(head, []byte("\t")))
		}
	}
	return depth > maxDepth || depth*bytes.Count(src, []byte("\n")) > maxTotalDepth
}

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
	_, rest, _ := bytes.Cut(src[lines.At(lines.Len()-1).Stop:], []byte("\n"))
	if underlined := heading.Pos() == lines.At(0).Start; underlined {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	return len(src) - len(rest)
}

// headingText returns the text of heading without its markup, on one line. It returns "" for a heading that is so long
// that finding the markup, which may take quadratic time, is not safe.
func headingText(heading *ast.Heading, src []byte) string {
	raw := string(heading.Lines().Value(src))
	if len(raw) > 512 {
		return ""
	}
	return oneLine(html.UnescapeString(pattern("markup").ReplaceAllString(raw, "$1$2")))
}

// undecorated returns a heading's text without the parts around its words.
func undecorated(title string) string {
	return pattern("after").ReplaceAllString(pattern("before").ReplaceAllString(title, ""), "")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

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
	for c := n.FirstChild(); c != nil && slices.Contains(textKinds, c.Kind()); c = c.NextSibling() {
		words.Write(c.Lines().Value(src))
		if html, ok := c.(*ast.HTMLBlock); ok && html.HasClosure() {
			words.Write(html.ClosureLine.Value(src))
		}
		words.WriteByte('\n')
	}
	it := Item{Text: oneLine(withoutComments(words.String()))}
	if mark := pattern("checkbox").FindString(it.Text); mark != "" {
		it.Checkbox = true
		it.Checked = mark[1] != ' '
		it.Text = it.Text[len(mark):]
	}
	return it, it.Text != ""
}

// textKinds are the blocks that can be a list item's own text.
var textKinds = []ast.NodeKind{ast.KindParagraph, ast.KindTextBlock, ast.KindHeading, ast.KindHTMLBlock}

func withoutComments(text string) string { return pattern("comment").ReplaceAllString(text, "$1") }

func hasContent(text string) bool {
	words := pattern("not content").ReplaceAllString(withoutComments(text), "")
	return strings.ContainsFunc(words, unicode.IsLetter)
}

// Check is one way to see whether a criterion holds: a command that must succeed, or a file that must be there. One of
// Command and File is empty.
type Check struct {
	Command string   `json:"command,omitempty"` // a command line, for no shell
	File    string   `json:"file,omitempty"`    // a path in the project, in slashes
	Words   []string `json:"words,omitempty"`   // what the file must contain
}

// String returns the check in words: "`docs/usage.md` contains `--json`".
func (c Check) String() string {
	switch {
	case c.Command != "":
		return "`" + c.Command + "` succeeds"
	case len(c.Words) > 0:
		return "`" + c.File + "` contains `" + strings.Join(c.Words, "`, `") + "`"
	}
	return "`" + c.File + "` exists"
}

// Checks returns what the text of a criterion says about checking it. All of them must hold. It is empty if the text
// does not say it in one of these forms, where the code spans hold a command, a path and words:
//
//	tests pass: `go test ./...`              `go test ./...` passes       run `make check`
//	`docs/usage.md` exists                   new file: `docs/usage.md`    create `docs/usage.md`
//	`docs/usage.md` mentions `--json`        `--json` is documented in `docs/usage.md`
//
// The forms are English, but words before a colon may be in any language. Other words in the text, such as a denial,
// make it another form. A single word before which stands a colon is a command only if the text speaks of a check. A
// path must be relative and stay below its folder. Whether a box is ticked makes no difference.
func (it Item) Checks() []Check {
	var spans []string
	form := pattern("code span").ReplaceAllStringFunc(it.Text, func(span string) string {
		spans = append(spans, strings.TrimSpace(strings.Trim(span, "`")))
		return "#"
	})
	isClear := !strings.Contains(form, "`") && strings.Count(form, "#") == len(spans)
	if len(spans) == 0 || slices.Contains(spans, "") || !isClear {
		return nil
	}
	text := strings.TrimRight(oneLine(strings.ToLower(form)), ".;!, ")
	last := len(spans) - 1
	is := func(form string) bool { return pattern(form).MatchString(text) }
	switch {
	case is("contains"):
		return fileCheck(spans[0], spans[1:])
	case is("contained in"):
		return fileCheck(spans[last], spans[:last])
	case last == 0 && (is("exists") || is("colon") && is("speaks of file") && isPath(spans[0])):
		return fileCheck(spans[0], nil)
	case is("succeeds"), is("colon"):
		var checks []Check
		for _, span := range spans {
			word, _, several := strings.Cut(span, " ")
			if !pattern("program").MatchString(word) || !several && !is("speaks of check") {
				return nil
			}
			checks = append(checks, Check{Command: span})
		}
		return checks
	}
	return nil
}

//go:embed patterns.txt
var patternsText string

// pattern returns an expression of patterns.txt. It is compiled when it is first used.
func pattern(name string) *regexp.Regexp { return patterns()[name]() }

var patterns = sync.OnceValue(func() map[string]func() *regexp.Regexp {
	all, parts := map[string]func() *regexp.Regexp{}, []string{}
	for line := range strings.Lines(strings.ReplaceAll(patternsText, "\n\t", "")) {
		if name, expr, is := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); is && line[0] != '#' {
			expr = strings.NewReplacer(parts...).Replace(expr)
			parts = append(parts, "{{"+name+"}}", expr)
			all[name] = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
		}
	}
	return all
})

// fileCheck returns the check of a file, or none if the name is not a path.
func fileCheck(name string, words []string) []Check {
	if !isPath(name) {
		return nil
	}
	return []Check{{File: path.Clean(name), Words: words}}
}

// isPath reports whether name looks like the relative path of a file below its folder.
func isPath(name string) bool {
	clean := path.Clean(name)
	return strings.ContainsAny(name, "./") && !strings.ContainsAny(name, " \\:*?<>|\"") && name[0] != '-' &&
		clean[0] != '/' && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../")
}
