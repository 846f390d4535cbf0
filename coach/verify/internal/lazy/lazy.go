// Package lazy compiles regular expressions when they are first used: most programs that link the rooms of verification
// never verify.
package lazy

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. It is safe for concurrent use.
type Pattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

// New returns the pattern of an expression. An expression that is not valid panics when it is used.
func New(expr string) *Pattern { return &Pattern{expr: expr} }

// Regexp returns the compiled expression.
func (p *Pattern) Regexp() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// Match reports whether the pattern occurs in s.
func (p *Pattern) Match(s string) bool { return p.Regexp().MatchString(s) }

// Find returns the first match and its groups, nil without one.
func (p *Pattern) Find(s string) []string { return p.Regexp().FindStringSubmatch(s) }

// FindIndex is Find with positions.
func (p *Pattern) FindIndex(s string) []int { return p.Regexp().FindStringSubmatchIndex(s) }

// FindAll returns all matches and their groups.
func (p *Pattern) FindAll(s string) [][]string { return p.Regexp().FindAllStringSubmatch(s, -1) }

// FindAllIndex is FindAll with positions.
func (p *Pattern) FindAllIndex(s string) [][]int { return p.Regexp().FindAllStringSubmatchIndex(s, -1) }

// Replace returns s with all matches replaced.
func (p *Pattern) Replace(s, with string) string { return p.Regexp().ReplaceAllString(s, with) }
