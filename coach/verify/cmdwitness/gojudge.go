package cmdwitness

import (
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// codeLine is a line about a place in a file. It can quote what is written there.
var codeLine = lazy.New(`(?m)^.*\.go:[0-9]+:[0-9]+: .*$`)

// notInstalled are signs that something is missing on this machine. That says nothing about the work.
var notInstalled = []struct {
	sign *lazy.Pattern
	what string
}{
	{lazy.New(`(?m)^(?:go: )?(?:pattern \S+: |stat \S+: |no Go files in |.*matched no packages|` +
		`go\.mod file not found|.*cannot find main module)`), "no package of that name was found"},
	{lazy.New(`toolchain not available|GOTOOLCHAIN=local\)`), "the version of Go that go.mod asks for is not installed"},
	{lazy.New(`module lookup disabled by GOPROXY=off|dial tcp|no such host|TLS handshake timeout`),
		"a module could not be downloaded"},
	{lazy.New(`no space left on device`), "the disk is full"},
	{lazy.New(`C compiler "`), "the C compiler is not installed"},
}

func missing(text string) string {
	for _, m := range notInstalled {
		if m.sign.Match(text) {
			return m.what
		}
	}
	return ""
}

// judge returns what a run shows, and why it is not Met.
func (e *events) judge(res Result, r verify.Run) (verify.Status, string) {
	broken, compiled, other, failures := 0, 0, 0, r.Failed
	for _, p := range e.packages {
		failures += len(p.failed)
		switch {
		case p.result == failed && p.broken:
			broken++
			if !p.setup {
				compiled++ // all of its imports are there
			}
		case p.result == failed:
			other++
		}
	}
	text := string(e.build) + string(e.noise) + res.Output
	badModule := res.Exit != 0 && strings.Contains(text, "errors parsing go.mod")
	notBuilt := plural(broken, "package was", "packages were") + " not built"
	switch {
	case failures > 0:
		return verify.NotMet, plural(r.Failed, "test", "tests") + " failed"
	case res.Why != "":
		return verify.Unverified, "go test did not come to its end: " + res.Why
	case other > 0:
		return verify.NotMet, "a package failed without a failed test"
	case e.over:
		return verify.Unverified, "there are more tests than are counted"
	case compiled > 0 && missing(codeLine.Replace(text, "")) == "":
		return verify.NotMet, notBuilt
	case (broken > 0 || res.Exit != 0) && missing(text) != "" && !badModule:
		return verify.Unverified, missing(text)
	case broken > 0:
		return verify.NotMet, notBuilt
	case badModule:
		return verify.NotMet, "go.mod cannot be read"
	case res.Exit != 0:
		return verify.Unverified, fmt.Sprintf("go test ended with exit status %d and no failed test", res.Exit)
	case e.seen == 0:
		return verify.Unverified, "go test reported nothing"
	}
	switch n := len(e.doubts); {
	case n > 5:
		return verify.Unverified, strings.Join(e.doubts[:5], "; ") + fmt.Sprintf("; and %d more packages", n-5)
	case n > 0:
		return verify.Unverified, strings.Join(e.doubts, "; ")
	case r.Passed == 0:
		return verify.Unverified, "no test ran"
	}
	return verify.Met, ""
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
