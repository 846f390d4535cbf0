// Command sidecoach reads what a coding agent printed when it paused and prints one decision: show it to the human, or
// send the agent on with this message.
//
// It holds flags, files, the terminal and the wiring; every judgement is made by the packages it calls. Each command has
// a file of its own; decide.go is the one without a name.
//
// # Cost
//
// What a decision about an output of 2 kB takes from start to end, as a multiple of what a Go program takes that only reads
// it, 1.3 ms on a small server; 5 times is the limit:
//
//	English                      3.9
//	German                       4.5
//	Russian, Chinese, Japanese   4.3
//	a stop hook, English         4.6
//
// Two thirds of that is what a larger binary and the libraries do before main; of the rest most is reading the heuristic's
// tables, for German those of all languages in Latin script. Both programs in turn, with the ratio of the medians, by
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
		if p := recover(); p != nil { // left alone it would exit with 2, which hosts of agents read as "block"
			fmt.Fprintf(stderr, "sidecoach: internal error: %v\nhint: please report this, with the lines below\n%s", p, debug.Stack())
			status = exitFailure
		}
	}()
	out := &sink{w: stdout}
	t := detect(stdin, stdout)
	cmd := newDecide(t)
	cmd.AddCommand(newCompletion(), newEval(t), newHook(t), newLog(t), newPrompt(), newReplay(t), newVerify(t))
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

// sink remembers the first error of a writer, for callers that do not look.
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

// failure says what to report: nothing when the reader has simply gone, as head does.
func (s *sink) failure() error {
	if errors.Is(s.err, syscall.EPIPE) || errors.Is(s.err, io.ErrClosedPipe) || errors.Is(s.err, fs.ErrClosed) {
		return exit(exitFailure)
	}
	return badInput("check where standard output goes: a full disk?", "cannot write: %v", cause(s.err))
}
