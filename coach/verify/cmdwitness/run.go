package cmdwitness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// What a [Command] has where its fields are 0, and the most it may have.
const (
	DefaultTimeout = 10 * time.Minute
	DefaultKeep    = 64 << 10
	maxKeep        = 16 << 20
)

// grace is how long a command that is gone, or was killed, may leave its output open by a process that it started.
const grace = time.Second

// Command is a program to run and its bounds.
type Command struct {
	Args []string // the program and its arguments, as they are: no shell reads them
	Dir  string   // where it runs; must be a folder

	// Env is its whole environment; nil is [Environ] of this process's, and empty is none. The program itself is looked for in
	// this process's PATH.
	Env []string

	Timeout time.Duration // 0 is [DefaultTimeout]; the context can only shorten it
	Keep    int           // how many bytes of the output's end are kept: 0 is [DefaultKeep], at most 16 MiB

	// Stdout gets the standard output, which is not kept then; nil is to keep it. It is written to by one goroutine, and not
	// once Run has returned. An error of it is ignored, and ends the writing.
	Stdout io.Writer
	Stdin  io.Reader // what it reads; nil is nothing
}

// Result is how a run ended.
type Result struct {
	Exit    int           // the exit status; -1 if it has none, which Why then explains
	Why     string        // why it did not end by itself, or was ended by a signal: "it was still running after 10m0s, and was killed"
	Stopped bool          // it did not come to its own end: the time was over, or somebody stopped it
	Held    bool          // processes that it started held its output open after its end: some of it may be missing
	Output  string        // the end of standard output and standard error together, valid UTF-8
	Size    int64         // how many bytes there were of it
	Took    time.Duration // from its start to its end
}

// StartError says that a program could not be started: there is nothing to be learnt from it.
type StartError struct {
	Program string // as it was named
	Err     error  // wraps [exec.ErrNotFound] or [fs.ErrNotExist] if there is no such program, or no such folder
}

func (e *StartError) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return fmt.Sprintf("cmdwitness: %s is not installed, or not in the PATH", e.Program)
	}
	return fmt.Sprintf("cmdwitness: cannot start %s: %v", e.Program, e.Err)
}

// Unwrap returns what the system said.
func (e *StartError) Unwrap() error { return e.Err }

// errTime is the cause of a run that is out of time.
var errTime = errors.New("cmdwitness: out of time")

// Run runs a command to its end, or to its timeout. Then, and when the context ends, it and every process of its group are
// killed, as are those that it leaves behind. It never waits longer than a second for output that others hold open.
//
// How the program fared is in the result. The error is the context's, a [StartError], or says what is wrong with cmd.
func Run(ctx context.Context, cmd Command) (Result, error) {
	if err := cmd.check(); err != nil {
		return Result{}, fmt.Errorf("cmdwitness: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	timeout, keep := cmd.Timeout, cmd.Keep
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	if keep == 0 {
		keep = DefaultKeep
	}
	if info, err := os.Stat(cmd.Dir); err != nil || !info.IsDir() {
		if err == nil {
			err = &fs.PathError{Op: "enter", Path: cmd.Dir, Err: errors.New("not a folder")}
		}
		return Result{}, &StartError{cmd.Args[0], err}
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, errTime)
	defer cancel()

	tail := NewTail(keep)
	c := exec.CommandContext(limited, cmd.Args[0], cmd.Args[1:]...)
	c.Dir, c.Env, c.Stdin = cmd.Dir, cmd.Env, cmd.Stdin
	if c.Env == nil {
		c.Env = Environ(os.Environ())
	}
	if len(c.Env) == 0 {
		c.Env = []string{"PATH="} // exec takes an empty environment for that of this process
	}
	c.Stdout, c.Stderr = tail, tail
	if cmd.Stdout != nil {
		c.Stdout = cmd.Stdout
	}
	g, err := newGroup(c)
	if err != nil {
		return Result{}, &StartError{cmd.Args[0], err}
	}
	defer g.end()
	var killed atomic.Bool
	c.Cancel = func() error {
		killed.Store(true)
		return g.kill()
	}
	c.WaitDelay = grace

	start := time.Now()
	if err := c.Start(); err != nil {
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		return Result{}, &StartError{cmd.Args[0], err}
	}
	if err := g.started(); err != nil { // it goes on alone, and is killed alone
		tail.Write([]byte("cmdwitness: the processes that the command starts cannot be stopped with it\n"))
	}
	err = c.Wait()
	r := Result{
		Exit: c.ProcessState.ExitCode(), Held: errors.Is(err, exec.ErrWaitDelay),
		Output: tail.String(), Size: tail.Total(), Took: time.Since(start),
	}
	if killed.Load() && !c.ProcessState.Success() {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		r.Exit, r.Stopped = -1, true
		r.Why = fmt.Sprintf("it was still running after %v, and was killed", timeout)
		return r, nil
	}
	if name, stopped := signal(c); name != "" {
		r.Exit, r.Stopped, r.Why = -1, stopped, "it was ended by a signal: "+name
	}
	return r, nil
}

func (c Command) check() error {
	switch {
	case len(c.Args) == 0 || c.Args[0] == "":
		return errors.New("no program is named")
	case c.Dir == "":
		return errors.New("the folder to run in is not set")
	case c.Timeout < 0:
		return errors.New("the timeout is negative")
	case c.Keep < 0 || c.Keep > maxKeep:
		return fmt.Errorf("the output that is kept is between 0 and %d bytes", maxKeep)
	}
	return nil
}

// stops reports whether a signal, by its number, is one by which somebody or the system stops a program that has done
// nothing wrong: hangup, interrupt, quit, kill, terminate.
func stops(number int) bool {
	switch number {
	case 1, 2, 3, 9, 15:
		return true
	}
	return false
}
