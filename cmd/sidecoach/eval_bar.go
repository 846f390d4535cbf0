package main

import (
	"fmt"
	"io"
	"os"
)

// bar shows progress on a terminal; anywhere else it shows nothing.
type bar struct {
	w       io.Writer // nil where there is no terminal
	percent int       // that is shown
}

func newBar(stderr io.Writer) *bar {
	if widthOf(stderr) == 0 || os.Getenv("TERM") == "dumb" {
		return &bar{}
	}
	return &bar{w: stderr, percent: -1}
}

// show is called as often as there is progress. It draws when the percentage changes, in one line.
func (b *bar) show(done, total int) {
	percent := int(100 * int64(done) / int64(total))
	if b.w == nil || percent == b.percent {
		return
	}
	b.percent = percent
	line := fmt.Sprintf("%3d %%  %s of %s", percent, thousands(done), thousands(total))
	fmt.Fprintf(b.w, "\r%.*s\x1b[K", widthOf(b.w)-1, line)
}

// clear takes the line away.
func (b *bar) clear() {
	if b.w != nil && b.percent >= 0 {
		b.percent = -1
		io.WriteString(b.w, "\r\x1b[K")
	}
}
