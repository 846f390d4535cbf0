// Command nats lets several worker processes handle one queue of agent outputs, while it kills them at random, and then
// checks that nothing was lost, doubled or continued too often. The queue, the sessions' states and the journal are in one NATS JetStream
// server, which it starts itself:
//
//	go run . -sessions 500 -outputs 20 -workers 4        kill workers all the time, then check
//	go run . -throughput                                  1, 2 and 4 workers, nobody is killed: what a step costs
//
// How it holds together: the queue is cut into partitions by session, and of each partition one output at a time is out
// (MaxAckPending 1), so that a session's outputs stay in order. A worker decides, which writes the session's state with
// compare-and-set (package natskv), acts under the decision's ID, which the server takes once, notes both in the journal and
// then acknowledges. Wherever it dies, the output comes again, gets the decision that was recorded, and is acted on under
// the same ID.
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
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// demonstration is what the flags say.
type demonstration struct {
	sessions, outputs int
	workers           int
	seed              uint64
	kill              time.Duration // a worker is killed about that often; 0 is never
	ackWait           time.Duration
	limit             time.Duration
	throughput        bool
	keep              string // folder of the server's files; empty is a temporary one
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "worker" {
		if err := work(ctx, args[1:]); err != nil && ctx.Err() == nil {
			fmt.Fprintln(stderr, "nats worker:", err)
			return 1
		}
		return 0
	}
	var d demonstration
	flags := flag.NewFlagSet("nats", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&d.sessions, "sessions", 500, "`number` of sessions")
	flags.IntVar(&d.outputs, "outputs", 20, "`number` of outputs of a session, each delivered at least twice")
	flags.IntVar(&d.workers, "workers", 4, "`number` of worker processes")
	flags.Uint64Var(&d.seed, "seed", 1, "of the sessions and of the killing; the same `number` feeds the same outputs")
	flags.DurationVar(&d.kill, "kill", 250*time.Millisecond, "kill a worker about that often; 0 is never")
	flags.DurationVar(&d.ackWait, "ack-wait", 2*time.Second, "after that `time` an output comes to another worker")
	flags.DurationVar(&d.limit, "limit", 10*time.Minute, "give up after that `time`")
	flags.BoolVar(&d.throughput, "throughput", false, "measure 1, 2 and 4 workers instead, without killing")
	flags.StringVar(&d.keep, "dir", "", "keep the server's files in that `folder`")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if err := d.check(flags.Args()); err != nil {
		fmt.Fprintln(stderr, "nats:", err)
		return 2
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d.limit, fmt.Errorf("not done after %v (-limit)", d.limit))
	defer cancel()
	err := d.run(ctx, stdout)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		fmt.Fprintln(stderr, "nats:", err)
		return 1
	}
	return 0
}

func (d demonstration) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q: everything is a flag, see -h", rest[0])
	case d.sessions < 1, d.outputs < 1, d.workers < 1:
		return errors.New("-sessions, -outputs and -workers are at least 1")
	case d.kill < 0, d.limit <= 0:
		return errors.New("-kill is not below 0, -limit above 0")
	case d.ackWait < 100*time.Millisecond:
		return errors.New("-ack-wait is at least 100ms: shorter than handling an output takes, it comes again and again")
	}
	return nil
}

// run does what the flags say, and returns an error when it could not, or when what it saw is wrong.
func (d demonstration) run(ctx context.Context, stdout io.Writer) error {
	if !d.throughput {
		p, err := d.pass(ctx, d.workers, d.kill)
		if err != nil {
			return err
		}
		return p.report(stdout)
	}
	fmt.Fprintf(stdout, "%d sessions of %d outputs, every output delivered at least twice\n\n", d.sessions, d.outputs)
	var base float64
	for _, workers := range []int{1, 2, 4} {
		p, err := d.pass(ctx, workers, 0)
		if err != nil {
			return err
		}
		if err := p.verdict(); err != nil {
			return err
		}
		rate := p.rate()
		if base == 0 {
			base = rate
		}
		fmt.Fprintf(stdout, "%d worker(s): %6.0f deliveries a second, x%.2f\n%s\n", workers, rate, rate/base, p.costs())
	}
	return nil
}
