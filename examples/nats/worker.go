package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/examples/nats/natskv"
)

// steps is what one delivery cost, in microseconds.
type steps struct {
	Load     int64 `json:"load,omitempty"`
	Classify int64 `json:"classify,omitempty"`
	Update   int64 `json:"update,omitempty"`
	Races    int   `json:"races,omitempty"` // updates begun again
	Act      int64 `json:"act,omitempty"`
	Journal  int64 `json:"journal,omitempty"` // of the delivery before, which could not say so itself
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

func (t timed) Update(ctx context.Context, session string,
	fn func(autocontinue.State) (autocontinue.State, error)) error {
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
	atOnce := flags.Int("at-once", partitions, "")
	late := flags.Int("late", 0, "")
	patience := flags.Uint64("patience", 100, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	nc, js, err := connect(*url)
	if err != nil {
		return err
	}
	defer nc.Close()
	kv, err := js.KeyValue(ctx, bucketName)
	for err != nil && pause(ctx, 200*time.Millisecond) { // the server is down
		kv, err = js.KeyValue(ctx, bucketName)
	}
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
	w := worker{js: js, ac: ac, pid: os.Getpid(), late: *late, patience: *patience, turns: make(chan struct{}, *atOnce)}
	var wg sync.WaitGroup
	for p := range partitions {
		wg.Go(func() { w.take(ctx, p) })
	}
	wg.Wait()
	return nil
}

type worker struct {
	js   jetstream.JetStream
	ac   *autocontinue.AutoContinue
	pid  int
	late int // one decision in that many is acted on late; 0 is none

	// patience is how often an output is handed back because a newer version wrote its session's state. While workers are
	// replaced by newer ones, another one takes it.
	patience uint64
	turns    chan struct{} // as many deliveries are handled at the same time as it has room

	journalled atomic.Int64 // what the line before took
	mu         sync.Mutex   // of the standard output
}

// take handles the deliveries of a partition, one after another.
func (w *worker) take(ctx context.Context, p int) {
	for ctx.Err() == nil {
		err := w.takeSome(ctx, p)
		if err != nil && ctx.Err() == nil {
			w.say(trouble{Error: err.Error()})
			pause(ctx, 200*time.Millisecond)
		}
	}
}

func (w *worker) takeSome(ctx context.Context, p int) error {
	c, err := w.js.Consumer(ctx, outputStream, consumerName(p))
	if err != nil {
		return err
	}
	ackWait := c.CachedInfo().Config.AckWait
	for ctx.Err() == nil {
		m, err := c.Next(jetstream.FetchContext(ctx))
		if errors.Is(err, nats.ErrTimeout) {
			continue
		}
		if err != nil {
			return err
		}
		w.turns <- struct{}{}
		err = w.handle(ctx, m, ackWait)
		<-w.turns
		if err != nil {
			// Nothing was shown yet, so the same output may be handed in again, by whomever. If that cannot be said either, it
			// comes again after ackWait.
			m.NakWithDelay(100 * time.Millisecond)
			return err
		}
	}
	return nil
}

// handle decides, acts, notes both, and only then lets go of the delivery.
func (w *worker) handle(ctx context.Context, m jetstream.Msg, ackWait time.Duration) error {
	stop := hold(ctx, m, ackWait)
	defer stop()
	meta, err := m.Metadata()
	if err != nil {
		return fmt.Errorf("delivery: %w", err)
	}
	var in delivery
	if err := json.Unmarshal(m.Data(), &in); err != nil {
		// It cannot get better. The human sees it as it is.
		a := act{
			Decision: fmt.Sprint("unreadable ", meta.Sequence.Stream),
			Action:   autocontinue.Deliver,
			Message:  string(m.Data()),
		}
		if _, err := w.act(ctx, a); err != nil {
			return err
		}
		return m.Ack()
	}
	e := entry{Session: in.Output.Session, At: in.At, Worker: w.pid}
	d, err := w.ac.Handle(context.WithValue(ctx, stepsKey{}, &e.Took), in.Output)
	e.Decision = d
	if err != nil {
		e.Error = err.Error()
		if e.Shown = w.hopeless(err, meta.NumDelivered); !e.Shown {
			w.say(trouble{Attempt: &e})
			return err
		}
	}
	if w.late > 0 && rand.IntN(w.late) == 0 {
		w.say(trouble{Late: true})
		stop()
		pause(ctx, ackWait+ackWait/4)
	}
	start := time.Now()
	if d.Action != autocontinue.Suppress {
		a := act{
			Session: in.Output.Session, Turn: in.Output.Turn, Run: in.Output.Run, Output: in.Output.ID,
			Decision: d.ID, Action: d.Action, Message: d.Message,
		}
		if e.Again, err = w.act(ctx, a); err != nil {
			return err
		}
	}
	e.Took.Act = time.Since(start).Microseconds()
	if err := w.note(ctx, e); err != nil {
		return err
	}
	return m.Ack()
}

// hopeless reports whether an output that failed with err should be shown to the human rather than handed in again. A
// store that is busy or cannot be reached will not stay so; a host whose human can be reached when its store cannot may
// want to give that up after some time too.
func (w *worker) hopeless(err error, delivered uint64) bool {
	switch {
	case errors.Is(err, autocontinue.ErrConflict), errors.Is(err, autocontinue.ErrUnavailable),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.Is(err, autocontinue.ErrStateVersion):
		return delivered > w.patience
	}
	return true
}

// hold keeps the server from giving a delivery to another worker while this one is at it, until stop is called, which
// may be called again.
func hold(ctx context.Context, m jetstream.Msg, ackWait time.Duration) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		for pause(ctx, ackWait/3) {
			m.InProgress()
		}
	}()
	return stop
}

