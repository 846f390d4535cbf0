package verify

import (
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

func line(s string, max int) string {
	return plaintext.Line(plaintext.Disarm(plaintext.Redact(s)), max)
}
func clean(s string) string { return line(s, 300) }
func code(s string) string  { return "`" + strings.ReplaceAll(line(s, 80), "`", "'") + "`" }
func fold(s string) string  { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// firstThree names the first three of a list, and says how many more there are.
func firstThree(list []string) string {
	s := clean(strings.Join(list[:min(len(list), 3)], ", "))
	if more := len(list) - 3; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// Sentence begins with a capital letter, unless with code, and ends with a full stop.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimRight(s[1:], ".") + "."
}

//go:embed lexicon.txt
var lexiconText string

// lex returns a list of words or a pattern of lexicon.txt by its name. The first call reads the file.
var lex = lazy.Load(lexiconText)

// tidyPath removes what stands around a path in prose: quotes, emphasis, a Markdown link, a line number, a full stop.
func tidyPath(s string) string {
	s = strings.TrimSpace(s)
	for {
		before := s
		s = strings.Trim(s, "`'\"“”‘’*<>")
		s = strings.TrimRight(s, ",;:!?.")
		if m := lex("MdLink").Find(s); m != nil {
			s = m[2]
			if !isPath(s) || strings.Contains(s, "://") {
				s = m[1]
			}
		}
		s = lex("LineSuffix").Replace(s, "")
		if s == before {
			return s
		}
	}
}

// isPath reports whether a word of prose is surely the path of a file.
func isPath(s string) bool {
	if s == "" || len(s) > 260 || strings.Contains(s, "://") || !lex("PathShape").Match(s) ||
		lex("Products").Has(strings.ToLower(s)) {
		return false
	}
	if strings.Contains(s, " ") && lex("Program").Match(s) {
		return false // a command
	}
	base := path.Base(strings.ReplaceAll(s, `\`, "/"))
	if lex("BareNames").Has(base) {
		return true
	}
	ext := path.Ext(base)
	if ext == "" || base == ext || !lex("Extensions").Has(strings.ToLower(ext[1:])) {
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
	for i, in := range pathsIn(s) {
		if i > 0 && !in.listed || i == 0 && strings.TrimLeft(s[:in.from], " \t") != "" {
			break
		}
		paths, rest = append(paths, in.path), s[in.to:]
	}
	return paths, rest
}

// pathsBehind returns the list of paths behind a pattern at the start of s.
func pathsBehind(p *lazy.Entry, s string) (paths []string) {
	if m := p.Regexp().FindString(s); m != "" {
		paths, _ = pathList(s[len(m):])
	}
	return paths
}

// only returns the only element of a list, or "".
func only(list []string) string {
	if len(list) != 1 {
		return ""
	}
	return list[0]
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
func isLocal(p string) bool { return fs.ValidPath(cleanPath(p)) && !strings.ContainsAny(p, "~:") }

// ends reports whether a is b, or the end of b from a slash on; letter case aside.
func ends(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasSuffix(b, "/"+a)
}

// meant returns which of the paths a claimed one can mean: the same with folders missing or too many in front; else "".
func meant(claimed string, paths []string) string {
	c := strings.TrimPrefix(cleanPath(claimed), "/")
	return value(find(paths, func(p string) bool { return ends(c, p) || ends(p, c) }))
}

// pathIn is the path of a file in a text, and where it stands. It may continue the list of the path before.
type pathIn struct {
	path     string
	from, to int
	listed   bool
}

func pathsIn(s string) (all []pathIn) {
	last := 0
	for _, m := range lex("AnyPath").FindAllIndex(s) {
		p := pathIn{path: tidyPath(s[m[2]:m[3]]), from: m[2], to: m[3]}
		if isPath(p.path) {
			between := s[last:p.from]
			between = between[len(lex("AfterPath").Regexp().FindString(between)):]
			p.listed = len(all) > 0 && between != "" && lex("ListSeparator").Regexp().FindString(between) == between
			for _, p.path = range braces(p.path) {
				all, last, p.listed = append(all, p), p.to, true
			}
		}
	}
	return all
}

func clausePaths(s string) (list []string) {
	for _, p := range pathsIn(s) {
		list = append(list, p.path)
	}
	return list
}
