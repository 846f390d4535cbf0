package gowitness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

// Options say where and within which bounds go test runs.
type Options struct {
	Dir     string        // the folder to run in
	Timeout time.Duration // 0 is [cmdwitness.DefaultTimeout]
	Keep    int           // bytes of output in the result; 0 is 16 KiB

	// Env is the whole environment of go and of the tests; nil is [cmdwitness.Environ] of this process's, with GOFLAGS set to
	// what changes nothing, since otherwise flags that someone stored with go env -w hold.
	Env []string
}

// Failure is a test that failed, or a package that did without one of its tests failing.
type Failure struct {
	Package string
	Test    string // empty for a package; subtests are named like TestA/case
	Output  string // the end of what it printed
}

// Outcome is what a run of go test shows.
type Outcome struct {
	Verdict Verdict
	Why     string // in words; empty for Passed without reservations

	// How many test functions (tests, fuzz tests and examples) ended how, each counted once by its name, and how many subtests.
	Passed, Failed, Skipped          int
	SubPassed, SubFailed, SubSkipped int
	Packages                         int       // that were reported on
	Mains                            []string  // packages that have a TestMain
	Failures                         []Failure // the first 50
	Output                           string    // what to read: what compilers said, failing tests, the end of the rest; bounded
	Took                             time.Duration
}

// Verdict is what an [Outcome] comes to.
type Verdict string

// The verdicts.
const (
	Unknown Verdict = ""       // nothing is shown: see Why
	Passed  Verdict = "passed" // at least one named test passed, none failed, and none that was meant to run is missing
	Failed  Verdict = "failed" // a test or a package failed, or was not built
)

type runner struct {
	command command
	cfg     Options
}

func (r *runner) environ() []string {
	if r.cfg.Env != nil {
		return r.cfg.Env
	}
	return append(cmdwitness.Environ(os.Environ()), "GOFLAGS=-count=1")
}

// folder returns where go runs, -C included.
func (r *runner) folder() string {
	c := r.command.chdir
	if len(c) == 0 {
		return r.cfg.Dir
	}
	dir := c[len(c)-1]
	if _, value, has := flagOf(dir); has {
		dir = value
	}
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(r.cfg.Dir, dir)
}

// Run runs go test with -json -count=1, and judges what it reports. args is the whole command, as [cmdwitness.Split] gives it.
//
// What could not be learnt is in the outcome, as [Unknown] and why: no go, no time. The error is the context's, or says
// what is wrong with args or opts.
func Run(ctx context.Context, args []string, opts Options) (Outcome, error) {
	c, err := parse(args)
	if err != nil {
		return Outcome{}, err
	}
	if err := opts.check(); err != nil {
		return Outcome{}, err
	}
	if opts.Keep == 0 {
		opts.Keep = 16 << 10
	}
	r := &runner{c, opts}
	e := newEvents()
	res, err := cmdwitness.Run(ctx, cmdwitness.Command{
		Args: c.run(), Dir: opts.Dir, Env: r.environ(), Timeout: opts.Timeout, Keep: keepBuild, Stdout: e,
	})
	if start, ok := errors.AsType[*cmdwitness.StartError](err); ok {
		return Outcome{Why: strings.TrimPrefix(start.Error(), "cmdwitness: ")}, nil
	} else if err != nil {
		return Outcome{}, err
	}
	e.close()
	o := r.judge(ctx, e, res)
	o.Took = res.Took
	o.Output = shown(e, o, res, opts.Keep)
	return o, ctx.Err()
}

// judge says what a run comes to.
func (r *runner) judge(ctx context.Context, e *events, res cmdwitness.Result) Outcome {
	o := tally(e)
	broken, compiled, other := 0, 0, 0 // packages that were not built; of which all imports were there; that failed in another way
	for _, p := range e.sorted() {
		if p.result == failed {
			if p.broken {
				broken++
				if !p.setup {
					compiled++
				}
			} else {
				other++
			}
		}
	}
	text := string(e.build) + e.noise.String() + res.Output
	switch {
	case o.Failed+o.SubFailed > 0:
		o.Verdict, o.Why = Failed, failedWords(o)
	case res.Why != "":
		o.Why = "go test did not come to its end: " + res.Why
	case other > 0:
		o.Verdict, o.Why = Failed, failedWords(o)
	case e.over != "":
		o.Why = e.over
	case compiled > 0 && lacking(placed().ReplaceAllString(text, "")) == "":
		o.Verdict, o.Why = Failed, fmt.Sprintf("%s not built", plural(broken, "package was", "packages were"))
	case broken > 0 && lacking(text) != "":
		o.Why = lacking(text)
	case broken > 0:
		o.Verdict, o.Why = Failed, fmt.Sprintf("%s not built", plural(broken, "package was", "packages were"))
	case res.Exit != 0 && strings.Contains(text, "errors parsing go.mod"):
		o.Verdict, o.Why = Failed, "go.mod cannot be read"
	case res.Exit != 0 && lacking(text) != "":
		o.Why = lacking(text)
	case res.Exit != 0:
		o.Why = fmt.Sprintf("go test ended with exit status %d and no test that failed", res.Exit)
	default:
		r.doubt(ctx, e, &o)
	}
	return o
}

// nowhere is what go says of a pattern that names no package.
var nowhere = compiled(`(?m)^(?:go: )?(?:pattern \S+: |stat \S+: |no Go files in |.*matched no packages)`)

// placed is a line about a place in a file, which can quote what is written there.
var placed = compiled(`(?m)^.*\.go:[0-9]+:[0-9]+: .*$`)

// lacking names what is not there to build the tests, which says nothing of the work.
func lacking(text string) string {
	if nowhere().MatchString(text) {
		return "no package of that name was found"
	}
	for _, sign := range []struct{ text, what string }{
		{"toolchain not available", "the version of Go that go.mod asks for is not installed"},
		{"GOTOOLCHAIN=local)", "the version of Go that go.mod asks for is not installed"},
		{"module lookup disabled by GOPROXY=off", "a module could not be downloaded"},
		{"dial tcp", "a module could not be downloaded"},
		{"no such host", "a module could not be downloaded"},
		{"TLS handshake timeout", "a module could not be downloaded"},
		{"no space left on device", "the disk is full"},
		{`C compiler "`, "the C compiler is not installed"},
	} {
		if strings.Contains(text, sign.text) {
			return sign.what
		}
	}
	return ""
}

// tally counts what was reported.
func tally(e *events) Outcome {
	var o Outcome
	o.Packages = len(e.packages)
	for _, p := range e.sorted() {
		f, s := p.counts()
		o.Passed, o.Failed, o.Skipped = o.Passed+f.passed, o.Failed+f.failed, o.Skipped+f.skipped
		o.SubPassed, o.SubFailed, o.SubSkipped = o.SubPassed+s.passed, o.SubFailed+s.failed, o.SubSkipped+s.skipped
		names := p.failures()
		for _, name := range names {
			if len(o.Failures) < cmdwitness.MaxFailures {
				o.Failures = append(o.Failures, Failure{p.name, name, p.tests[name].kept})
			}
		}
		if p.result == failed && len(names) == 0 && len(o.Failures) < cmdwitness.MaxFailures {
			o.Failures = append(o.Failures, Failure{p.name, "", p.output.String()})
		}
	}
	return o
}

func failedWords(o Outcome) string {
	if n := o.Failed + o.SubFailed; n == 0 {
		return "a package failed without a test of its own that failed"
	}
	return plural(o.Failed, "test", "tests") + " failed"
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
