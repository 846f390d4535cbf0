// Command temporal runs sessions of agents as durable workflows of Temporal, see package session. By itself it
// demonstrates that workers may die at any moment: it starts a server and several worker processes, kills workers all
// the time, and then checks the histories and what was done:
//
//	go run .                                       kill workers, then check
//	go run . -address localhost:7233               the same on a server that runs already
//	go run . -reported 1 -agents 0 -outputs 10000 -kill 0      one long session
//
// With a command it is what a host would have:
//
//	temporal worker -outbox DIR -- AGENT ARG…      do the work of sessions; each message is the agent's last argument
//	temporal start NAME [CONFIG.json]              begin a session
//	temporal say NAME TEXT                         speak to its agent
//	temporal state NAME                            what it does, and which approvals wait
//	temporal approve|deny NAME ITEM [REASON]       answer one
//	temporal end NAME                              let it finish
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// usage is a mistake in the command line.
type usage struct{ error }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, stdout, stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, new(usage)):
		fmt.Fprintln(stderr, "temporal:", err)
		return 2
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	fmt.Fprintln(stderr, "temporal:", err)
	return 1
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch name := args[0]; name {
		case "worker":
			return work(ctx, args[1:], stderr)
		case "play":
			return play(args[1:], stdout)
		case "start", "say", "state", "approve", "deny", "end":
			return ask(ctx, name, args[1:], stdout, stderr)
		}
	}
	return demonstrate(ctx, args, stdout, stderr)
}

// where is a server, and what on it is ours.
type where struct{ address, namespace, queue string }

func (w *where) flags(fs *flag.FlagSet) {
	fs.StringVar(&w.address, "address", "localhost:7233", "`host:port` of the Temporal server")
	fs.StringVar(&w.namespace, "namespace", "default", "`name` of the namespace")
	fs.StringVar(&w.queue, "queue", "sidecoach", "`name` of the task queue")
}

func (w where) args() []string {
	return []string{"-address", w.address, "-namespace", w.namespace, "-queue", w.queue}
}

func newFlags(name string, stderr io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	return fs
}

// parse reads flags; of its error the flag package has printed what there is to say.
func parse(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usage{err}
	}
	return nil
}
