// Package gowitness runs go test and reports which named tests passed.
//
// [New] returns a [verify.Witness] that runs the go test commands of a query, with -json and -count=1. It leaves
// other commands to other witnesses.
//
// A run is Met when at least one named test passed and none failed. It is NotMet when a test or a package failed or
// was not built. It is Unverified when nothing is shown either way: no test, no match, all tests of a package
// skipped, a package that says ok without a test, a test that never ended, go or a module that is not installed, no
// time left.
//
// # Limits
//
// The tests run in a process that the agent's code controls. Code in a TestMain or in an init function can leave
// tests out and can forge results. gitwitness names files that changed in this way as suspects.
//
// Benchmarks count where they fail. A command with -count=0 or -json=false shows nothing.
package gowitness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// Config says where and within which bounds go test runs. Dir is needed.
type Config struct {
	Dir     string
	Env     []string      // the whole environment; nil: what the zero [cmdwitness.Environment] leaves of this process's
	Timeout time.Duration // of one command; 0 is [cmdwitness.DefaultTimeout]
}

// Witness runs the go test commands of a query. It is safe for concurrent use.
type Witness struct {
	cfg  Config
	exec func(context.Context, cmdwitness.Command) (cmdwitness.Result, error)
}

var _ verify.Witness = (*Witness)(nil)

// New returns a witness, or what is wrong with cfg.
func New(cfg Config) (*Witness, error) {
	switch {
	case cfg.Dir == "":
		return nil, errors.New("gowitness: the folder to run in is not set")
	case cfg.Timeout < 0:
		return nil, errors.New("gowitness: the timeout is negative")
	}
	return &Witness{cfg, cmdwitness.Run}, nil
}

// Look runs the commands of q that are go test ([IsGoTest]), one after another, and returns a fact for each. Total,
// Passed, Failed and Skipped count test functions (tests, fuzz tests, examples), each once. Subtests are named among
// the failures, and counted in Parts. The error is the context's.
func (w *Witness) Look(ctx context.Context, q verify.Query) (verify.Facts, error) {
	var facts verify.Facts
	for _, words := range q.Commands {
		at := testWord(words)
		if at < 0 {
			continue
		}
		r, err := w.run(ctx, slices.Insert(slices.Clone(words), at, "-json", "-count=1"))
		if err != nil {
			return facts, err
		}
		r.Command = slices.Clone(words)
		facts.Runs = append(facts.Runs, r)
	}
	return facts, nil
}

func (w *Witness) run(ctx context.Context, args []string) (verify.Run, error) {
	env := w.cfg.Env
	if env == nil {
		env, _ = cmdwitness.Environment{}.Of(os.Environ())
	}
	e := newEvents()
	res, err := w.exec(ctx, cmdwitness.Command{Args: args, Dir: w.cfg.Dir, Env: env, Timeout: w.cfg.Timeout,
		Keep: keepBuild, Stdout: e})
	if failed, ok := errors.AsType[*cmdwitness.StartError](err); ok {
		return verify.Run{Status: verify.Unverified, Exit: -1, Why: failed.Error()}, ctx.Err()
	} else if err != nil {
		return verify.Run{}, err
	}
	e.end()
	e.noTests = slices.ContainsFunc(args, noTests.Match)
	r := e.tally()
	r.Status, r.Why = e.judge(res, r)
	r.Exit, r.Took, r.Output = res.Exit, res.Took, e.shown(r, res)
	return r, ctx.Err()
}

var (
	goProgram = lazy.New(`^go(?:[0-9][0-9.a-z]*)?(?:\.exe)?$`)
	// noTests matches flags with which a package may end well without a test.
	noTests = lazy.New(`^--?(?:test\.)?(?:bench|fuzz|list|c|n)(?:=|$)`)
)

// IsGoTest reports whether a command is go test, in any of its spellings.
func IsGoTest(words []string) bool { return testWord(words) > 0 }

// testWord returns where the flags of go test begin, behind "test" and -C. It is -1 for any other command.
func testWord(words []string) int {
	if len(words) < 2 || !goProgram.Match(filepath.Base(words[0])) {
		return -1
	}
	i, test := 1, false
	for i < len(words) {
		switch dir := strings.TrimLeft(words[i], "-"); {
		case words[i] == "test" && !test:
			test = true
		case dir != words[i] && strings.HasPrefix(dir, "C="):
		case dir != words[i] && dir == "C" && i+1 < len(words):
			i++
		case test:
			return i
		default:
			return -1
		}
		i++
	}
	if !test {
		return -1
	}
	return i
}
