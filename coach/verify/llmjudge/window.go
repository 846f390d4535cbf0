package llmjudge

import (
	"slices"
	"strings"
)

// leastShare is how many bytes of a file's patch are worth showing.
const leastShare = 400

// window returns a patch of at most max bytes, and whether that is all of it. A patch that is too large is cut file
// by file, the largest most.
func window(diff string, max int) (string, bool) {
	if len(diff) <= max {
		return diff, true
	}
	// A line of a file always has a blank, a plus or a minus before it.
	files := strings.SplitAfter(strings.ReplaceAll(diff, "\ndiff --git ", "\n\x00diff --git "), "\x00")
	if max/len(files) < leastShare {
		return cut(diff, max), false
	}
	share := share(files, max)
	var b strings.Builder
	for _, f := range files {
		f = strings.TrimSuffix(f, "\x00")
		if len(f) > share {
			const mark = "\n[… the rest of this file's change is left out …]\n"
			f = cut(f, share-len(mark)) + mark
		}
		b.WriteString(f)
	}
	return b.String(), false
}

// share returns how many bytes each file may have, so that all of them have at most max. Small files leave the rest
// to the others.
func share(files []string, max int) int {
	var sizes []int
	for _, f := range files {
		sizes = append(sizes, len(f))
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		each := max / (len(sizes) - i)
		if size > each {
			return each
		}
		max -= size
	}
	return max
}
