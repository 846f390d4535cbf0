package gowitness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
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

// Look runs the commands of q that are go test ([IsGoTest]), one after another, and returns a fact for each. Total, Passed,
// Failed and Skipped count test functions (tests, fuzz tests, examples), each once. Subtests are named among the failures,
// and counted in Parts. The error is the context's.
func (w *Witness) Look(ctx context.Context, q verify.Query) (verify.Facts, error) {
	var facts verify.Facts
	for _, words := range q.Commands {
		c, ok := parse(words)
		if !ok {
			continue
		}
		r, err := w.run(ctx, c)
		if err != nil {
			return facts, err
		}
		r.Command = slices.Clone(words)
		facts.Runs = append(facts.Runs, r)
	}
	return facts, nil
}

func (w *Witness) run(ctx context.Context, c command) (verify.Run, error) {
	e := newEvents()
	res, err := w.exec(ctx, cmdwitness.Command{Args: c.run, Dir: w.cfg.Dir, Env: w.env(), Timeout: w.cfg.Timeout, Keep: keepBuild, Stdout: e})
	if failed, ok := errors.AsType[*cmdwitness.StartError](err); ok {
		return verify.Run{Status: verify.Unverified, Exit: -1, Why: failed.Error()}, ctx.Err()
	} else if err != nil {
		return verify.Run{}, err
	}
	e.end()
	r := e.tally()
	w.judge(ctx, c, e, res, &r)
	r.Exit, r.Took, r.Output = res.Exit, res.Took, e.shown(r, res)
	return r, ctx.Err()
}

func (w *Witness) env() []string {
	if w.cfg.Env != nil {
		return w.cfg.Env
	}
	env, _ := cmdwitness.Environment{}.Of(os.Environ())
	return env
}

// command is a go test command.
type command struct {
	run    []string // to run every test anew, reported one by one
	list   []string // to ask for the source files of packages, which follow
	folder string   // of -C
	files  []string // Go files that are named instead of packages
	chosen bool     // it chooses tests: those that are left out are not missed
}

// IsGoTest reports whether a command is go test, in any of its spellings.
func IsGoTest(words []string) bool { _, ok := parse(words); return ok }

// Flags of go test that take a value in the next word where they have no "=".
var valued = strings.Fields(`C run skip bench benchtime count cpu parallel timeout fuzz fuzztime fuzzminimizetime fuzzcachedir o exec
	outputdir blockprofile blockprofilerate cpuprofile memprofile memprofilerate mutexprofile mutexprofilefraction trace shuffle vet
	covermode coverpkg coverprofile tags mod modfile overlay p asmflags gccgoflags gcflags ldflags buildmode compiler installsuffix
	pgo pkgdir toolexec list`)

var building = strings.Fields("tags mod modfile overlay race msan asan compiler")

func parse(words []string) (command, bool) {
	if len(words) < 2 || !goProgram.Match(filepath.Base(words[0])) {
		return command{}, false
	}
	var c command
	var chdir, build []string
	i, test := 1, false
	for ; i < len(words); i++ { // "test" and -C, in some order
		name, value, has := flagOf(words[i])
		switch {
		case words[i] == "test" && !test:
			test = true
			continue
		case name == "C" && chdir == nil && has:
			chdir, c.folder = words[i:i+1], value
			continue
		case name == "C" && chdir == nil && i+1 < len(words):
			chdir, c.folder = words[i:i+2], words[i+1]
			i++
			continue
		}
		break
	}
	if !test {
		return command{}, false
	}
	rest := words[i:]
	for j := 0; j < len(rest); j++ {
		name, _, has := flagOf(rest[j])
		if name == "args" {
			break
		}
		n := 1
		if name != "" && !has && slices.Contains(valued, name) && j+1 < len(rest) {
			n = 2
		}
		switch {
		case name == "" && strings.HasSuffix(rest[j], ".go"):
			c.files = append(c.files, rest[j])
		case slices.Contains([]string{"run", "skip", "list", "c", "n"}, name):
			c.chosen = true
		case slices.Contains(building, name):
			build = append(build, rest[j:j+n]...)
		}
		j += n - 1
	}
	c.run = slices.Concat(words[:1], []string{"test"}, chdir, []string{"-json", "-count=1"}, rest)
	c.list = slices.Concat(words[:1], []string{"list"}, chdir, []string{"-e", "-find", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,IgnoredGoFiles"}, build, []string{"--"})
	return c, true
}

// flagOf returns the name and value of a flag, without dashes and the prefix of the flags of a test program.
func flagOf(word string) (name, value string, has bool) {
	if len(word) < 2 || word[0] != '-' {
		return "", "", false
	}
	name, value, has = strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
	return strings.TrimPrefix(name, "test."), value, has
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
