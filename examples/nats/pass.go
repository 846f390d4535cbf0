package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// pass is one time that the queue was worked off.
type pass struct {
	workers    int
	sessions   map[string][]autocontinue.Output
	deliveries int
	killed     int
	took       time.Duration
	journal    []entry
	acts       []act
}

// pass feeds the queue, lets the workers work it off, and reads what they left.
func (d demonstration) pass(ctx context.Context, workers int, kill time.Duration) (*pass, error) {
	dir, remove, err := folder(d.keep)
	if err != nil {
		return nil, err
	}
	defer remove()
	s, err := serve(dir)
	if err != nil {
		return nil, err
	}
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	nc, js, err := connect(s.ClientURL())
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	if err := prepare(ctx, js, d.ackWait); err != nil {
		return nil, err
	}

	p := &pass{workers: workers, sessions: make(map[string][]autocontinue.Output, d.sessions)}
	for i := range d.sessions {
		name := fmt.Sprint("session ", i)
		p.sessions[name] = session(d.seed, name, d.outputs)
	}
	if p.deliveries, err = publish(ctx, js, p.sessions); err != nil {
		return nil, err
	}

	start := time.Now()
	c := crew{url: s.ClientURL()}
	if err := c.start(workers); err != nil {
		return nil, err
	}
	defer c.stop()
	if kill > 0 {
		c.killing(ctx, rand.New(rand.NewPCG(d.seed, 2)), kill)
	}
	if err := drained(ctx, js); err != nil {
		return nil, err
	}
	p.took = time.Since(start)
	p.killed = c.stop()

	lines, err := all(ctx, js, journalStream)
	if err == nil {
		p.journal, err = decode[entry](lines)
	}
	if err != nil {
		return nil, err
	}
	if lines, err = all(ctx, js, actStream); err == nil {
		p.acts, err = decode[act](lines)
	}
	return p, err
}

func decode[T any](lines [][]byte) ([]T, error) {
	list := make([]T, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal(line, &list[i]); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	return list, nil
}

// crew is the worker processes.
type crew struct {
	url     string
	mu      sync.Mutex
	workers []*exec.Cmd
	killed  int
	closed  bool
	quit    chan struct{}
	killers sync.WaitGroup
}

func (c *crew) start(n int) error {
	c.quit = make(chan struct{})
	for range n {
		w, err := c.hire()
		if err != nil {
			c.stop()
			return err
		}
		c.workers = append(c.workers, w)
	}
	return nil
}

// hire starts a process of this program.
func (c *crew) hire() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	w := exec.Command(self, "worker", "-server", c.url)
	w.Env = append(os.Environ(), workerEnv+"=1")
	w.Stderr = os.Stderr
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return w, nil
}

// workerEnv tells a test binary that it is to be a worker.
const workerEnv = "SIDECOACH_NATS_WORKER"

// killing kills one of the workers about every interval, and starts another in its place.
func (c *crew) killing(ctx context.Context, r *rand.Rand, interval time.Duration) {
	c.killers.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-c.quit:
				return
			case <-time.After(interval/2 + rand.N(interval)):
			}
			c.mu.Lock()
			i := r.IntN(len(c.workers))
			c.workers[i].Process.Kill()
			c.workers[i].Wait()
			w, err := c.hire()
			if err == nil {
				c.workers[i] = w
				c.killed++
			}
			c.mu.Unlock()
			if err != nil {
				fmt.Fprintln(os.Stderr, "nats:", err)
				return
			}
		}
	})
}

// stop ends the workers and returns how many were killed before. It may be called again.
func (c *crew) stop() int {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if first {
		close(c.quit)
		c.killers.Wait()
		for _, w := range c.workers {
			w.Process.Signal(syscall.SIGTERM)
		}
		for _, w := range c.workers {
			gone := time.AfterFunc(5*time.Second, func() { w.Process.Kill() })
			w.Wait()
			gone.Stop()
		}
	}
	return c.killed
}

func (p *pass) rate() float64 { return float64(p.deliveries) / p.took.Seconds() }

// costs says what the steps of a delivery took.
func (p *pass) costs() string {
	var b strings.Builder
	for _, step := range []struct {
		name string
		of   func(steps) int64
	}{
		{"load", func(s steps) int64 { return s.Load }},
		{"classify", func(s steps) int64 { return s.Classify }},
		{"update", func(s steps) int64 { return s.Update }},
		{"act", func(s steps) int64 { return s.Act }},
	} {
		var took []int64
		for _, e := range p.journal {
			if n := step.of(e.Took); n > 0 {
				took = append(took, n)
			}
		}
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		fmt.Fprintf(&b, "  %-9s median %7.2f ms, 99 %% %7.2f ms (%d times)\n", step.name,
			float64(took[len(took)/2])/1000, float64(took[len(took)*99/100])/1000, len(took))
	}
	return b.String()
}

// report prints what happened, and returns an error when something is wrong with it.
func (p *pass) report(w io.Writer) error {
	races, replayed := 0, 0
	for _, e := range p.journal {
		races += e.Took.Races
		if e.Decision.Replayed {
			replayed++
		}
	}
	continued := 0
	for _, a := range p.acts {
		if a.Action == autocontinue.Continue {
			continued++
		}
	}
	fmt.Fprintf(w, "%d sessions, %d deliveries, %d workers, %d killed, %.1f s, %.0f deliveries a second\n",
		len(p.sessions), p.deliveries, p.workers, p.killed, p.took.Seconds(), p.rate())
	fmt.Fprintf(w, "%d attempts in the journal, %d of them replays, %d lost races; %d acts, %d of them continuations\n%s",
		len(p.journal), replayed, races, len(p.acts), continued, p.costs())
	if err := p.verdict(); err != nil {
		return err
	}
	fmt.Fprintln(w, "every delivery was decided as one process without a crash decides it, and every decision acted on once")
	return nil
}
