package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// speed is what one core does.
type speed struct {
	cases, bytes            int // the bytes of a case in the middle
	classify                rate
	handle, synced, nosyncs rate
}

type rate struct {
	cpu  time.Duration // of the processor, on average
	wall time.Duration // that 99 of 100 do not take, on the clock
}

// second is how many a core does that does nothing else.
func (r rate) second() float64 { return float64(time.Second) / float64(r.cpu) }

// speeds measures on one core: classifying alone, a whole decision with the state in memory, and with it in files.
func speeds(ctx context.Context, cases []evaluate.Case, each time.Duration) (speed, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := speed{cases: len(cases)}
	var sizes []int
	for _, c := range cases {
		sizes = append(sizes, len(c.Input.Text))
	}
	slices.Sort(sizes)
	s.bytes = sizes[len(sizes)/2]

	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return s, err
	}
	s.classify, err = measured(ctx, each, cases, func(_ int, c evaluate.Case) error {
		_, err := heuristic.Classify(ctx, c.Input)
		return err
	})
	if err != nil {
		return s, err
	}
	if s.handle, err = handled(ctx, each, cases, heuristic, nil); err != nil {
		return s, err
	}
	for _, to := range []struct {
		rate *rate
		opts filestore.Options
	}{{&s.synced, filestore.Options{}}, {&s.nosyncs, filestore.Options{NoSync: true}}} {
		if *to.rate, err = inFiles(ctx, each, cases, heuristic, to.opts); err != nil {
			return s, err
		}
	}
	return s, nil
}

func inFiles(ctx context.Context, each time.Duration, cases []evaluate.Case, c classify.Classifier,
	opts filestore.Options) (rate, error) {
	dir, err := os.MkdirTemp("", "capacity")
	if err != nil {
		return rate{}, err
	}
	defer os.RemoveAll(dir)
	store, err := filestore.New(dir, opts)
	if err != nil {
		return rate{}, err
	}
	return handled(ctx, each, cases, c, store)
}

// handled measures whole decisions: sessions of turns of up to three pauses.
func handled(ctx context.Context, each time.Duration, cases []evaluate.Case, c classify.Classifier,
	store autocontinue.Store) (rate, error) {
	ac, err := autocontinue.New(autocontinue.Config{Classifier: c, Store: store})
	if err != nil {
		return rate{}, err
	}
	return measured(ctx, each, cases, func(i int, c evaluate.Case) error {
		_, err := ac.Handle(ctx, output(i, c))
		return err
	})
}

// output is the i-th pause of many sessions.
func output(i int, c evaluate.Case) autocontinue.Output {
	id := fmt.Sprint(i)
	return autocontinue.Output{
		Session: fmt.Sprint("session ", i%1000), Turn: fmt.Sprint(i / 3000), Run: id, ID: id,
		Text: c.Input.Text, Request: c.Input.Request, Evidence: c.Input.Evidence,
	}
}

// measured does it with one case after another, all of them as often as each other, for about that time.
func measured(ctx context.Context, each time.Duration, cases []evaluate.Case,
	do func(int, evaluate.Case) error) (rate, error) {
	for i, c := range cases { // first times
		if err := do(-1-i, c); err != nil {
			return rate{}, fmt.Errorf("case %s: %w", c.Name, err)
		}
	}
	var took []time.Duration
	before, i := cpu(), 0
	for begin := time.Now(); time.Since(begin) < each; {
		if err := ctx.Err(); err != nil {
			return rate{}, err
		}
		for _, c := range cases {
			start := time.Now()
			if err := do(i, c); err != nil {
				return rate{}, fmt.Errorf("case %s: %w", c.Name, err)
			}
			took = append(took, time.Since(start))
			i++
		}
	}
	used := cpu() - before
	slices.Sort(took)
	return rate{used / time.Duration(len(took)), took[len(took)*99/100]}, nil
}
