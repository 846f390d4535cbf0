package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/sidecoach/sidecoach/examples/nats/natskv"
)

// fault is something that goes wrong while the queue is worked off.
type fault struct {
	name, help string
	// hurt does it again and again until ctx is done, and puts all back. It is nil for what [stage.begin] or the workers
	// do.
	hurt func(ctx context.Context, s *stage) error
}

var faults = []fault{
	{"freeze", "a worker is stopped (SIGSTOP) for longer than -ack-wait, and then goes on with what it held", freeze},
	{"late", "a worker sits on a decision for longer than -ack-wait, until another has the output, and then acts", nil},
	{"server", "the server is killed (SIGKILL), and is gone for -down", downServer},
	{"slow", "what workers and server say to each other is late, and their connections are cut", nil},
	{"full", "the bucket, the acts or the journal take nothing more for -down", fill},
	{"crowd", "outputs of a session are with several workers at the same time, in no order", nil},
	{"newer", "every tenth session was written by a newer version of the library, which no worker has", nil},
}

// faultHelp is the table for -h.
func faultHelp() string {
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&b, "  %-8s %s\n", f.name, f.help)
	}
	return b.String()
}

// chosenFaults reads the value of -fault. All are all that keep the order, which lets the checker ask for more.
func chosenFaults(list string) (map[string]bool, error) {
	chosen := make(map[string]bool)
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		known := name == "" || name == "all"
		for _, f := range faults {
			if name == f.name || name == "all" && f.name != "crowd" {
				chosen[f.name], known = true, true
			}
		}
		if !known {
			return nil, fmt.Errorf("-fault: there is no %q, see -h", name)
		}
	}
	return chosen, nil
}

// stage is what a fault can reach.
type stage struct {
	d      demonstration
	server *host
	pool   *pool
	js     jetstream.JetStream
	came   map[string]*atomic.Int64 // how often a fault came
}

func newStage(d demonstration, server *host, js jetstream.JetStream) *stage {
	s := &stage{d: d, server: server, js: js, came: make(map[string]*atomic.Int64)}
	for name := range d.faults {
		s.came[name] = new(atomic.Int64)
	}
	if crowd := s.came["crowd"]; crowd != nil {
		crowd.Add(1)
	}
	return s
}

// again waits for a while, so that the work gets on between two faults of a kind.
func (s *stage) again(ctx context.Context) bool {
	return pause(ctx, s.d.down/4+rand.N(s.d.down))
}

func freeze(ctx context.Context, s *stage) error {
	wait := s.d.ackWait
	for pause(ctx, wait/2+rand.N(wait)) {
		p := s.pool.one()
		s.pool.spare(p)
		if stopProcess(p) != nil {
			continue // it was killed
		}
		pause(ctx, wait+rand.N(wait))
		if continueProcess(p) == nil {
			s.came["freeze"].Add(1)
		}
		pause(ctx, wait/2) // for what it held
		s.pool.spare(nil)
	}
	return nil
}

func downServer(ctx context.Context, s *stage) error {
	for s.again(ctx) {
		s.server.kill()
		s.came["server"].Add(1)
		pause(ctx, s.d.down)
		if err := s.server.start(); err != nil {
			return err
		}
	}
	return nil
}

// fill leaves a stream the room that it takes already.
func fill(ctx context.Context, s *stage) error {
	names := []string{"KV_" + bucketName, actStream, journalStream}
	for i := 0; s.again(ctx); i++ {
		name := names[i%len(names)]
		if s.room(ctx, name, false) != nil {
			continue // the server is down
		}
		s.came["full"].Add(1)
		pause(ctx, s.d.down)
		put := context.WithoutCancel(ctx)
		for s.room(put, name, true) != nil {
			pause(put, 100*time.Millisecond)
		}
	}
	return nil
}

func (s *stage) room(ctx context.Context, name string, more bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	stream, err := s.js.Stream(ctx, name)
	if err != nil {
		return err
	}
	cfg := stream.CachedInfo().Config
	cfg.MaxBytes = -1
	if !more {
		cfg.MaxBytes = max(int64(stream.CachedInfo().State.Bytes), 1)
	}
	_, err = s.js.UpdateStream(ctx, cfg)
	return err
}

// newerState is what a version of the library would write that this one does not know.
const newerState = `{"version":99,"seq":7,"later":"kept"}`

// writeNewer makes a newer version's sessions of some, and returns which.
func (s *stage) writeNewer(ctx context.Context, sessions []string) (map[string]bool, error) {
	kv, err := s.js.KeyValue(ctx, bucketName)
	if err != nil {
		return nil, fmt.Errorf("bucket: %w", err)
	}
	newer := make(map[string]bool)
	slices.Sort(sessions)
	for i := 0; i < len(sessions); i += 10 {
		if _, err := kv.PutString(ctx, natskv.Key(sessions[i]), newerState); err != nil {
			return nil, fmt.Errorf("bucket: %w", err)
		}
		newer[sessions[i]] = true
		s.came["newer"].Add(1)
	}
	return newer, nil
}

// overwritten returns how many states of the newer version are not as they were.
func (s *stage) overwritten(ctx context.Context, newer map[string]bool) (int, error) {
	kv, err := s.js.KeyValue(ctx, bucketName)
	if err != nil {
		return 0, fmt.Errorf("bucket: %w", err)
	}
	n := 0
	for name := range newer {
		entry, err := kv.Get(ctx, natskv.Key(name))
		if err != nil {
			return 0, fmt.Errorf("bucket: %w", err)
		}
		if string(entry.Value()) != newerState {
			n++
		}
	}
	return n, nil
}
