// Package cmdwitness runs a command that the host names, and reports how it ended and how many tests passed.
//
// [Witness] is a [verify.Witness] that runs the commands of a query. It runs go test with -json and -count=1, so that
// single tests are seen. [Run] runs one program without a shell, without secrets in its environment ([Environment]),
// and with a timeout. [Split] takes a command line apart. [Find] finds the command that tests a project, and [Root]
// the folder where it runs.
//
// # Limits
//
// A command and its children run with the rights of this process. They are stopped, not isolated. When the run or
// this process ends, even by SIGKILL, every process of the command's group is killed. A process that leaves its group
// (setsid) goes on. A program that controls the test run can print anything: gitwitness names files that changed and
// can do so. Benchmarks count where they fail. A go test with -count=0 or -json=false shows nothing.
package cmdwitness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// What a [Command] has where its fields are 0, and the most it may have.
const (
	DefaultTimeout = 10 * time.Minute
	defaultKeep    = 64 << 10
)

// grace is how long output may stay open after the command has ended or was killed.
const grace = time.Second

// Command is a program to run and its bounds.
type Command struct {
	Args    []string      // the program and its arguments; no shell reads them
	Dir     string        // where it runs
	Env     []string      // its whole environment; nil: what the zero [Environment] leaves of this process's
	Timeout time.Duration // 0 is [DefaultTimeout]
	Keep    int           // how many bytes of the output's end are kept: 0 is 64 KiB
	Stdout  io.Writer     // gets the standard output, which is not kept then; an error of it ends the writing
	Stdin   io.Reader     // nil is nothing
	Brief   bool          // it ends soon by itself: it is not killed when this process is killed
}

// Result is how a run ended.
type Result struct {
	Exit    int           // the exit status; -1 if it has none, see Why
	Why     string        // why it did not start, or not end by itself, or which signal ended it
	Stopped bool          // it did not start, or not end by itself: its time was over, or it was stopped
	Output  string        // the end of its output, valid UTF-8
	Took    time.Duration // from its start to its end
}

func cannotStart(program string, err error) Result {
	why := fmt.Sprintf("cannot start %s: %v", program, err)
	if errors.Is(err, exec.ErrNotFound) {
		why = program + " is not installed, or not in the PATH"
	}
	return Result{Exit: -1, Stopped: true, Why: why}
}

// Run runs a command to its end, or to its timeout. Then every process of its group is killed, also when the context or
// this process ends. Run waits at most a second for output that other processes hold open.
//
// The error is the context's, or says what is wrong with cmd.
func Run(ctx context.Context, cmd Command) (Result, error) {
	switch {
	case ctx == nil:
		return Result{}, errors.New("cmdwitness: the context is nil: give context.Background() if there is none")
	case len(cmd.Args) == 0 || cmd.Args[0] == "":
		return Result{}, errors.New("cmdwitness: no program is named")
	case cmd.Dir == "":
		return Result{}, errors.New("cmdwitness: the folder to run in is not set")
	case cmd.Timeout < 0:
		return Result{}, errors.New("cmdwitness: the timeout is negative")
	case cmd.Keep < 0:
		return Result{}, errors.New("cmdwitness: the size of the output that is kept is negative")
	}
	timeout := cmp.Or(cmd.Timeout, DefaultTimeout)
	if info, err := os.Stat(cmd.Dir); err != nil || !info.IsDir() {
		return cannotStart(cmd.Args[0], fmt.Errorf("there is no folder %s", cmd.Dir)), nil
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tail := &tail{max: cmp.Or(cmd.Keep, defaultKeep)}
	c := exec.CommandContext(limited, cmd.Args[0], cmd.Args[1:]...)
	c.Dir, c.Env, c.Stdin = cmd.Dir, cmd.Env, cmd.Stdin
	if c.Env == nil {
		c.Env, _ = Environment{}.Of(os.Environ())
	}
	c.Stdout, c.Stderr = tail, tail
	if cmd.Stdout != nil {
		c.Stdout = cmd.Stdout
	}
	g, err := newGroup(c)
	if err != nil {
		return cannotStart(cmd.Args[0], err), nil
	}
	defer g.end()
	c.Cancel, c.WaitDelay = g.kill, grace
	start := time.Now()
	if err := c.Start(); err != nil && ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	} else if err != nil {
		return cannotStart(cmd.Args[0], err), nil
	}
	unguarded := g.started(cmd.Brief)
	_ = c.Wait()
	if unguarded != nil {
		_, _ = tail.Write([]byte("cmdwitness: the children of the command cannot be stopped with it\n"))
	}
	r := Result{Exit: c.ProcessState.ExitCode(), Output: tail.String(), Took: time.Since(start)}
	name, stopped := signal(c)
	switch {
	case c.ProcessState.Success():
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case limited.Err() != nil:
		r.Exit, r.Stopped, r.Why = -1, true, fmt.Sprintf("it was still running after %v, and was killed", timeout)
	case name != "":
		r.Exit, r.Stopped, r.Why = -1, stopped, "it was ended by a signal: "+name
	}
	return r, nil
}

