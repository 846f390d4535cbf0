package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
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
