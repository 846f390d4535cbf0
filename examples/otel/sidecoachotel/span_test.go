package sidecoachotel

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

type verifierFunc func() (autocontinue.Verification, error)

func (f verifierFunc) Verify(context.Context, autocontinue.Output, classify.Result) (autocontinue.Verification, error) {
	return f()
}

func TestSpansAreWithinTheirParents(t *testing.T) {
	l := newLoop(t, autocontinue.Config{Verifier: verifierFunc(func() (autocontinue.Verification, error) {
		return autocontinue.Verification{Status: autocontinue.Verified}, nil
	})})
	tracer := l.tracer.Tracer("host")
	ctx, host := tracer.Start(t.Context(), "job")
	l.says = func(ctx context.Context, _ classify.Input) (classify.Result, error) {
		_, call := tracer.Start(ctx, "POST")
		call.End()
		return completion, nil
	}
	_, err := l.Handle(ctx, autocontinue.Output{Session: "chat", Turn: "t", Run: "r", ID: "1", Text: "x"})
	require.NoError(t, err)
	host.End()

	handle := l.span(t, "sidecoach.handle")
	assert.Equal(t, host.SpanContext().SpanID(), handle.Parent().SpanID())
	assert.Equal(t, l.span(t, "sidecoach.classify").SpanContext().SpanID(), l.span(t, "POST").Parent().SpanID())
	for _, name := range []string{"sidecoach.load", "sidecoach.classify", "sidecoach.verify", "sidecoach.update"} {
		step := l.span(t, name)
		assert.Equal(t, handle.SpanContext().SpanID(), step.Parent().SpanID(), name)
		assert.False(t, step.StartTime().Before(handle.StartTime()), name)
		assert.False(t, step.EndTime().Before(step.StartTime()), name)
		assert.False(t, handle.EndTime().Before(step.EndTime()), name)
		assert.Equal(t, codes.Unset, step.Status().Code, name)
	}
	a := attrs(handle.Attributes())
	assert.Equal(t, []any{"chat", "t", "r", "1", "verified"}, []any{
		a["gen_ai.conversation.id"],
		a["sidecoach.turn.id"],
		a["sidecoach.run.id"],
		a["sidecoach.output.id"],
		a["sidecoach.verified"],
	})
	assert.Equal(t, "verified", attrs(l.span(t, "sidecoach.verify").Attributes())["sidecoach.verified"])
	assert.Equal(t, codes.Unset, handle.Status().Code)
}

func TestAStepThatPanicsEndsItsSpan(t *testing.T) {
	l := newLoop(t, autocontinue.Config{})
	l.says = func(context.Context, classify.Input) (classify.Result, error) { panic("a bug") }
	_, err := l.Handle(t.Context(), autocontinue.Output{Session: "chat", Text: "x"})
	require.ErrorContains(t, err, "a bug")
	assert.Equal(t, codes.Error, l.span(t, "sidecoach.classify").Status().Code)
}

// A host that hands events on itself, without Starter.
func TestAnEventAloneMakesASpan(t *testing.T) {
	l := newLoop(t, autocontinue.Config{})
	ctx, host := l.tracer.Tracer("host").Start(t.Context(), "job")
	begin := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	require.NoError(
		t,
		l.o.Observe(ctx,
			autocontinue.Event{Time: begin, Took: 1500 * time.Millisecond, Session: "s", Err: "read from a journal"}),
	)
	span := l.span(t, "sidecoach.handle")
	assert.Equal(t, host.SpanContext().SpanID(), span.Parent().SpanID())
	assert.Equal(t, begin, span.StartTime())
	assert.Equal(t, begin.Add(1500*time.Millisecond), span.EndTime())
	assert.Equal(t, sdktrace.Status{Code: codes.Error, Description: "read from a journal"}, span.Status())
	assert.InDelta(t, 1.5, l.collect(t)[handleDuration.name][0].sum, 1e-9)
}

// An ID may be any bytes; what is sent to a collector must be UTF-8, and short.
func TestIDsOnSpansAreClean(t *testing.T) {
	l := newLoop(t, autocontinue.Config{})
	long := make([]byte, 10_000)
	for i := range long {
		long[i] = 'x'
	}
	l.handle(t, progress, autocontinue.Output{Session: "a\xffb\x1b[31m\u202e", Run: string(long), Text: "x"})
	a := attrs(l.span(t, "sidecoach.handle").Attributes())
	assert.Equal(t, "a\ufffdb", a["gen_ai.conversation.id"])
	assert.Len(t, []rune(a["sidecoach.run.id"].(string)), maxID)
}

