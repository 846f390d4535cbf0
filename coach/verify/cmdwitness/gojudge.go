package cmdwitness

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

var (
	// noPackage is what go says of a pattern that names no package.
	noPackage = lazy.New(`(?m)^(?:go: )?(?:pattern \S+: |stat \S+: |no Go files in |.*matched no packages|` +
		`go\.mod file not found|.*cannot find main module)`)
	// codeLine is a line about a place in a file. It can quote what is written there.
	codeLine = lazy.New(`(?m)^.*\.go:[0-9]+:[0-9]+: .*$`)
)

// notInstalled are signs that something is missing on this machine. That says nothing about the work.
var notInstalled = []struct{ text, what string }{
	{"toolchain not available", "the version of Go that go.mod asks for is not installed"},
	{"GOTOOLCHAIN=local)", "the version of Go that go.mod asks for is not installed"},
	{"module lookup disabled by GOPROXY=off", "a module could not be downloaded"},
	{"dial tcp", "a module could not be downloaded"},
	{"no such host", "a module could not be downloaded"},
	{"TLS handshake timeout", "a module could not be downloaded"},
	{"no space left on device", "the disk is full"},
	{`C compiler "`, "the C compiler is not installed"},
}

func missing(text string) string {
	if noPackage.Match(text) {
		return "no package of that name was found"
	}
	for _, sign := range notInstalled {
		if strings.Contains(text, sign.text) {
			return sign.what
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
	var doubts []string
	for _, p := range e.sorted() {
		if why := p.doubt(e.noTests); why != "" {
			doubts = append(doubts, p.name+": "+why)
		}
	}
	switch n := len(doubts); {
	case n > 5:
		return verify.Unverified, strings.Join(doubts[:5], "; ") + fmt.Sprintf("; and %d more packages", n-5)
	case n > 0:
		return verify.Unverified, strings.Join(doubts, "; ")
	case r.Passed == 0:
		return verify.Unverified, "no test ran"
	}
	return verify.Met, ""
}

// doubt says why a package that ended well shows nothing, or "".
func (p *pkg) doubt(noTests bool) string {
	passes, skips := 0, 0
	for _, t := range p.tests {
		switch t.result {
		case passed:
			passes++
		case skipped:
			skips++
		}
	}
	switch {
	case p.cached:
		return "the result is an old one (cached)"
	case p.strange != "":
		return p.strange
	case p.unfinished() != "":
		return p.unfinished() + " was started and never ended"
	case p.result == running:
		return "no result was reported"
	case p.result == passed && len(p.tests) == 0 && !noTests && !bytes.Contains(p.output, []byte("no tests to run")):
		return "it ended well without a test"
	case passes == 0 && skips > 0:
		return "all of its tests were skipped"
	}
	return ""
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
