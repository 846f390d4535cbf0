package llm

import (
	"regexp"
	"sync"
)

// compiled returns a function that compiles expr when it is first called: a program that asks no model does not wait for it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
