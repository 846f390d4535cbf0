package skills

import "strings"

// outsideInlineCode yields the parts of the paragraph text[start:end] that are not code spans, and reports whether to go
// on. As in CommonMark a run of backticks is closed by the next one of the same length; a run without one is literal.
func outsideInlineCode(text string, start, end int, yield func(start, end int) bool) bool {
	last := lastTicks(text, start, end)
	for i := start; ; {
		at, n := nextTicks(text, i, end)
		if n == 0 {
			return yield(start, end)
		}
		if escaped(text[start:at]) {
			i = at + 1
			continue
		}
		i = at + n
		if last[n] < i {
			continue
		}
		if !yield(start, at) {
			return false
		}
		for m := 0; m != n; i += m {
			i, m = nextTicks(text, i, end)
		}
		start = i
	}
}

// nextTicks returns where the first run of backticks in text[from:end] starts, and its length, 0 if there is none.
func nextTicks(text string, from, end int) (at, n int) {
	at = strings.IndexByte(text[from:end], '`')
	if at < 0 {
		return end, 0
	}
	at += from
	for at+n < end && text[at+n] == '`' {
		n++
	}
	return at, n
}

// lastTicks returns where the last run of each length starts. Without it, looking in vain for the end of every run
// would be quadratic.
func lastTicks(text string, start, end int) map[int]int {
	var last map[int]int
	for i := start; ; {
		at, n := nextTicks(text, i, end)
		if n == 0 {
			return last
		}
		if last == nil {
			last = make(map[int]int)
		}
		last[n] = at
		i = at + n
	}
}

// escaped reports whether the character after before has lost its meaning to a backslash.
func escaped(before string) bool {
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}
