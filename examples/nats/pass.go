package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// pass is one time that the queue was worked off.
type pass struct {
	workers     int
	sessions    map[string][]autocontinue.Output
	newer       map[string]bool // sessions that a newer version wrote
	overwritten int             // of them
	mixed       bool            // workers with different versions of the library
	crowd       bool            // the deliveries of a session were in no order
	deliveries  int
	killed      int
	ended       int              // workers that ended by themselves
	came        map[string]int64 // how often a fault came
	took        time.Duration
	journal     []entry
	acts        []act
	said        map[string]int // what workers could not do, how often
}

// remembered is how many turns a state remembers. Where the order is lost, an output may come when the session is any
// number of turns further; of one that is forgotten the library knows nothing.
const remembered = 9

// pass feeds the queue, lets the workers work it off while things go wrong, and reads what they left.
func (d demonstration) pass(ctx context.Context, workers, atOnce int) (*pass, error) {
	dir, remove, err := folder(d.keep)
	if err != nil {
		return nil, err
	}
	defer remove()
	server, err := newHost(dir)
	if err != nil {
		return nil, err
	}
	defer server.kill()
	nc, js, err := connect(server.url)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	out, turns := 1, d.outputs // in order
	if d.faults["crowd"] {
		out, turns = 64, remembered
	}
	if err := prepare(ctx, js, d.ackWait, out); err != nil {
		return nil, err
	}

	p := &pass{
		workers:  workers,
		mixed:    d.with != "",
		crowd:    d.faults["crowd"],
		sessions: make(map[string][]autocontinue.Output, d.sessions),
		came:     make(map[string]int64),
	}
	for i := range d.sessions {
		name := fmt.Sprint("session ", i)
		p.sessions[name] = session(d.seed, name, d.outputs, turns)
	}
	s := newStage(d, server, js)
	if d.faults["newer"] {
		if p.newer, err = s.writeNewer(ctx, slices.Collect(maps.Keys(p.sessions))); err != nil {
			return nil, err
		}
	}
	if p.deliveries, err = publish(ctx, js, p.sessions); err != nil {
		return nil, err
	}

	if p.took, err = s.play(ctx, workers, atOnce); err != nil {
		return nil, err
	}
	p.killed, p.ended = s.pool.killed, s.pool.ended
	if p.newer != nil {
		if p.overwritten, err = s.overwritten(ctx, p.newer); err != nil {
			return nil, err
		}
	}
	if p.journal, err = read[entry](ctx, js, journalStream); err != nil {
		return nil, err
	}
	if p.acts, err = read[act](ctx, js, actStream); err != nil {
		return nil, err
	}
	p.journal, p.said = append(p.journal, s.pool.failed...), s.pool.said
	for name, n := range s.came {
		p.came[name] = n.Load()
	}
	return p, nil
}

// play lets the workers work the queue off, and the faults come meanwhile. It returns how long that took, when all is
// quiet.
func (s *stage) play(ctx context.Context, workers, atOnce int) (time.Duration, error) {
	start := time.Now()
	url := s.server.url
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if came := s.came["slow"]; came != nil {
		network, err := newProxy(ctx, url)
		if err != nil {
			return 0, err
		}
		defer func() { cancel(nil); network.close(); came.Store(network.cuts.Load()) }()
		url = network.url
	}
	s.pool = &pool{
		late:  s.came["late"],
		args:  []string{"worker", "-server", url, "-at-once", fmt.Sprint(atOnce)},
		other: s.d.with,
	}
	if s.d.faults["late"] {
		s.pool.args = append(s.pool.args, "-late", "30")
	}
	if s.d.faults["newer"] {
		s.pool.args = append(s.pool.args, "-patience", "3")
	}
	defer s.pool.stop()
	if err := s.pool.start(workers); err != nil {
		return 0, err
	}

	troubled, calm := context.WithCancel(ctx)
	var trouble sync.WaitGroup
	defer trouble.Wait()
	defer calm()
	if s.d.kill > 0 {
		trouble.Go(func() { s.pool.killing(troubled, s.d.kill) })
	}
	for _, f := range faults {
		if s.d.faults[f.name] && f.hurt != nil {
			trouble.Go(func() {
				if err := f.hurt(troubled, s); err != nil {
					cancel(fmt.Errorf("fault %s: %w", f.name, err))
				}
			})
		}
	}
	if err := drained(ctx, s.js); err != nil {
		return 0, errors.Join(context.Cause(ctx), left(s.js), s.pool.troubles())
	}
	return time.Since(start), nil
}

// left says how much of the queue is left.
func left(js jetstream.JetStream) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	stream, err := js.Stream(ctx, outputStream)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	return fmt.Errorf("%d deliveries are left", stream.CachedInfo().State.Msgs)
}

// read returns every message of a stream.
func read[T any](ctx context.Context, js jetstream.JetStream, name string) ([]T, error) {
	lines, err := all(ctx, js, name)
	if err != nil {
		return nil, err
	}
	list := make([]T, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal(line, &list[i]); err != nil {
			return nil, fmt.Errorf("%s: message %d: %w", name, i+1, err)
		}
	}
	return list, nil
}
