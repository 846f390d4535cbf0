package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// The exit statuses. There is no 2: hosts of agents read it as "block the agent".
const (
	exitFailure  = 1
	exitContinue = 10 // with --exit-code
	exitSuppress = 11 // with --exit-code
	exitUsage    = 64
)

// exit ends the program with a status and without a word.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// failure is an error that a person can act on.
type failure struct {
	status int
	what   string
	hint   string
}

func (f *failure) Error() string { return f.what }

// badInput is what was wrong with an input, a file or the machine, and what to do about it.
func badInput(hint, format string, args ...any) error {
	return &failure{exitFailure, fmt.Sprintf(format, args...), hint}
}

// misuse is what was wrong with the command line, and how it should look.
func misuse(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Sprintf(format, args...), hint}
}

// report prints err, if there is one, and returns the exit status it stands for.
func report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[exit](err); ok {
		return int(e)
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = &failure{exitFailure, err.Error(), "no decision was made: show the agent's output to the human"}
	}
	complain(w, "sidecoach: "+f.what)
	complain(w, "hint: "+f.hint)
	return f.status
}

// complain writes a line to standard error, wrapped where that is a terminal.
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