// act does what was decided. A message to the agent and one to the human are one here: a line of a stream that takes
// each decision's ID once. It returns whether it had been taken before.
func (w *worker) act(ctx context.Context, a act) (again bool, err error) {
	a.fit()
	line, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	ack, err := w.js.Publish(ctx, "acts", line, jetstream.WithMsgID(a.Decision))
	if err != nil {
		return false, fmt.Errorf("act: %w", err)
	}
	return ack.Duplicate, nil
}

// requestTime is how long an answer of the server is waited for.
const requestTime = 5 * time.Second

// note writes e to the journal.
func (w *worker) note(ctx context.Context, e entry) error {
	e.Took.Journal, e.Session = w.journalled.Load(), name(e.Session)
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	start := time.Now()
	if _, err := w.js.Publish(ctx, "journal", line); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	w.journalled.Store(time.Since(start).Microseconds())
	return nil
}

// trouble is a line of a worker's standard output: what it could not do. The server may be what is missing, so that the
// journal is no place for it.
type trouble struct {
	Error   string `json:"error,omitempty"`
	Attempt *entry `json:"attempt,omitempty"` // an output that was handed back without a decision
	Late    bool   `json:"late,omitempty"`    // it begins to sit on a decision
}

func (w *worker) say(t trouble) {
	w.mu.Lock()
	defer w.mu.Unlock()
	json.NewEncoder(os.Stdout).Encode(t)
}

// act is one thing that was done.
type act struct {
	Session  string              `json:"session"`
	Turn     string              `json:"turn"`
	Run      string              `json:"run"`
	Output   string              `json:"output,omitempty"` // the first versions of this program leave it out
	Decision string              `json:"decision"`
	Action   autocontinue.Action `json:"action"`
	Message  string              `json:"message,omitempty"`
}

// fit makes the act a message that a server takes: 1 MB as JSON, by default. One that it never takes would come again
// for ever, with every output behind it waiting.
func (a *act) fit() {
	for _, id := range []*string{&a.Session, &a.Turn, &a.Run, &a.Output} {
		*id = name(*id)
	}
	if a.Action == autocontinue.Deliver {
		a.Message = plaintext.Line(a.Message, 100_000) // of an output that could not be read
	}
}

// name is an ID or, if that is longer than any that is meant as one, its beginning.
func name(id string) string {
	if len(id) <= 1000 {
		return id
	}
	return plaintext.Line(id, 200)
}

// pause waits, and reports whether it waited to the end: ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