// Environment says which variables of this process a command gets.
type Environment struct {
	// Pass names variables that are passed in any case, secrets too.
	Pass []string
	// Clean passes only the variables that programs need to find themselves, their caches and the network.
	Clean bool
}

// Of returns what a command gets of an environment such as os.Environ, and the names of the variables that it does not
// get. Secrets are left out, by their names and by their values. An address keeps its host and loses its password. The
// name of an option of git is not a secret.
func (e Environment) Of(environ []string) (env, withheld []string) {
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		if !ok || name == "" || lex("Repository").Has(upper) { // Windows has variables such as "=C:"
			continue
		}
		switch {
		case slices.Contains(e.Pass, name):
			env = append(env, v)
		case e.Clean && !lex("Needed").Has(upper) && !strings.HasPrefix(upper, "LC_"),
			slices.ContainsFunc(strings.Split(strings.TrimPrefix(upper, "GIT_CONFIG_KEY_"), "_"), lex("Secrets").Has):
			withheld = append(withheld, name)
		case lex("Userinfo").Match(value):
			env = append(env, name+"="+lex("Userinfo").Replace(value, "$1$2"))
			withheld = append(withheld, "the password in "+name)
		case plaintext.Redact(value) != value:
			withheld = append(withheld, name)
			if strings.HasPrefix(upper, "GIT_CONFIG_VALUE_") { // git fails if one is missing
				env = append(env, name+"=")
			}
		default:
			env = append(env, v)
		}
	}
	return env, withheld
}

// stops reports whether a signal stops a program from outside, and says nothing about the program:
// hangup, interrupt, quit, kill, terminate.
func stops(number int) bool { return slices.Contains([]int{1, 2, 3, 9, 15}, number) }

// tail is a writer that keeps the last bytes written to it. It never fails.
type tail struct {
	max  int
	kept []byte // at most twice max
	lost bool   // something came before
}

func (t *tail) Write(p []byte) (int, error) {
	t.lost = t.lost || len(t.kept)+len(p) > t.max
	t.kept = appendTail(t.kept, p[max(0, len(p)-t.max):], t.max)
	return len(p), nil
}

// String returns what is kept, as valid UTF-8. If something came before it, it begins at the start of a line where
// there is one.
func (t *tail) String() string {
	s := string(t.kept[max(0, len(t.kept)-t.max):])
	if _, rest, _ := strings.Cut(s, "\n"); t.lost && rest != "" {
		s = rest
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

const maxLine = 16 << 10 // bytes of a command line

var errShell = errors.New("it needs a shell: put it into a script")

// Split splits a command line into words. It knows quotes and backslashes. A line that needs a shell is an error:
// more than one command, a variable, a pattern, a redirection.
func Split(line string) ([]string, error) {
	if len(line) > maxLine || strings.Count(line, "(") > 100 {
		return nil, errors.New("the command is too long")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	switch {
	case err != nil:
		return nil, errors.New("the command cannot be read: is a quote not closed?")
	case len(file.Stmts) == 0:
		return nil, errors.New("the command is empty")
	case len(file.Stmts) > 1:
		return nil, errShell
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	switch {
	case !ok || s.Background || s.Negated || len(s.Redirs) > 0:
		return nil, errShell
	case len(call.Assigns) > 0:
		return nil, errors.New("it sets a variable, which needs a shell: use env, or put it into a script")
	case slices.ContainsFunc(call.Args, needsShell):
		return nil, fmt.Errorf("%w, or quote it", errShell)
	}
	words, err := expand.Fields(&expand.Config{}, call.Args...) // removes quotes; nil would share one configuration
	if err == nil && words[0] == "" {
		err = errors.New("the command is empty")
	}
	return words, err
}

// needsShell reports whether a shell changes more in a word than its quotes.
func needsShell(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, inside := range p.Parts {
				if _, ok := inside.(*syntax.Lit); !ok {
					return true
				}
			}
		case *syntax.Lit:
			if lex("ShellPattern").Match(p.Value) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
