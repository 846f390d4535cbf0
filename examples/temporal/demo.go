package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/examples/temporal/session"
)

// demonstration is what the flags say.
type demonstration struct {
	where
	server   string // a built one
	reported int
	outputs  int
	agents   int
	words    int
	events   int
	workers  int
	seed     uint64
	kill     time.Duration
	limit    time.Duration
}

func demonstrate(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var d demonstration
	fs := newFlags("temporal", stderr)
	d.flags(fs)
	fs.Lookup("address").DefValue = "a server of its own"
	d.address = ""
	fs.StringVar(&d.server, "server", "", "`path` of the server in server, when it is built already")
	fs.IntVar(&d.reported, "reported", 20, "`number` of sessions whose agent runs elsewhere and is reported")
	fs.IntVar(&d.outputs, "outputs", 20, "`number` of outputs of each, reported at least twice")
	fs.IntVar(&d.agents, "agents", 10, "`number` of sessions that run their agent")
	fs.IntVar(&d.words, "words", 6, "`number` of things the human says in each, now and then while the agent works")
	fs.IntVar(&d.events, "events", 200, "`length` of history from which on a run continues as new")
	fs.IntVar(&d.workers, "workers", 4, "`number` of worker processes")
	fs.Uint64Var(&d.seed, "seed", 1, "of the sessions and of the killing, a `number` above 0")
	fs.DurationVar(&d.kill, "kill", time.Second, "kill a worker about that often; 0 is never")
	fs.DurationVar(&d.limit, "limit", 15*time.Minute, "give up after that `time`")
	fs.Usage = func() {
		fmt.Fprintf(
			stderr,
			"temporal [flags] demonstrates; with a command it is what a host would have:\n%sThe flags of the demonstration:\n",
			commands,
		)
		fs.PrintDefaults()
	}
	if err := parse(fs, args); err != nil {
		return err
	}
	if err := d.check(fs.Args()); err != nil {
		return usage{err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d.limit, fmt.Errorf("not done after %v (-limit)", d.limit))
	defer cancel()
	p, err := d.pass(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	return p.report(stdout)
}

func (d demonstration) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unknown command %q: there are worker, start, say, state, approve, deny and end", rest[0])
	case d.reported < 0, d.agents < 0, d.reported+d.agents < 1, d.outputs < 1, d.words < 1, d.workers < 1, d.seed < 1:
		return errors.New("-reported and -agents together, -outputs, -words, -workers and -seed are at least 1")
	case d.kill < 0, d.limit <= 0:
		return errors.New("-kill is not below 0, -limit above 0")
	}
	return d.config(false).Check()
}

// config makes a lost worker be missed soon.
func (d demonstration) config(agent bool) session.Config {
	return session.Config{
		Agent: agent, Events: d.events, Heartbeat: 2 * time.Second, ActLimit: 2 * time.Second, RunLimit: 10 * time.Second,
		RunAttempts: 50,
	}
}

// taskLimit is after which the server gives a task of a workflow to another worker.
const taskLimit = 2 * time.Second

// pass is one run of the demonstration, and what it left.
type pass struct {
	workers   int
	killed    int
	took      time.Duration
	queues    map[string][]autocontinue.Output // of the reported sessions
	words     int                              // of each of the others
	scenarios []scenario
	effects   []session.Effect // of the outbox
}

func (d demonstration) pass(ctx context.Context) (*pass, error) {
	dir, err := os.MkdirTemp("", "sidecoach-temporal-")
	if err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	defer os.RemoveAll(dir)
	prefix := "demo-" + strconv.FormatInt(time.Now().Unix(), 36)
	if d.address == "" {
		prefix = "demo" // alone on its server, so that a seed means the same each time
		if d.server == "" {
			if d.server, err = buildServer(ctx, dir); err != nil {
				return nil, err
			}
		}
		s, err := serve(d.server)
		if err != nil {
			return nil, err
		}
		defer s.stop()
		d.where = s.where
	}
	c, err := d.dial(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	defer c.Close()

	outbox, err := os.MkdirTemp(dir, "outbox")
	if err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	pool := newPool(d.where, outbox, d.seed, 500*time.Millisecond)
	if err := pool.start(d.workers); err != nil {
		return nil, err
	}
	defer pool.stop()
	if d.kill > 0 {
		pool.killing(ctx, rand.New(rand.NewPCG(d.seed, 2)), d.kill)
	}

	p := &pass{workers: d.workers, words: d.words, queues: make(map[string][]autocontinue.Output)}
	runs := make([]client.WorkflowRun, d.reported+d.agents)
	names, first := make([]string, len(runs)), make([]string, len(runs))
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", prefix, i)
		if i < d.reported {
			p.queues[names[i]] = reports(d.seed, names[i], d.outputs)
		}
	}
	start := time.Now()
	group, feeding := errgroup.WithContext(ctx)
	counts := make([]session.Counts, len(runs))
	for i, name := range names {
		group.Go(func() (err error) {
			queue, foreign := p.queues[name]
			if runs[i], err = d.begin(feeding, c, name, d.config(!foreign), taskLimit); err != nil {
				return err
			}
			first[i] = runs[i].GetRunID() // later it is that of the last
			if foreign {
				err = tell(feeding, c, name, queue)
			} else {
				err = d.talk(feeding, c, name)
			}
			if err != nil {
				return err
			}
			if err := runs[i].Get(feeding, &counts[i]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	p.took = time.Since(start)
	p.killed = pool.stop()

	for i, name := range names {
		s, err := read(ctx, c, name, first[i])
		if err != nil {
			return nil, err
		}
		s.counts = counts[i]
		p.scenarios = append(p.scenarios, *s)
	}
	p.effects, err = session.Folder(outbox).Effects()
	return p, err
}

// ahead is how many reports are sent before the session is asked whether it keeps up.
const ahead = 50

// tell reports outputs to a session, and ends it. It waits for a session that does not keep up: a run of a workflow
// takes 10,000 signals at most, and cannot end while they pour in.
func tell(ctx context.Context, c client.Client, name string, queue []autocontinue.Output) error {
	for i, out := range queue {
		if err := c.SignalWorkflow(ctx, workflowID(name), "", session.SignalOutput, out); err != nil {
			return fmt.Errorf("report to %s: %w", name, err)
		}
		for (i+1)%ahead == 0 {
			v, err := state(ctx, c, name)
			if err != nil && ctx.Err() != nil {
				return err
			}
			if err == nil && v.Counts.Outputs > i-ahead {
				break // an error is a worker that was just killed
			}
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return finish(ctx, c, name)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// talk speaks to a session's agent: sometimes at once, so that it is interrupted, sometimes when it has had time.
func (d demonstration) talk(ctx context.Context, c client.Client, name string) error {
	r := lots(d.seed, name)
	for i := range d.words {
		word := session.Word{ID: fmt.Sprint("word-", i), Text: requests[r.IntN(len(requests))]}
		for range 1 + r.IntN(2) { // the chat delivers it twice, now and then
			if err := c.SignalWorkflow(ctx, workflowID(name), "", session.SignalWord, word); err != nil {
				return fmt.Errorf("speak to %s: %w", name, err)
			}
		}
		if err := pause(ctx, time.Duration(r.IntN(2000))*time.Millisecond); err != nil {
			return err
		}
	}
	return finish(ctx, c, name)
}

func finish(ctx context.Context, c client.Client, name string) error {
	if err := c.SignalWorkflow(ctx, workflowID(name), "", session.SignalEnd, nil); err != nil {
		return fmt.Errorf("end %s: %w", name, err)
	}
	return nil
}
