package verify

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: a program that never verifies does not wait for it.
type pattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func compiled(expr string) *pattern { return &pattern{expr: expr} }

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}
