// Package lazy reads patterns and lists of words from text files beside the code. It compiles a regular expression when
// it is first used: most programs that link the rooms of verification never verify.
package lazy

import (
	"iter"
	"reflect"
	"regexp"
	"strings"
	"sync"
)

// Pattern is a regular expression. It is safe for concurrent use.
type Pattern struct{ compile func() *regexp.Regexp }

// New returns the pattern of an expression. An expression that is not valid panics when it is used.
func New(expr string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// Load returns a function that, when it is first called, fills the fields of a struct with the entries of their names:
// patterns, lists of words, and maps, of which each line is a key and its value. In a pattern, {{Make}} stands for the
// words of the list Make as alternatives. The function panics if fields and entries differ.
func Load[T any](text string) func() *T { return sync.OnceValue(func() *T { return load[T](text) }) }

func load[T any](text string) *T {
	to := new(T)
	fields := reflect.ValueOf(to).Elem()
	lists := []string{"\n", ""} // and names with their words: what stands for what
	for name, text := range Entries(text) {
		switch f := fields.FieldByName(name).Addr().Interface().(type) {
		case *[]string:
			*f = strings.Fields(text)
			lists = append(lists, "{{"+name+"}}", strings.Join(*f, "|"))
		case *map[string]string:
			*f = map[string]string{}
			for line := range strings.Lines(text) {
				key, value, _ := strings.Cut(line, " ")
				(*f)[key] = strings.TrimSpace(value)
			}
		case **Pattern:
			*f = &Pattern{sync.OnceValue(func() *regexp.Regexp {
				return regexp.MustCompile(strings.NewReplacer(lists...).Replace(text))
			})}
		}
	}
	for i := range fields.NumField() {
		if fields.Field(i).IsZero() {
			panic("no entry for " + fields.Type().Field(i).Name)
		}
	}
	return to
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

// Regexp returns the compiled expression.
func (p *Pattern) Regexp() *regexp.Regexp { return p.compile() }

// Match reports whether the pattern occurs in s.
func (p *Pattern) Match(s string) bool { return p.Regexp().MatchString(s) }

// Find returns the first match and its groups, nil without one.
func (p *Pattern) Find(s string) []string { return p.Regexp().FindStringSubmatch(s) }

// FindAll returns all matches and their groups.
func (p *Pattern) FindAll(s string) [][]string { return p.Regexp().FindAllStringSubmatch(s, -1) }

// FindAllIndex is FindAll with positions.
func (p *Pattern) FindAllIndex(s string) [][]int { return p.Regexp().FindAllStringSubmatchIndex(s, -1) }

// Replace returns s with all matches replaced.
func (p *Pattern) Replace(s, with string) string { return p.Regexp().ReplaceAllString(s, with) }
