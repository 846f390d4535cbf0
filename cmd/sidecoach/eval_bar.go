package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// bar is a progress bar on a terminal; anywhere else it shows nothing.
type bar struct {
	w       io.Writer // nil where there is no terminal
	percent int       // that is shown
	unit    string    // of what is counted
}

func newBar(stderr io.Writer) *bar {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return &bar{}
	}
	return &bar{w: f, percent: -1}
}

// show is called as often as there is progress, and draws when the percentage changes.
func (b *bar) show(done, total int) {
	const width = 30
	percent := 100 * done / total
	if b.w == nil || percent == b.percent {
		return
	}
	b.percent = percent
	full := width * done / total
	fmt.Fprintf(b.w, "\r%s%s %3d %%  %d of %d%s\x1b[K", strings.Repeat("█", full), strings.Repeat("░", width-full), percent, done, total, b.unit)
}

// clear takes the bar away.
func (b *bar) clear() {
	if b.w != nil {
		io.WriteString(b.w, "\r\x1b[K")
	}
}
