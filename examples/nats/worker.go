package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/examples/nats/natskv"
)

// steps is what one delivery cost, in microseconds.
type steps struct {
	Load     int64 `json:"load,omitempty"`
	Classify int64 `json:"classify,omitempty"`
	Update   int64 `json:"update,omitempty"`
	Races    int   `json:"races,omitempty"` // updates begun again
	Act      int64 `json:"act,omitempty"`
}

type stepsKey struct{}

// add adds the time since start to the step that at chooses, if the context's delivery is measured.
func add(ctx context.Context, start time.Time, at func(*steps) *int64) {
	if s, ok := ctx.Value(stepsKey{}).(*steps); ok {
		*at(s) += time.Since(start).Microseconds()
	}
}

// timed measures a store.
type timed struct{ autocontinue.Store }

func (t timed) Load(ctx context.Context, session string) (autocontinue.State, error) {
	defer add(ctx, time.Now(), func(s *steps) *int64 { return &s.Load })
	return t.Store.Load(ctx, session)
}

func (t timed) Update(ctx context.Context, session string, fn func(autocontinue.State) (autocontinue.State, error)) error {
	defer add(ctx, time.Now(), func(s *steps) *int64 { return &s.Update })
	calls := 0
	return t.Store.Update(ctx, session, func(old autocontinue.State) (autocontinue.State, error) {
		if calls++; calls > 1 {
			if s, ok := ctx.Value(stepsKey{}).(*steps); ok {
				s.Races++
			}
		}
		return fn(old)
	})
}

// work is a worker process: it takes deliveries of all partitions until ctx is done.
func work(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("nats worker", flag.ContinueOnError)
	url := flags.String("server", nats.DefaultURL, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	nc, js, err := connect(*url)
	if err != nil {
		return err
	}
	defer nc.Close()
	kv, err := js.KeyValue(ctx, bucketName)
	if err != nil {
		return fmt.Errorf("bucket: %w", err)
	}
	h, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	ac, err := autocontinue.New(autocontinue.Config{
		Store: timed{natskv.New(kv, natskv.Options{})},
		Classifier: classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
			defer add(ctx, time.Now(), func(s *steps) *int64 { return &s.Classify })
			return h.Classify(ctx, in)
		}),
	})
	if err != nil {
		return err
	}
	w := worker{js: js, ac: ac, pid: os.Getpid()}
	var wg sync.WaitGroup
	for p := range partitions {
		wg.Go(func() { w.take(ctx, p) })
	}
	wg.Wait()
	return nil
}

type worker struct {
	js  jetstream.JetStream
	ac  *autocontinue.AutoContinue
	pid int
}

// take handles the deliveries of a partition, one after another.
func (w worker) take(ctx context.Context, p int) {
	for ctx.Err() == nil {
		err := w.takeSome(ctx, p)
		if err != nil && ctx.Err() == nil {
			log.Printf("partition %d: %v", p, err)
			pause(ctx, 200*time.Millisecond)
		}
	}
}

func (w worker) takeSome(ctx context.Context, p int) error {
	c, err := w.js.Consumer(ctx, outputStream, consumerName(p))
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		m, err := c.Next(jetstream.FetchContext(ctx))
		if errors.Is(err, nats.ErrTimeout) {
			continue
		}
		if err != nil {
			return err
		}
		if err := w.handle(ctx, m); err != nil {
			// Nothing was shown yet, so the same output may be handed in again, by whomever.
			return errors.Join(err, m.NakWithDelay(100*time.Millisecond))
		}
	}
	return nil
}

// handle decides, acts, notes both, and only then lets go of the delivery.
func (w worker) handle(ctx context.Context, m jetstream.Msg) error {
	var in delivery
	if err := json.Unmarshal(m.Data(), &in); err != nil {
		return errors.Join(fmt.Errorf("delivery: %w", err), m.Term())
	}
	e := entry{Session: in.Output.Session, At: in.At, Worker: w.pid}
	d, err := w.ac.Handle(context.WithValue(ctx, stepsKey{}, &e.Took), in.Output)
	if err != nil {
		return err
	}
	e.Decision = d
	start := time.Now()
	if err := w.act(ctx, in.Output, d); err != nil {
		return err
	}
	e.Took.Act = time.Since(start).Microseconds()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := w.js.Publish(ctx, "journal", line); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return m.Ack()
}

// act does what was decided. A message to the agent and one to the human are one here: a line of a stream that takes each
// decision's ID once.
func (w worker) act(ctx context.Context, out autocontinue.Output, d autocontinue.Decision) error {
	if d.Action == autocontinue.Suppress {
		return nil
	}
	line, err := json.Marshal(act{Session: out.Session, Turn: out.Turn, Run: out.Run, Decision: d.ID, Action: d.Action, Message: d.Message})
	if err != nil {
		return err
	}
	if _, err := w.js.Publish(ctx, "acts", line, jetstream.WithMsgID(d.ID)); err != nil {
		return fmt.Errorf("act: %w", err)
	}
	return nil
}

// act is one thing that was done.
type act struct {
	Session  string              `json:"session"`
	Turn     string              `json:"turn"`
	Run      string              `json:"run"`
	Decision string              `json:"decision"`
	Action   autocontinue.Action `json:"action"`
	Message  string              `json:"message,omitempty"`
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
