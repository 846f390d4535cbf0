package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// processEnv tells a test binary that it is to be a worker or a server.
const processEnv = "SIDECOACH_NATS_PROCESS"

// pool is the worker processes. One that ends is replaced.
type pool struct {
	args  []string      // of a worker
	late  *atomic.Int64 // how often a worker sat on a decision
	other string        // the program that every second one is, if not this one

	mu      sync.Mutex
	workers []*exec.Cmd
	killed  int
	ended   int            // by themselves
	spared  *os.Process    // is not killed
	failed  []entry        // outputs that were handed back
	said    map[string]int // what workers could not do, how often
	closed  bool
	all     sync.WaitGroup
}

func (c *pool) start(n int) error {
	c.mu.Lock()
	c.workers = make([]*exec.Cmd, n)
	c.mu.Unlock()
	for i := range n {
		if err := c.hire(i); err != nil {
			return err
		}
	}
	return nil
}

// hire starts a process in the place i.
func (c *pool) hire(i int) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	args := c.args
	if c.other != "" && i%2 == 1 {
		program, args = c.other, args[:3] // what the first of all versions knows
	}
	w := exec.Command(program, args...)
	w.Env = append(os.Environ(), processEnv+"=1")
	w.Stderr = os.Stderr
	out, err := w.StdoutPipe()
	if err == nil {
		_, err = w.StdinPipe() // open for as long as this process lives
	}
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	if err := w.Start(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	c.workers[i] = w
	c.all.Go(func() { c.watch(i, w, out) })
	return nil
}

// watch hears what w says until its end, and replaces it.
func (c *pool) watch(i int, w *exec.Cmd, out io.Reader) {
	for d := json.NewDecoder(out); ; {
		var t trouble
		if d.Decode(&t) != nil {
			break // in the middle of a word, if it was killed
		}
		c.hear(t)
	}
	io.Copy(io.Discard, out)
	err := w.Wait()
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	if wasKilled(w.ProcessState) {
		c.killed++
		err = nil
	} else {
		c.ended++
	}
	c.mu.Unlock()
	if err != nil {
		fmt.Fprintln(os.Stderr, "nats: a worker ended by itself:", err)
		time.Sleep(200 * time.Millisecond) // whatever it was, not at once again
	}
	if err := c.hire(i); err != nil {
		fmt.Fprintln(os.Stderr, "nats:", err)
	}
}

// particulars are what makes two errors of a kind differ.
var particulars = regexp.MustCompile(
	`[0-9a-f]{32,}|[0-9]+(\.[0-9]+){3}(:[0-9]+)?(->[0-9.:]+)?|revision [0-9]+| on connection \[[0-9]+\]`,
)

func (c *pool) hear(t trouble) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case t.Late && c.late != nil:
		c.late.Add(1)
	case t.Attempt != nil:
		c.failed = append(c.failed, *t.Attempt)
	}
	if t.Error == "" {
		return
	}
	if c.said == nil {
		c.said = make(map[string]int)
	}
	c.said[particulars.ReplaceAllString(t.Error, "…")]++
}

// troubles returns what the workers could not do until now as an error.
func (c *pool) troubles() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.said) == 0 {
		return nil
	}
	return errors.New(strings.TrimSpace(troubles(c.said)))
}

// one returns one of the processes.
func (c *pool) one() *os.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.workers[rand.IntN(len(c.workers))].Process
}

// spare keeps p from being killed; nil spares nobody.
func (c *pool) spare(p *os.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spared = p
}

// killing kills one of the workers about every interval, until ctx is done.
func (c *pool) killing(ctx context.Context, interval time.Duration) {
	for pause(ctx, interval/2+rand.N(interval)) {
		p := c.one()
		c.mu.Lock()
		spared := p == c.spared
		c.mu.Unlock()
		if !spared {
			p.Kill()
		}
	}
}

// stop ends the workers. It may be called again.
func (c *pool) stop() {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if !first {
		return
	}
	for _, w := range c.workers {
		if w == nil {
			continue
		}
		continueProcess(w.Process)
		w.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(5*time.Second, func() { w.Process.Kill() })
		defer late.Stop()
	}
	c.all.Wait()
}
