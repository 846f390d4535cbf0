package autocontinue

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

type spanKey struct{}

// tracer is a Starter that numbers the calls of Handle in their contexts.
type tracer struct {
	started int
	seen    []any
	events  []Event
}

func (s *tracer) Start(ctx context.Context) context.Context {
	s.started++
	return context.WithValue(ctx, spanKey{}, s.started)
}

func (s *tracer) Observe(ctx context.Context, e Event) error {
	s.seen = append(s.seen, ctx.Value(spanKey{}))
	s.events = append(s.events, e)
	return ctx.Err()
}

// spanStore notes the numbers in the contexts that it is given, and fails with err.
type spanStore struct {
	MemoryStore
	seen []any
	err  error
}

func (s *spanStore) Load(ctx context.Context, session string) (State, error) {
	s.seen = append(s.seen, ctx.Value(spanKey{}))
	return s.MemoryStore.Load(ctx, session)
}

func (s *spanStore) Update(ctx context.Context, session string, fn func(State) (State, error)) error {
	s.seen = append(s.seen, ctx.Value(spanKey{}))
	if s.err != nil {
		return s.err
	}
	return s.MemoryStore.Update(ctx, session, fn)
}

type spanVerifier struct{ seen []any }

func (v *spanVerifier) Verify(ctx context.Context, _ Output, _ classify.Result) (Verification, error) {
	v.seen = append(v.seen, ctx.Value(spanKey{}))
	return Verification{}, nil
}

func TestAStarterGivesTheContext(t *testing.T) {
	var classified []any
	span, store, verifier := &tracer{}, &spanStore{}, &spanVerifier{}
	a := newLoop(t, Config{
		Classifier: classify.ClassifierFunc(func(ctx context.Context, _ classify.Input) (classify.Result, error) {
			classified = append(classified, ctx.Value(spanKey{}))
			return completion, nil
		}),
		Store: store, Verifier: verifier, Observer: span,
	})
	handle(t, a, Output{Run: "1", Text: "done"})
	assert.Equal(t, []any{1}, classified)
	assert.Equal(t, []any{1}, verifier.seen)
	assert.Equal(t, []any{1, 1, 1}, store.seen)
	assert.Equal(t, []any{1}, span.seen)

	handle(t, a, Output{Run: "2", Text: "done"})
	_, err := a.Handle(t.Context(), Output{})
	require.ErrorIs(t, err, ErrNoSession)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = a.Handle(ended, Output{Session: "s", Text: "x"})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []any{1, 2, 3, 4}, span.seen, "each call of Handle is observed with its own context")
	assert.Equal(t, 4, span.started)
}

// The text of an error is cut and cleaned; what it was stays to be asked.
func TestAnEventHasTheCauseOfItsError(t *testing.T) {
	for _, sentinel := range []error{ErrConflict, ErrUnavailable, context.DeadlineExceeded} {
		span := &tracer{}
		a := newLoop(t, Config{
			Classifier: judgeAs(progress), Observer: span,
			Store: &spanStore{err: fmt.Errorf("%s: %w", strings.Repeat("a long way down ", 50), sentinel)},
		})
		_, err := a.Handle(t.Context(), Output{Session: "s", Text: "x"})
		require.ErrorIs(t, err, sentinel)
		require.Len(t, span.events, 1)
		e := span.events[0]
		require.ErrorIs(t, e.Cause, sentinel)
		assert.NotContains(t, e.Err, sentinel.Error(), "the text alone would not tell")
		b, err := json.Marshal(e)
		require.NoError(t, err)
		assert.NotContains(t, string(b), sentinel.Error(), "the journal has the text that is cut and cleaned")
	}
	span := &tracer{}
	handle(t, newLoop(t, Config{Classifier: judgeAs(progress), Observer: span}), Output{Text: "x"})
	assert.NoError(t, span.events[0].Cause)
}

func TestAPanicOfAnObserverLeavesTheSessionFree(t *testing.T) {
	broken := true
	a := newLoop(t, Config{Classifier: judgeAs(progress), Observer: ObserverFunc(func(context.Context, Event) error {
		if broken {
			panic("observer")
		}
		return nil
	})})
	out := Output{Session: "s", Run: "r", ID: "1", Text: "working"}
	assert.PanicsWithValue(t, "observer", func() { _, _ = a.Handle(t.Context(), out) })
	broken = false
	d := handle(t, a, out)
	assert.True(t, d.Replayed, "the decision was recorded, so a queue that delivers the output again loses nothing")
	assert.Equal(t, Continue, d.Action)
}
