// Command sidecoach reads what a coding agent printed when it paused and prints one decision: show it to the human, or
// continue the agent with this message.
//
// It holds flags, files, the terminal and the wiring. The packages that it calls make every judgement. Each command has
// a file of its own; decide.go is the command without a name.
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
	"runtime/debug"
	"syscall"
)

// run is the whole program: it executes args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil { // it would exit with 2, which hosts of agents read as "block"
			fmt.Fprintf(stderr, "sidecoach: internal error: %v\n"+
				"hint: please report this, with the lines below\n%s", p, debug.Stack())
			status = exitFailure
		}
	}()
	out := &sink{w: stdout}
	t := detect(stdin, stdout)
	cmd := newDecide(t)
	cmd.AddCommand(newAllow(t), newCompletion(), newEval(), newGoal(t), newHook(t), newLog(t), newPrompt(), newReplay(t),
		newStatus(t), newVerify(t))
	cmd.SetHelpCommand(newHelp())
	cmd.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	cmd.SetIn(stdin)
	cmd.SetOut(out)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	if out.err != nil {
		err = out.failure()
	}
	status = report(stderr, err)
	if _, ok := ran.Annotations[underHost]; ok && status != 0 {
		return exitFailure
	}
	return status
}

// sink remembers the first error of a writer, for callers that do not check it.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

// failure says what to report: nothing if the reader has gone, as head does.
func (s *sink) failure() error {
	if errors.Is(s.err, syscall.EPIPE) || errors.Is(s.err, io.ErrClosedPipe) || errors.Is(s.err, fs.ErrClosed) {
		return exit(exitFailure)
	}
	return badInput("check where standard output goes: a full disk?", "cannot write: %v", cause(s.err))
}
