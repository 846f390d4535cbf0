package llmjudge

import (
	"fmt"
	"slices"
	"strings"
)

// leastShare is how many bytes of a file's patch are worth showing.
const leastShare = 400

// window returns a patch of at most max bytes, and whether that is all of it. A patch that is too large is cut file by file, the
// largest most: of each the beginning and the end are shown, and what is left out is marked. When there are more files than
// there is room for, the last ones are named alone.
func window(diff string, max int) (string, bool) {
	if len(diff) <= max {
		return diff, true
	}
	files := split(diff)
	var named []string
	for len(files) > 1 && max/len(files) < leastShare {
		last := files[len(files)-1]
		named = append(named, "[left out: "+line(last[:lineEnd(last)])+"]\n")
		files = files[:len(files)-1]
	}
	slices.Reverse(named)
	names := cut(strings.Join(named, ""), max/4)
	share := share(files, max-len(names))
	var b strings.Builder
	for _, f := range files {
		b.WriteString(part(f, share))
	}
	return cut(b.String()+names, max), false
}

// split returns the patches of single files. A line of a file always has a blank, a plus or a minus before it.
func split(diff string) []string {
	const head = "\ndiff --git "
	var files []string
	for {
		i := strings.Index(diff, head)
		if i < 0 {
			return append(files, diff)
		}
		files = append(files, diff[:i+1])
		diff = diff[i+1:]
	}
}

// share returns how many bytes each file may have, so that all of them have at most max: those that need less leave the
// rest to the others.
func share(files []string, max int) int {
	sizes := make([]int, len(files))
	for i, f := range files {
		sizes[i] = len(f)
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

// part returns a file's patch, or its beginning and its end.
func part(f string, max int) string {
	if len(f) <= max {
		return f
	}
	room := max - 80 // for the mark
	if room <= 0 {
		return line(f[:lineEnd(f)]) + "\n"
	}
	head := f[:room*2/3]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i+1]
	}
	end := f[len(f)-room/3:]
	if i := strings.IndexByte(end, '\n'); i >= 0 && i+1 < len(end) {
		end = end[i+1:]
	}
	left := len(f) - len(head) - len(end)
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("[… %d bytes of this file's change left out …]\n", left) + strings.ToValidUTF8(end, "")
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}
