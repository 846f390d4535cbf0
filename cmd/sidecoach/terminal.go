package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// terminal says what the program is talking to.
type terminal struct {
	keyboard bool // standard input is a person's keyboard, not a pipe or a file
	width    int  // of standard output in characters, 0 when it is not a terminal
	color    bool // standard output shows colours and the user has not asked for none
}

// detect looks at the streams and at NO_COLOR (https://no-color.org) and TERM.
func detect(stdin io.Reader, stdout io.Writer) terminal {
	var t terminal
	if f, ok := stdin.(*os.File); ok {
		t.keyboard = term.IsTerminal(int(f.Fd()))
	}
	if t.width = widthOf(stdout); t.width > 0 {
		t.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return t
}

// widthOf returns how many columns the terminal w has, 80 if it does not say, and 0 if w is not a terminal.
func widthOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// A style is the parameter of a terminal's "select graphic rendition" sequence.
type style string

const (
	bold   style = "1"
	dim    style = "2"
	red    style = "1;31"
	green  style = "1;32"
	yellow style = "1;33"
	cyan   style = "1;36"
)

// paint returns text in a style, or as it is where there is no colour.
func (t terminal) paint(s style, text string) string {
	if !t.color {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// tell writes lines to standard output, wrapped where that is a terminal.
func (t terminal) tell(w io.Writer, lines string) error {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		for _, part := range wrap(strings.TrimSuffix(line, "\n"), t.width) {
			b.WriteString(part + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// visible returns s for one line of a terminal, see [plaintext.Visible].
func visible(s string) string { return plaintext.Visible(s) }

// quote shows a span of the agent's text on one line: in quotation marks, white space folded, hidden characters
// escaped, at most limit characters between the marks.
func quote(span string, limit int) string {
	cut := ""
	if n := limit * 16; len(span) > n { // more than can be shown
		for n > 0 && !utf8.RuneStart(span[n]) {
			n--
		}
		span, cut = span[:n], "…"
	}
	return `"` + plaintext.Cut(plaintext.Visible(strings.Join(strings.Fields(span), " "))+cut, limit) + `"`
}

// position returns line and column of a byte offset, both from 1. The column is in characters, as an editor counts
// them, without a byte order mark.
func position(text string, offset int) (line, column int) {
	before := text[:offset]
	line = 1 + strings.Count(before, "\n")
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if line == 1 {
		before = strings.TrimPrefix(before, "\ufeff")
	}
	return line, 1 + utf8.RuneCountInString(before)
}

// wrap breaks a line between words so that no part is wider than width columns, unless a word is. Parts after the first
// stand below the text of a list item. A width of 0 or less breaks nothing.
func wrap(line string, width int) []string {
	if width <= 0 || runewidth.StringWidth(line) <= width {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	hang := indent
	if strings.HasPrefix(text, "- ") {
		hang += "  "
	}
	var parts []string
	part, empty := indent, true
	for _, word := range strings.Fields(text) {
		if !empty && runewidth.StringWidth(part+" "+word) > width {
			parts = append(parts, part)
			part, empty = hang, true
		}
		if !empty {
			part += " "
		}
		part += word
		empty = false
	}
	return append(parts, part)
}

// lastColumns returns the end of a text that fits into width columns, with an ellipsis where something is left out; all
// of it if width is 0.
func lastColumns(s string, width int) string {
	if width <= 0 || runewidth.StringWidth(s) <= width {
		return s
	}
	return runewidth.TruncatePrefix(s, width, "…")
}
