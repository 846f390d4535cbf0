package gowitness

import (
	"regexp"
	"sync"
)

// compiled returns expr, compiled when it is first used: a program that never verifies does not wait for it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
