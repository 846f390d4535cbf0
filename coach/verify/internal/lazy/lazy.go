// Package lazy reads patterns and lists of words from text files beside the code. It compiles a regular expression when
// it is first used: most programs that link the rooms of verification never verify.
package lazy

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Entry is a regular expression, or a list of words. It is safe for concurrent use.
type Entry struct {
	Words []string // of the text of a list

	// Regexp returns the compiled expression. It panics if the expression is not valid.
	Regexp func() *regexp.Regexp
}

// New returns the entry of an expression.
func New(expr string) *Entry {
	return &Entry{strings.Fields(expr), sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// Load returns a function that returns an entry by its name, and panics if there is none. The first call reads the
// text. The lines of a pattern are joined. In it, {{Make}} stands for the words of the entry Make as alternatives.
func Load(text string) func(name string) *Entry {
	all := sync.OnceValue(func() map[string]*Entry {
		entries := map[string]*Entry{}
		for name, text := range Entries(text) {
			entries[name] = &Entry{strings.Fields(text), sync.OnceValue(func() *regexp.Regexp {
				before, rest, more := strings.Cut(strings.ReplaceAll(text, "\n", ""), "{{")
				for more {
					list, after, _ := strings.Cut(rest, "}}")
					before += strings.Join(entries[list].Words, "|")
					rest, after, more = strings.Cut(after, "{{")
					before, rest = before+rest, after
				}
				return regexp.MustCompile(before)
			})}
		}
		return entries
	})
	return func(name string) *Entry {
		if e := all()[name]; e != nil {
			return e
		}
		panic("no entry " + name)
	}
}

// Entries returns the names and texts of a file. A line with a name ends with a colon. Its text is in the lines that
// follow, each behind a tab. Lines that begin with "#" are comments.
func Entries(text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		name, body := "", ""
		for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", "")+"\nend:", "\n") {
			if more, ok := strings.CutPrefix(line, "\t"); ok {
				body += more + "\n"
			} else if next, ok := strings.CutSuffix(line, ":"); ok && !strings.HasPrefix(line, "#") {
				if name != "" && !yield(name, body) {
					return
				}
				name, body = next, ""
			}
		}
	}
}

// Has reports whether a word is in the list.
func (e *Entry) Has(word string) bool { return slices.Contains(e.Words, word) }

// Match reports whether the pattern occurs in s.
func (e *Entry) Match(s string) bool { return e.Regexp().MatchString(s) }

// Find returns the first match and its groups, nil without one.
func (e *Entry) Find(s string) []string { return e.Regexp().FindStringSubmatch(s) }

// FindAll returns all matches and their groups.
func (e *Entry) FindAll(s string) [][]string { return e.Regexp().FindAllStringSubmatch(s, -1) }

// FindAllIndex is FindAll with positions.
func (e *Entry) FindAllIndex(s string) [][]int { return e.Regexp().FindAllStringSubmatchIndex(s, -1) }

// Replace returns s with all matches replaced.
func (e *Entry) Replace(s, with string) string { return e.Regexp().ReplaceAllString(s, with) }
