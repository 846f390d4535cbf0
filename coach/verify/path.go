package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

var (
	mdLink     = lazy.New(`^\[([^\]]*)\]\(([^)\s]*)\)$`)
	lineSuffix = lazy.New(`(?:#L\d+(?:-L?\d+)?|:\d+(?::\d+)?(?:-\d+)?|\(\d+(?:,\d+)?\))$`)
)

// tidyPath removes what stands around a path in prose: quotes, emphasis, a Markdown link, a line number, a full stop.
func tidyPath(s string) string {
	s = strings.TrimSpace(s)
	for {
		before := s
		s = strings.Trim(s, "`'\"“”‘’*<>")
		s = strings.TrimRight(s, ",;:!?.")
		if m := mdLink.Find(s); m != nil {
			s = m[2]
			if !isPath(s) || strings.Contains(s, "://") {
				s = m[1]
			}
		}
		s = lineSuffix.Replace(s, "")
		if s == before {
			return s
		}
	}
}

// extensions are those that make a word of prose a path.
var extensions = strings.Fields(`go mod sum work py pyi js jsx ts tsx mjs cjs mts cts vue svelte astro java kt kts
		groovy gradle scala sbt clj rs c h cc cpp cxx hpp hh m mm cs fs vb swift rb erb php pl pm lua ex exs erl hrl hs ml
		mli dart r jl zig nim sol sh bash zsh fish ps1 bat sql graphql gql proto thrift html htm css scss sass less md mdx
		rst adoc txt json jsonl json5 yaml yml toml ini cfg conf env xml csv tsv lock snap tmpl tpl golden txtar tf tfvars
		nix cmake mk dockerfile ipynb svg png jpg gif ico pdf patch diff feature properties 1 5 8 out`)

var bareNames = strings.Fields(`Makefile Dockerfile LICENSE README CHANGELOG Gemfile Rakefile Jenkinsfile Procfile
		Justfile justfile .gitignore .gitattributes .dockerignore .editorconfig .env .npmrc .nvmrc CODEOWNERS`)

// products are names of things that only look like files.
var products = strings.Fields(`node.js next.js vue.js nuxt.js express.js react.js three.js d3.js chart.js ember.js
		backbone.js angular.js moment.js nest.js deno.js discord.js alpine.js p5.js asp.net socket.io`)

var pathShape = lazy.New(`^(?:[A-Za-z]:)?[@~./\\\w\-+()\[\]{},*$ ]*[\w\])}]$`)

// isPath reports whether a word of prose is surely the path of a file.
func isPath(s string) bool {
	if s == "" || len(s) > 260 || strings.Contains(s, "://") || !pathShape.Match(s) ||
		slices.Contains(products, strings.ToLower(s)) {
		return false
	}
	if strings.Contains(s, " ") && program.Match(s) {
		return false // a command
	}
	base := path.Base(strings.ReplaceAll(s, `\`, "/"))
	if slices.Contains(bareNames, base) {
		return true
	}
	ext := path.Ext(base)
	if ext == "" || base == ext || !slices.Contains(extensions, strings.ToLower(ext[1:])) {
		return false
	}
	if len(ext) == 2 && '0' <= ext[1] && ext[1] <= '9' || ext == ".out" { // a manual page, but not a version
		return strings.Contains(s, "/") || ext == ".out"
	}
	return true
}

// A path in prose: in backticks, as a Markdown link, or bare without blanks.
const pathWord = "(?:\\*{0,2}`[^`\\n]{1,260}`\\*{0,2}|\\[[^\\]\\n]{1,260}\\]\\([^)\\s]{1,260}\\)|[^\\s,;`*()\\[\\]|" +
	"\"]*[\\w\\])}])"

var (
	onePath       = lazy.New(`^` + pathWord)
	anyPath       = lazy.New(`(?:^|[\s("'*])(` + pathWord + `)`)
	listSeparator = lazy.New(`^\s*(?:,\s*(?:and\s+|&\s*)?|;\s*|and\s+|&\s*|\+\s*)`)
	afterPath     = lazy.New(`^(?:#L\d+(?:-L?\d+)?|:\d+(?:-\d+)?)?(?:\s+\((?:new|created|added|new file|modified|` +
		`updated|deleted|removed|edited|[+-]\d+[^)]{0,20})\))?`)
)

// pathList reads the list of paths that s begins with: "a.go, b.go and `c.go`". It returns them and what follows.
func pathList(s string) (paths []string, rest string) {
	rest = s
	for {
		at := strings.TrimLeft(rest, " \t")
		if len(paths) > 0 {
			sep := listSeparator.Regexp().FindString(at)
			if sep == "" {
				return paths, rest
			}
			at = strings.TrimLeft(at[len(sep):], " \t")
		}
		word := onePath.Regexp().FindString(at)
		p := tidyPath(word)
		if word == "" || !isPath(p) {
			return paths, rest
		}
		paths = append(paths, braces(p)...)
		rest = at[len(word):]
		rest = rest[len(afterPath.Regexp().FindString(rest)):]
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
