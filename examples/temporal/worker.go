package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/examples/temporal/session"
)

// workerConfig is what the flags of a worker say.
type workerConfig struct {
	outbox string
	dir    string
	model  string
	seed   uint64
	sticky time.Duration
}

// work is a worker process: it does what sessions need until ctx is done.
func work(ctx context.Context, args []string, stderr io.Writer) error {
	var (
		w where
		s workerConfig
	)
	fs := newFlags("temporal worker", stderr)
	w.flags(fs)
	fs.StringVar(&s.outbox, "outbox", "", "`folder` that gets a file for each thing that is done")
	fs.StringVar(&s.dir, "dir", "", "`folder` in which the agent works; by default the worker's")
	fs.StringVar(&s.model, "model", "",
		"`name` of the model for sessions that ask for one, at OPENAI_BASE_URL with OPENAI_API_KEY")
	fs.Uint64Var(&s.seed, "scripted", 0, "play the agent of the demonstration with that `seed`")
	fs.DurationVar(&s.sticky, "sticky", 5*time.Second,
		"after that `time` a session goes to another worker when this one does not answer")
	if err := parse(fs, args); err != nil {
		return err
	}
	if s.outbox == "" {
		return usage{errors.New("worker: -outbox is required: what is delivered has to go somewhere")}
	}
	if err := os.MkdirAll(s.outbox, 0o777); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	a, err := s.activities(fs.Args())
	if err != nil {
		return err
	}
	c, err := w.dial(ctx, stderr)
	if err != nil {
		return err
	}
	defer c.Close()
	pool := worker.New(c, w.queue,
		worker.Options{StickyScheduleToStartTimeout: s.sticky, WorkerStopTimeout: 10 * time.Second})
	if err := session.Register(pool, a); err != nil {
		return err
	}
	if err := pool.Start(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	<-ctx.Done()
	pool.Stop()
	return nil
}

// activities puts together what the flags ask for.
func (s workerConfig) activities(command []string) (session.Activities, error) {
	a := session.Activities{Outbox: session.Folder(s.outbox), Tools: map[string]session.Tool{}}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return a, err
	}
	if a.Judge, err = autocontinue.New(autocontinue.Config{Classifier: heuristic}); err != nil {
		return a, err
	}
	switch {
	case s.seed != 0:
		a.Agent = actor(s.seed)
	case len(command) > 0:
		a.Agent = session.Process{Command: command, Dir: s.dir, Env: os.Environ()}
	}
	if s.model == "" {
		return a, nil
	}
	endpoint, err := llm.NewClient(llm.Config{
		Model: s.model, Key: os.Getenv("OPENAI_API_KEY"), BaseURL: os.Getenv("OPENAI_BASE_URL"),
		Retries: -1, // the engine's retries, see session.ActivityAskModel
	})
	if err != nil {
		return a, err
	}
	judge, err := llm.New(endpoint, llm.Options{Heuristic: heuristic})
	if err != nil {
		return a, err
	}
	a.Model, err = autocontinue.New(autocontinue.Config{Classifier: judge})
	return a, err
}
