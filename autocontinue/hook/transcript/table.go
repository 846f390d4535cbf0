package transcript

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Tables. Each begins with a comment that explains it.
var (
	//go:embed commands.txt
	commandsText string
	//go:embed files.txt
	filesText string
	//go:embed patterns.txt
	patternsText string
	//go:embed phrases.txt
	phrasesText string
	//go:embed replies.txt
	repliesText string
	//go:embed tools.txt
	toolsText string
)

// rows returns the words of each line of a table, without comments.
func rows(text string) (all [][]string) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && f[0][0] != '#' {
			all = append(all, f)
		}
	}
	return all
}

// entries returns the lines of a table by their first word, without it.
func entries(text string) map[string][]string {
	all := make(map[string][]string)
	for line := range strings.Lines(text) {
		if kind, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " "); ok && kind != "#" {
			all[kind] = append(all[kind], rest)
		}
	}
	return all
}

var (
	phrases  = sync.OnceValue(func() map[string][]string { return entries(phrasesText) })
	patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
		all := make(map[string]*regexp.Regexp)
		for name, list := range entries(patternsText) {
			all[name] = regexp.MustCompile(strings.Join(list, "|"))
		}
		return all
	})
)

// isFile reports whether a name or an extension is of a kind of files.txt.
func isFile(kind, name string) bool {
	return slices.ContainsFunc(rows(filesText), func(row []string) bool {
		return row[0] == kind && slices.Contains(row[1:], name)
	})
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
