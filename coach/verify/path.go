package verify

import (
	"path"
	"slices"
	"strings"
)

// tidyPath removes what stands around a path in prose: quotes, emphasis, a Markdown link, a line number, a full stop.
func tidyPath(s string) string {
	s = strings.TrimSpace(s)
	for {
		before := s
		s = strings.Trim(s, "`'\"“”‘’*<>")
		s = strings.TrimRight(s, ",;:!?.")
		if m := lex.MdLink.Find(s); m != nil {
			s = m[2]
			if !isPath(s) || strings.Contains(s, "://") {
				s = m[1]
			}
		}
		s = lex.LineSuffix.Replace(s, "")
		if s == before {
			return s
		}
	}
}

// isPath reports whether a word of prose is surely the path of a file.
func isPath(s string) bool {
	if s == "" || len(s) > 260 || strings.Contains(s, "://") || !lex.PathShape.Match(s) ||
		slices.Contains(lex.Products, strings.ToLower(s)) {
		return false
	}
	if strings.Contains(s, " ") && lex.Program.Match(s) {
		return false // a command
	}
	base := path.Base(strings.ReplaceAll(s, `\`, "/"))
	if slices.Contains(lex.BareNames, base) {
		return true
	}
	ext := path.Ext(base)
	if ext == "" || base == ext || !slices.Contains(lex.Extensions, strings.ToLower(ext[1:])) {
		return false
	}
	if len(ext) == 2 && '0' <= ext[1] && ext[1] <= '9' || ext == ".out" { // a manual page, but not a version
		return strings.Contains(s, "/") || ext == ".out"
	}
	return true
}

// pathList reads the list of paths that s begins with: "a.go, b.go and `c.go`". It returns them and what follows.
func pathList(s string) (paths []string, rest string) {
	rest = s
	for {
		at := strings.TrimLeft(rest, " \t")
		if len(paths) > 0 {
			sep := lex.ListSeparator.Regexp().FindString(at)
			if sep == "" {
				return paths, rest
			}
			at = strings.TrimLeft(at[len(sep):], " \t")
		}
		word := lex.OnePath.Regexp().FindString(at)
		p := tidyPath(word)
		if word == "" || !isPath(p) {
			return paths, rest
		}
		paths = append(paths, braces(p)...)
		rest = at[len(word):]
		rest = rest[len(lex.AfterPath.Regexp().FindString(rest)):]
	}
}

// braces expands one group of alternatives: "src/{a,b}.js".
func braces(p string) []string {
	before, rest, ok := strings.Cut(p, "{")
	inside, after, closed := strings.Cut(rest, "}")
	if !ok || !closed || !strings.Contains(inside, ",") {
		return []string{p}
	}
	var all []string
	for part := range strings.SplitSeq(inside, ",") {
		all = append(all, before+strings.TrimSpace(part)+after)
	}
	return all
}

// cleanPath returns one spelling of a path: in slashes, without "./", doubled slashes and a leading "@".
func cleanPath(p string) string {
	p = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(p), `\`, "/"), "@")
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// isLocal reports whether a path, as it is written, stays in the tree.
func isLocal(p string) bool {
	p = cleanPath(p)
	drive := len(p) > 1 && p[1] == ':'
	return p != "" && p != ".." && !drive && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") &&
		!strings.HasPrefix(p, "../")
}

// ends reports whether a is b, or the end of b from a slash on; letter case aside.
func ends(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasSuffix(b, "/"+a)
}

// meant returns which of the paths a claimed one can mean: the same with folders missing or too many in front, or the
// only one that differs by a slip of the keys, of those that are free.
func meant(claimed string, paths []string, free func(string) bool) (string, bool) {
	c := strings.TrimPrefix(cleanPath(claimed), "/")
	var near []string
	for _, p := range paths {
		if ends(c, p) || ends(p, c) {
			return p, true
		}
		if free(p) && slip(strings.ToLower(c), strings.ToLower(p)) {
			near = append(near, p)
		}
	}
	if len(near) == 1 {
		return near[0], true
	}
	return "", false
}

// slip reports whether two names in one folder, with the same extension and digits, differ by at most two letters.
func slip(a, b string) bool {
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return r
			}
			return -1
		}, s)
	}
	if path.Dir(a) != path.Dir(b) || path.Ext(a) != path.Ext(b) || digits(a) != digits(b) {
		return false
	}
	a, b = strings.TrimSuffix(path.Base(a), path.Ext(a)), strings.TrimSuffix(path.Base(b), path.Ext(b))
	return min(len(a), len(b)) >= 5 && max(len(a), len(b)) < 100 && distance(a, b) <= 2
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
