// Command nats lets several worker processes handle one queue of agent outputs, while it kills them at random, and then
// checks that nothing was lost, doubled or continued too often. The queue, the sessions' states and the journal are in
// one NATS JetStream server, which it starts itself:
//
//	go run . -sessions 500 -outputs 20 -workers 4        kill workers all the time, then check
//	go run . -fault server,slow                           the server is gone now and then, the network is bad: -h has them all
//	go run . -throughput                                  1, 2 and 4 workers, nobody is killed: what a step costs
//
// How it holds together: the queue is cut into partitions by session, and of each partition one output at a time is out
// (MaxAckPending 1), so that a session's outputs stay in order. A worker decides, which writes the session's state with
// compare-and-set (package natskv), acts under the decision's ID, which the server takes once, notes both in the
// journal and then acknowledges. What it cannot decide about, because the store is not to be had, it hands back to the
// queue. Wherever it dies, the output comes again, gets the decision that was recorded, and is acted on under the same
// ID.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
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
	faults            map[string]bool
	down              time.Duration
	with              string // the program of every second worker
	keep              string // folder of the server's files; empty is a temporary one
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	processes := map[string]func(context.Context, []string) error{"worker": work, "server": serve}
	if len(args) > 0 && processes[args[0]] != nil {
		ctx, orphaned := context.WithCancel(ctx)
		defer orphaned()
		go func() { io.Copy(io.Discard, os.Stdin); orphaned() }() // its end is that of whoever started this
		if err := processes[args[0]](ctx, args[1:]); err != nil && ctx.Err() == nil {
			fmt.Fprintf(stderr, "nats %s: %v\n", args[0], err)
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
	flags.Uint64Var(&d.seed, "seed", 1, "of the sessions: the same `number` feeds the same outputs")
	flags.DurationVar(&d.kill, "kill", 250*time.Millisecond, "kill a worker about that often; 0 is never")
	flags.DurationVar(&d.ackWait, "ack-wait", 2*time.Second, "after that `time` an output comes to another worker")
	flags.DurationVar(&d.limit, "limit", 10*time.Minute, "give up after that `time`")
	flags.BoolVar(&d.throughput, "throughput", false, "measure 1, 2 and 4 workers instead, without killing")
	list := flags.String("fault", "",
		"what goes wrong besides: `names` from below with commas between, or all but crowd as \"all\"")
	flags.DurationVar(&d.down, "down", 10*time.Second, "how long the server is gone, or something full")
	flags.StringVar(&d.with, "with", "",
		"every second worker is that `program`: a build of this one with another version of the library")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: go run . [flags]")
		flags.PrintDefaults()
		fmt.Fprintf(stderr, "\nWhat can go wrong (-fault), again and again:\n%s", faultHelp())
	}
	flags.StringVar(&d.keep, "dir", "", "keep the server's files in that `folder`")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	var err error
	if d.faults, err = chosenFaults(*list); err == nil {
		err = d.check(flags.Args())
	}
	if err != nil {
		fmt.Fprintln(stderr, "nats:", err)
		return 2
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d.limit, fmt.Errorf("not done after %v (-limit)", d.limit))
	defer cancel()
	if err := d.run(ctx, stdout); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = errors.Join(cause, err)
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
	case d.down < 500*time.Millisecond:
		return errors.New("-down is at least 500ms: what is shorter nobody notices")
	case d.faults["crowd"] && d.outputs > 60:
		return errors.New(
			"-fault crowd takes at most 60 -outputs: a state remembers 64 texts of a turn, and the last turn is a long one",
		)
	case d.throughput && (len(d.faults) > 0 || d.with != ""):
		return errors.New("-throughput measures without -fault and -with")
	case d.ackWait < 100*time.Millisecond:
		return errors.New("-ack-wait is at least 100ms: shorter than handling an output takes, it comes again and again")
	}
	return nil
}

// run does what the flags say, and returns an error when it could not, or when what it saw is wrong.
func (d demonstration) run(ctx context.Context, stdout io.Writer) error {
	if !d.throughput {
		p, err := d.pass(ctx, d.workers, partitions)
		if err != nil {
			return err
		}
		return p.report(stdout)
	}
	d.kill = 0
	fmt.Fprintf(
		stdout,
		"%d sessions of %d outputs, every output delivered at least twice; %d processors for the workers, the server "+
			"and its disk\n\n",
		d.sessions,
		d.outputs,
		runtime.NumCPU(),
	)
	var base float64
	for _, c := range []struct{ workers, atOnce int }{{1, 1}, {1, partitions}, {2, partitions}, {4, partitions}} {
		p, err := d.pass(ctx, c.workers, c.atOnce)
		if err != nil {
			return err
		}
		if err := p.verdict(); err != nil {
			return err
		}
		name, factor := fmt.Sprintf("%d worker(s), up to %d deliveries each at the same time", c.workers, c.atOnce), ""
		switch {
		case c.atOnce == 1:
			name = "1 worker, one delivery after another"
		case base == 0:
			base = p.rate()
			fallthrough
		default:
			factor = fmt.Sprintf(", x%.2f", p.rate()/base)
		}
		fmt.Fprintf(stdout, "%s: %.0f deliveries a second%s\n%s\n", name, p.rate(), factor, p.costs())
	}
	return nil
}
