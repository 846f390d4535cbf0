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

// show is called as often as there is progress, and draws when the percentage changes. The line is shorter than the terminal is
// wide, whatever that is by now: one that wraps could not be drawn over.
func (b *bar) show(done, total int) {
	percent := int(100 * int64(done) / int64(total))
	if b.w == nil || percent == b.percent {
		return
	}
	b.percent = percent
	const widest, least = 30, 5
	room := widthOf(b.w) - 1
	figures := fmt.Sprintf(" %3d %%", percent)
	if counted := fmt.Sprintf("  %s of %s%s", thousands(done), thousands(total), b.unit); len(figures)+len(counted)+least <= room {
		figures += counted
	}
	line := strings.TrimLeft(figures, " ")
	if width := min(widest, room-len(figures)); width >= least {
		full := int(int64(width) * int64(done) / int64(total))
		line = strings.Repeat("█", full) + strings.Repeat("░", width-full) + figures
	}
	fmt.Fprintf(b.w, "\r%s\x1b[K", line)
}

// clear takes the bar away.
func (b *bar) clear() {
	if b.w != nil && b.percent >= 0 {
		b.percent = -1
		io.WriteString(b.w, "\r\x1b[K")
	}
}
