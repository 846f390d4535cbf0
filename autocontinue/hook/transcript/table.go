package transcript

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The tables. Each begins with a comment that explains it.
//
//go:embed *.txt
var tables embed.FS

// rows returns the words of each line of a table, without comments.
func rows(table string) (all [][]string) {
	text, _ := tables.ReadFile(table + ".txt") // it is there
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0][0] != '#' {
			all = append(all, f)
		}
	}
	return all
}

// entries returns the lines of a table by their first word, without it.
func entries(table string) map[string][]string {
	text, _ := tables.ReadFile(table + ".txt") // it is there
	all := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		if kind, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " "); ok && kind != "#" {
			all[kind] = append(all[kind], rest)
		}
	}
	return all
}

var (
	files    = sync.OnceValue(func() map[string][]string { return entries("files") })
	phrases  = sync.OnceValue(func() map[string][]string { return entries("phrases") })
	patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
		all := make(map[string]*regexp.Regexp)
		for name, list := range entries("patterns") {
			all[name] = regexp.MustCompile(strings.Join(list, "|"))
		}
		return all
	})
)

// isFile reports whether a name or an extension is of a kind of files.txt.
func isFile(kind, name string) bool {
	return slices.ContainsFunc(files()[kind], func(row string) bool { return among(" "+row+" ", name) })
}

func isPhrase(kind, text string) bool { return slices.Contains(phrases()[kind], text) }

func pattern(name string) *regexp.Regexp { return patterns()[name] }

// find returns what the first group of a pattern matches, "" if the pattern does not match.
func find(name, text string) string {
	if m := pattern(name).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