func TestVerifications(t *testing.T) {
	type m = map[string]any
	for _, tt := range []struct {
		name  string
		found autocontinue.Verification
		err   error
		want  []point
	}{
		{"verified", autocontinue.Verification{Status: autocontinue.Verified}, nil,
			[]point{{m{"sidecoach.verified": "verified"}, 1, 1}}},
		{"rejected", autocontinue.Verification{Status: autocontinue.Rejected, Feedback: "secret.go is unchanged"}, nil,
			[]point{{m{"sidecoach.verified": "rejected"}, 1, 1}}},
		{"unverified", autocontinue.Verification{Status: autocontinue.Unverified}, nil,
			[]point{{m{"sidecoach.verified": "unverified"}, 1, 1}}},
		{"nobody looked", autocontinue.Verification{}, nil, nil},
		{"no status", autocontinue.Verification{Status: "fine"}, nil, []point{{m{"sidecoach.verified": "_OTHER"}, 1, 1}}},
		{"failed", autocontinue.Verification{}, errBoom, []point{{m{"sidecoach.verified": "unverified"}, 1, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLoop(
				t,
				autocontinue.Config{Verifier: verifierFunc(func() (autocontinue.Verification, error) { return tt.found, tt.err })},
			)
			d := l.handle(t, completion, autocontinue.Output{Text: "x"})
			series := l.collect(t)
			assert.Equal(t, tt.want, series[verifications.name])
			span := l.span(t, "sidecoach.verify")
			assert.Equal(t, tt.err != nil, span.Status().Code == codes.Error)
			if len(d.Degraded) > 0 {
				assert.Equal(t, []point{{m{"sidecoach.degraded.kind": "verifier"}, 1, 1}}, series[degradations.name])
				assert.Equal(t, []string{"verifier"}, attrs(l.span(t, "sidecoach.handle").Attributes())["sidecoach.degraded.kind"])
			}
		})
	}
}

// racyStore calls the function of an update as if it lost that many races.
type racyStore struct {
	autocontinue.MemoryStore
	lose int
}

func (s *racyStore) Update(ctx context.Context, session string,
	fn func(autocontinue.State) (autocontinue.State, error)) error {
	for range s.lose {
		if _, err := fn(autocontinue.State{}); err != nil {
			return err
		}
	}
	return s.MemoryStore.Update(ctx, session, fn)
}

func TestRacesOfTheStore(t *testing.T) {
	l := newLoop(t, autocontinue.Config{Store: &racyStore{lose: 3}})
	l.handle(t, progress, autocontinue.Output{Text: "x"})
	assert.Equal(t, []point{{map[string]any{}, 3, 3}}, l.collect(t)[storeRetries.name])
	assert.EqualValues(t, 3, attrs(l.span(t, "sidecoach.update").Attributes())["sidecoach.store.retries"])
}

// What the function of an update refuses is no failure of the store.
func TestARefusedUpdateIsNoFailure(t *testing.T) {
	l := newLoop(t, autocontinue.Config{})
	err := l.o.Store(&autocontinue.MemoryStore{}).
		Update(t.Context(), "s", func(autocontinue.State) (autocontinue.State, error) {
			return autocontinue.State{}, errBoom
		})
	require.ErrorIs(t, err, errBoom)
	assert.Equal(t, codes.Unset, l.span(t, "sidecoach.update").Status().Code)
	assert.Equal(t, map[string]any{"sidecoach.step": "update"}, l.collect(t)[stepDuration.name][0].attrs)
}

func TestInstrumentKeepsTheHostsObserver(t *testing.T) {
	var order []string
	host := &startingObserver{
		started: func() { order = append(order, "start") },
		observed: func(ctx context.Context) error {
			if ctx.Value(hostKey{}) != nil {
				order = append(order, "observe")
			}
			return errBoom
		},
	}
	l := newLoop(t, autocontinue.Config{Observer: host})
	l.handle(t, progress, autocontinue.Output{Text: "x"})
	assert.Equal(t, []string{"start", "observe"}, order)
	assert.Len(t, l.collect(t)[decisions.name], 1)
	assert.True(t, errors.Is(both{l.o, host}.Observe(t.Context(), autocontinue.Event{}), errBoom))
}

type hostKey struct{}

type startingObserver struct {
	started  func()
	observed func(context.Context) error
}

func (o *startingObserver) Start(ctx context.Context) context.Context {
	o.started()
	return context.WithValue(ctx, hostKey{}, true)
}

func (o *startingObserver) Observe(ctx context.Context, _ autocontinue.Event) error {
	return o.observed(ctx)
}
