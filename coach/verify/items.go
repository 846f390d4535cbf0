package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// rank is 0 for High and for what is no priority, then Medium and Low.
func (p Priority) rank() int {
	switch p {
	case Medium:
		return 1
	case Low:
		return 2
	}
	return 0
}

// Ordered returns items worst first, those of one priority in their order, none dropped. One whose priority is none of the three
// is High.
func Ordered(items []Item) []Item {
	items = slices.Clone(items)
	for i, it := range items {
		items[i].Severity = []Priority{High, Medium, Low}[it.Severity.rank()]
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
	return items
}

// String is the item on one line: "auth.go:12: what is wrong. What to do."
func (it Item) String() string {
	var b strings.Builder
	if it.File != "" {
		b.WriteString(clean(it.File))
		if it.Line > 0 {
			fmt.Fprintf(&b, ":%d", it.Line)
		}
		b.WriteString(": ")
	}
	b.WriteString(clean(it.Issue))
	if s := clean(it.Suggestion); s != "" {
		if !strings.HasSuffix(b.String(), ".") {
			b.WriteByte('.')
		}
		b.WriteString(" " + s)
	}
	return b.String()
}

// Lines returns items for the agent, one a line, worst first.
func Lines(items []Item) string {
	var b strings.Builder
	for _, it := range Ordered(items) {
		b.WriteString(it.String() + "\n")
	}
	return b.String()
}
