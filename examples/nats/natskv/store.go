// Package natskv keeps the sessions of sidecoach in a key-value bucket of NATS JetStream, so that many workers can
// handle outputs of the same sessions:
//
//	kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "sidecoach", TTL: 30 * 24 * time.Hour})
//	ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic, Store: natskv.New(kv, natskv.Options{})})
//
// An update reads the key, and writes it only if its revision is still the one that was read. Nothing is locked: a
// worker that dies leaves nothing behind.
//
// # Limits
//
// When an answer of the server is lost, nobody knows whether it wrote. That is [autocontinue.ErrUnavailable] or the
// error of the context; the same output handed in again, with its ID, gets the decision that was written, if it was. A
// client that lost its connection keeps what it was to send for later, so that an update that failed may be written
// when the server is back, if nobody else changed the session: connect with nats.ReconnectBufSize(-1), and such an
// update fails at once instead.
//
// A session takes about 2 kB of the bucket, 150 kB at the most. It is never removed: give the bucket a TTL, which
// counts from the session's last output; whoever comes back later begins anew. When the bucket is full (MaxBytes),
// known sessions cannot be updated either.
//
// In a cluster a read may be answered by a server that is behind. An update then loses its race and reads again; a Load
// may see an older state, which costs a classification at most.
//
// # Errors
//
// [autocontinue.ErrConflict] after Options.Tries lost races, [autocontinue.ErrUnavailable] for everything the server or
// the network refuses, [autocontinue.ErrStateVersion] for a state that a newer version wrote,
// [autocontinue.ErrNoSession] for an empty name, and the error of the context.
package natskv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// Options are the settings of a [Store]; the zero value has the defaults.
type Options struct {
	Tries   int           // how many races an update may lose before it gives up; 0 is 40
	Pause   time.Duration // the longest pause after a lost race, of random length; 0 is 50 ms
	Timeout time.Duration // of one request to the server; 0 is 5 s
}

// Store is an [autocontinue.Store]. It is safe for concurrent use, by goroutines, processes and machines.
type Store struct {
	kv   jetstream.KeyValue
	opts Options
}

var _ autocontinue.Store = (*Store)(nil)

// New returns the store in a bucket. The bucket's TTL, history and size are its owner's; one revision of history is
// enough.
func New(kv jetstream.KeyValue, opts Options) *Store {
	if opts.Tries <= 0 {
		opts.Tries = 40
	}
	if opts.Pause <= 0 {
		opts.Pause = 50 * time.Millisecond
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 5 * time.Second
	}
	return &Store{kv: kv, opts: opts}
}

// Key returns the bucket's key for a session, whose name may be anything and a key may not.
func Key(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:])
}

// Load returns the session's state.
func (s *Store) Load(ctx context.Context, session string) (autocontinue.State, error) {
	state, _, err := s.read(ctx, session)
	return state, err
}

// Update replaces the session's state by what fn returns for it. Fn is called once for every race, with no lock held.
func (s *Store) Update(ctx context.Context, session string,
	fn func(autocontinue.State) (autocontinue.State, error)) error {
	for try := 1; ; try++ {
		old, revision, err := s.read(ctx, session)
		if err != nil {
			return err
		}
		next, err := fn(old)
		if err != nil {
			return fmt.Errorf("natskv: %w", err)
		}
		value, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("natskv: write the state: %w", err)
		}
		err = s.write(ctx, session, value, revision)
		if !lost(err) {
			return err
		}
		if try == s.opts.Tries {
			return fmt.Errorf("natskv: update: %w: %d races lost", autocontinue.ErrConflict, try)
		}
		if err := s.pause(ctx, try); err != nil {
			return err
		}
	}
}

// read returns the session's state and its revision, which is 0 when there is none.
func (s *Store) read(ctx context.Context, session string) (autocontinue.State, uint64, error) {
	var state autocontinue.State
	if session == "" {
		return state, 0, autocontinue.ErrNoSession
	}
	request, cancel, err := s.request(ctx)
	if err != nil {
		return state, 0, err
	}
	defer cancel()
	entry, err := s.kv.Get(request, Key(session))
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return state, 0, nil
	case err != nil:
		return state, 0, s.failure(ctx, "read", err)
	}
	if err := json.Unmarshal(entry.Value(), &state); err != nil {
		return state, 0, fmt.Errorf("natskv: key %s, revision %d: %w", entry.Key(), entry.Revision(), err)
	}
	return state, entry.Revision(), nil
}

func (s *Store) write(ctx context.Context, session string, value []byte, revision uint64) error {
	request, cancel, err := s.request(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	if revision == 0 {
		_, err = s.kv.Create(request, Key(session), value)
	} else {
		_, err = s.kv.Update(request, Key(session), value, revision)
	}
	if err != nil && !lost(err) {
		err = s.failure(ctx, "write", err)
	}
	return err
}

// lost says that another update came between.
func lost(err error) bool {
	return errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch)
}

func (s *Store) request(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("natskv: %w", err)
	}
	request, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	return request, cancel, nil
}

// failure says what a request's error means. A request's own deadline is no error of ctx.
func (s *Store) failure(ctx context.Context, op string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("natskv: %s: %w", op, ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("natskv: %s: %w: no answer within %v", op, autocontinue.ErrUnavailable, s.opts.Timeout)
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return fmt.Errorf("natskv: %s: %w: no connection to the server", op, autocontinue.ErrUnavailable)
	}
	return fmt.Errorf("natskv: %s: %w: %v", op, autocontinue.ErrUnavailable, err)
}

// pause waits for a while that grows with the races lost, and is never the same for two workers.
func (s *Store) pause(ctx context.Context, lost int) error {
	longest := min(time.Millisecond<<min(lost, 20), s.opts.Pause)
	t := time.NewTimer(rand.N(longest) + 1)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("natskv: %w", ctx.Err())
	}
}
