package verify

import (
	"path"
	"slices"
	"strings"
)

// cleanPath returns a path that somebody wrote in one spelling: in slashes, without "./", doubled slashes, a leading "@" and
// white space. It stays relative or absolute, as it was.
func cleanPath(p string) string {
	p = strings.ReplaceAll(strings.TrimSpace(p), `\`, "/")
	p = strings.TrimPrefix(p, "@")
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// isLocal reports whether a path, as it is written, stays in the tree.
func isLocal(p string) bool {
	p = cleanPath(p)
	drive := len(p) > 1 && p[1] == ':'
	return p != "" && p != ".." && !drive && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") && !strings.HasPrefix(p, "../")
}

// ends reports whether a is b, or what b ends with from a slash on; letter case aside.
func ends(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasSuffix(b, "/"+a)
}

// meant returns which of the paths a claimed one, under which nothing was found, can mean: the same but for letter case, with
// folders missing in front or too many of them, as paths in a container or from another working directory have. Of those that
// nobody claimed under their own name (free), one that differs by a slip of the keys counts too.
func meant(claimed string, paths []string, free func(string) bool) (string, bool) {
	c := strings.TrimPrefix(cleanPath(claimed), "/")
	for _, p := range paths {
		if ends(c, p) || ends(p, c) {
			return p, true
		}
	}
	var near []string
	for _, p := range paths {
		if free(p) && slip(strings.ToLower(c), strings.ToLower(p)) {
			near = append(near, p)
		}
	}
	if len(near) == 1 {
		return near[0], true
	}
	return "", false
}

// slip reports whether two paths in the same folder, with the same extension and the same digits differ by at most two letters.
func slip(a, b string) bool {
	if path.Dir(a) != path.Dir(b) || path.Ext(a) != path.Ext(b) || digitsOf(a) != digitsOf(b) {
		return false
	}
	a, b = strings.TrimSuffix(path.Base(a), path.Ext(a)), strings.TrimSuffix(path.Base(b), path.Ext(b))
	return min(len(a), len(b)) >= 5 && len(a) < 100 && len(b) < 100 && distance(a, b) <= 2
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// distance returns how many bytes must be put in, taken out or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// changedPaths returns what differs from the baseline, in order.
func (f Facts) changedPaths() []string {
	var paths []string
	for _, c := range f.Changes {
		paths = append(paths, c.Path)
	}
	for _, c := range f.Files {
		if c.Changed == Met && c.Clean != "" && !slices.Contains(paths, c.Clean) {
			paths = append(paths, c.Clean)
		}
	}
	return paths
}
