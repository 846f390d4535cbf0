// Command sidecoach reads what a coding agent printed when it paused and prints one decision: show it to the human, or
// continue the agent with this message.
//
// It holds flags, files, the terminal and the wiring. The packages that it calls make every judgement. Each command has
// a file; status is with log, allow with goal, and decide.go is the command without a name. The help is in the folder
// help, and the texts of tables are in views.txt.
//
// # Cost
//
// A stop hook takes a median of less than 25 ms on two cores from start to end, when it has nothing to wait for.
// Measure it on your machine, in each language:
//
//	go test ./cmd/sidecoach -run '^$' -bench Process
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that went away is a failed write, not a death
	if len(os.Args) > 1 && os.Args[1] == "hook" {
		debug.SetGCPercent(400) // a host waits for the hook, which uses little memory
		debug.SetMemoryLimit(128 << 20)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: it executes args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil { // it would exit with 2, which hosts of agents read as "block"
			fmt.Fprintf(stderr, "sidecoach: internal error: %v\n"+
				"hint: please report this, with the lines below\n%s", p, debug.Stack())
			status = exitFailure
		}
	}()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := &sink{w: stdout, stop: stop}
	t := detect(stdin, stdout)
	cmd := newDecide(t)
	cmd.AddCommand(newAllow(t), newEval(), newGoal(t), newHook(t), newLog(t), newPrompt(), newReplay(t),
		newStatus(t), newVerify(t))
	document(cmd)
	cmd.AddCommand(topics()...)
	cmd.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	cmd.SetIn(stdin)
	cmd.SetOut(out)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	switch {
	case errors.Is(out.err, syscall.EPIPE), errors.Is(out.err, io.ErrClosedPipe), errors.Is(out.err, fs.ErrClosed):
		err = exit(exitFailure) // the reader has gone, as head does
	case out.err != nil:
		err = badInput("check where standard output goes: a full disk?", "cannot write: %v", cause(out.err))
	}
	status = report(stderr, ran, err)
	if _, ok := ran.Annotations[underHost]; ok && status != 0 {
		return exitFailure
	}
	return status
}

// sink remembers the first error of a writer, and then stops the command. So nobody else has to check it.
type sink struct {
	w    io.Writer
	stop context.CancelFunc
	err  error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err == nil {
		if _, s.err = s.w.Write(p); s.err != nil {
			s.stop()
		}
	}
	return len(p), s.err
}

// The exit statuses. There is no 2: hosts of agents read it as "block the agent".
const (
	exitDone       = 0
	exitFailure    = 1
	exitContinue   = 10 // with --exit-code: the agent goes on, by a message or with the feedback of verify
	exitUnmet      = 10 // of eval: a requirement on the figures is not met
	exitSuppress   = 11 // with --exit-code
	exitUnverified = 12 // of verify with --exit-code
	exitUsage      = 64
)

type failure struct {
	status int
	what   string // "" is not printed
	hint   string
}

func (f *failure) Error() string { return f.what }

// exit ends the program with a status, which may be 0, and prints nothing.
func exit(status int) error { return &failure{status: status} }

// badInput is about an input, a file or the machine, and misuse about the command line. The hint says what to do.
func badInput(hint, format string, args ...any) error {
	return &failure{exitFailure, fmt.Sprintf(format, args...), hint}
}

func misuse(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Sprintf(format, args...), hint}
}

// report prints err and returns the exit status. An error that is not ours is cobra's, about the command line.
func report(w io.Writer, cmd *cobra.Command, err error) int {
	f, ok := errors.AsType[*failure](err)
	switch {
	case err == nil:
		return exitDone
	case !ok:
		f = &failure{exitUsage, err.Error(), cmd.CommandPath() + " --help shows how it is used"}
	case f.what == "":
		return f.status
	}
	complain(w, "sidecoach: "+f.what)
	complain(w, "hint: "+f.hint)
	return f.status
}

// complain writes a line to standard error, without secrets, wrapped where that is a terminal.
func complain(w io.Writer, line string) {
	for _, part := range wrap(visible(line), widthOf(w)) {
		fmt.Fprintf(w, "%s\n", part)
	}
}

// cause returns what the system said, without the name of the call and of the file.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
