package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// pool is the worker processes.
type pool struct {
	args    []string
	mu      sync.Mutex
	workers []*exec.Cmd
	killed  int
	closed  bool
	quit    chan struct{}
	killers sync.WaitGroup
}

func newPool(w where, outbox string, seed uint64, sticky time.Duration) *pool {
	args := append([]string{"worker"}, w.args()...)
	return &pool{
		args: append(args, "-outbox", outbox, "-scripted", fmt.Sprint(seed), "-sticky", sticky.String()),
		quit: make(chan struct{}),
	}
}

func (c *pool) start(n int) error {
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

func (c *pool) hire() (*exec.Cmd, error) {
	w, err := self(c.args...)
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return w, nil
}

// killing kills one of the workers about every interval, and starts another in its place.
func (c *pool) killing(ctx context.Context, r *rand.Rand, interval time.Duration) {
	c.killers.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-c.quit:
				return
			case <-time.After(interval/2 + time.Duration(r.Int64N(int64(interval)))):
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
				fmt.Fprintln(os.Stderr, "temporal:", err)
				return
			}
		}
	})
}

// stop ends the workers and returns how many were killed before. It may be called again.
func (c *pool) stop() int {
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
