package verify

import (
	"regexp"
	"sync"
)

// compiled returns expr, compiled when it is first used: programs that never verify do not pay for it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
