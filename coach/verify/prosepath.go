package verify

import (
	"path"
	"slices"
	"strings"
)

var (
	mdLink     = compiled(`^\[([^\]]*)\]\(([^)\s]*)\)$`)
	lineSuffix = compiled(`(?:#L\d+(?:-L?\d+)?|:\d+(?::\d+)?(?:-\d+)?|\(\d+(?:,\d+)?\))$`)
)

// tidyPath takes off what stands around a path in prose: quotes, backticks, emphasis, a Markdown link, a line number, the full stop of
// the sentence.
func tidyPath(s string) string {
	s = strings.TrimSpace(s)
	for {
		before := s
		s = strings.Trim(s, "`'\"“”‘’*<>")
		s = strings.TrimRight(s, ",;:!?.")
		if m := mdLink.get().FindStringSubmatch(s); m != nil {
			s = m[2]
			if !isPath(s) || strings.Contains(s, "://") {
				s = m[1]
			}
		}
		s = lineSuffix.get().ReplaceAllString(s, "")
		if s == before {
			return s
		}
	}
}

// extensions are those that make a word of prose a path. "auth.Login" and "Node.js" are words, too.
var extensions = strings.Fields(`go mod sum work py pyi js jsx ts tsx mjs cjs mts cts vue svelte astro java kt kts groovy gradle scala sbt clj
	rs c h cc cpp cxx hpp hh m mm cs fs vb swift rb erb php pl pm lua ex exs erl hrl hs ml mli dart r jl zig nim sol sh bash zsh fish ps1 bat
	sql graphql gql proto thrift html htm css scss sass less md mdx rst adoc txt json jsonl json5 yaml yml toml ini cfg conf env xml csv tsv
	lock snap tmpl tpl golden txtar tf tfvars nix cmake mk dockerfile ipynb svg png jpg gif ico pdf patch diff feature properties`)

var bareNames = []string{"Makefile", "Dockerfile", "LICENSE", "README", "CHANGELOG", "Gemfile", "Rakefile", "Jenkinsfile", "Procfile", "Justfile",
	".gitignore", ".gitattributes", ".dockerignore", ".editorconfig", ".env", ".npmrc", ".nvmrc", "CODEOWNERS"}

// products are names of things that only look like files, lower case.
var products = []string{"node.js", "next.js", "vue.js", "nuxt.js", "express.js", "react.js", "three.js", "d3.js", "chart.js", "ember.js", "backbone.js",
	"angular.js", "moment.js", "nest.js", "deno.js", "discord.js", "alpine.js", "p5.js", "asp.net", "socket.io", "plan.md's"}

var pathShape = compiled(`^(?:[A-Za-z]:)?[@~./\\\w\-+()\[\]$ ]*[\w\])]$`)

// isPath reports whether a word of prose is surely the path of a file.
func isPath(s string) bool {
	if s == "" || len(s) > 260 || strings.Contains(s, "://") || !pathShape.get().MatchString(s) || slices.Contains(products, strings.ToLower(s)) {
		return false
	}
	base := path.Base(strings.ReplaceAll(s, `\`, "/"))
	if slices.Contains(bareNames, base) {
		return true
	}
	ext := path.Ext(base)
	return ext != "" && slices.Contains(extensions, strings.ToLower(ext[1:])) && base != ext
}

// A path in prose: in backticks, as a Markdown link, or bare without blanks.
const pathWord = "(?:\\*{0,2}`[^`\\n]{1,260}`\\*{0,2}|\\[[^\\]\\n]{1,260}\\]\\([^)\\s]{1,260}\\)|[^\\s,;`*()\\[\\]|]*[\\w\\])])"

var nextPath = compiled(`^` + pathWord)

// pathList reads a list of paths that s begins with: "a.go, b.go and `c.go`". It returns them and what follows.
func pathList(s string) (paths []string, rest string) {
	rest = s
	for {
		at := strings.TrimLeft(rest, " \t")
		if len(paths) > 0 {
			sep := listSeparator.get().FindString(at)
			if sep == "" {
				return paths, rest
			}
			at = at[len(sep):]
		}
		word := nextPath.get().FindString(at)
		p := tidyPath(word)
		if word == "" || !isPath(p) {
			return paths, rest
		}
		paths = append(paths, p)
		rest = at[len(word):]
		if m := afterPath.get().FindString(rest); m != "" {
			rest = rest[len(m):]
		}
	}
}

var (
	listSeparator = compiled(`^(?:,\s*(?:and\s+|&\s*)?|;\s*|and\s+|&\s*|\+\s*|\s+and\s+)`)
	afterPath     = compiled(`^(?:#L\d+(?:-L?\d+)?|:\d+(?:-\d+)?)?(?:\s+\((?:new|created|added|new file|modified|updated|deleted|removed|edited|[+-]\d+[^)]{0,20})\))?`)
)
