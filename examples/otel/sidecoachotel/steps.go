package sidecoachotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Instrument returns cfg with o as its observer, before the one that is there, and with the classifier, the verifier
// and the store measured. A nil Store becomes the one that autocontinue.New would take.
func (o *Observer) Instrument(cfg autocontinue.Config) autocontinue.Config {
	if cfg.Observer == nil {
		cfg.Observer = o
	} else {
		cfg.Observer = both{o, cfg.Observer}
	}
	if cfg.Classifier != nil {
		cfg.Classifier = o.Classifier(cfg.Classifier)
	}
	if cfg.Verifier != nil {
		cfg.Verifier = o.Verifier(cfg.Verifier)
	}
	if cfg.Store == nil {
		cfg.Store = autocontinue.NewMemoryStore(0)
	}
	cfg.Store = o.Store(cfg.Store)
	return cfg
}

// both are an observer of ours and one of the host.
type both struct {
	ours   *Observer
	theirs autocontinue.Observer
}

func (b both) Start(ctx context.Context) context.Context {
	ctx = b.ours.Start(ctx)
	if s, ok := b.theirs.(autocontinue.Starter); ok {
		ctx = s.Start(ctx)
	}
	return ctx
}

func (b both) Observe(ctx context.Context, e autocontinue.Event) error {
	return errors.Join(b.ours.Observe(ctx, e), b.theirs.Observe(ctx, e))
}

// Classifier measures c, as the step "classify".
func (o *Observer) Classifier(c classify.Classifier) classify.Classifier {
	return classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
		ctx, end := o.step(ctx, "classify")
		defer end(errPanicked)
		r, err := c.Classify(ctx, in)
		end(err)
		return r, err
	})
}

// Verifier measures v, as the step "verify", and counts what it says.
func (o *Observer) Verifier(v autocontinue.Verifier) autocontinue.Verifier { return verifier{o, v} }

type verifier struct {
	o    *Observer
	next autocontinue.Verifier
}

func (v verifier) Verify(ctx context.Context, out autocontinue.Output,
	r classify.Result) (autocontinue.Verification, error) {
	ctx, end := v.o.step(ctx, "verify")
	defer end(errPanicked)
	found, err := v.next.Verify(ctx, out, r)
	status := code(found.Status, statuses)
	switch {
	case err != nil:
		status = string(autocontinue.Unverified) // it counts as such
	case status == "":
		end(nil)
		return found, nil // nobody looked
	}
	v.o.verifications.Add(ctx, 1, v.o.series.of(keyVerified.String(status)).add...)
	end(err, keyVerified.String(status))
	return found, err
}

// Store measures s, as the steps "load" and "update", and counts the races that updates lose.
func (o *Observer) Store(s autocontinue.Store) autocontinue.Store { return store{o, s} }

type store struct {
	o    *Observer
	next autocontinue.Store
}

func (s store) Load(ctx context.Context, session string) (autocontinue.State, error) {
	ctx, end := s.o.step(ctx, "load")
	defer end(errPanicked)
	state, err := s.next.Load(ctx, session)
	end(err)
	return state, err
}

func (s store) Update(ctx context.Context, session string,
	fn func(autocontinue.State) (autocontinue.State, error)) error {
	ctx, end := s.o.step(ctx, "update")
	defer end(errPanicked)
	calls := 0
	var refused error // by fn, in its last call: no failure of the store
	err := s.next.Update(ctx, session, func(old autocontinue.State) (autocontinue.State, error) {
		calls++
		next, err := fn(old)
		refused = err
		return next, err
	})
	retries := max(0, calls-1)
	if retries > 0 {
		s.o.storeRetries.Add(ctx, int64(retries))
	}
	if refused != nil && errors.Is(err, refused) {
		end(nil, keyRetries.Int(retries))
	} else {
		end(err, keyRetries.Int(retries))
	}
	return err
}

// errPanicked is what a step ends with that does not return.
var errPanicked = errors.New("sidecoachotel: it panicked")

// step opens the span of a step; the function that it returns ends it when it is called first, and then does nothing.
func (o *Observer) step(ctx context.Context, name string) (context.Context, func(error, ...attribute.KeyValue)) {
	start := time.Now()
	inside, span := o.open(ctx, "sidecoach."+name)
	ended := false
	return inside, func(err error, more ...attribute.KeyValue) {
		if ended {
			return
		}
		ended = true
		defer func() {
			if p := recover(); p != nil {
				otel.Handle(panicked(p))
			}
		}()
		defer span.End()
		attrs := append(make([]attribute.KeyValue, 0, 2), keyStep.String(name))
		if err != nil {
			attrs = append(attrs, keyErrorType.String(errorCode(err)))
			span.SetStatus(codes.Error, plaintext.Line(err.Error(), maxErr))
		}
		o.stepDuration.Record(inside, time.Since(start).Seconds(), o.series.of(attrs...).record...)
		if span.IsRecording() {
			span.SetAttributes(attrs...)
			span.SetAttributes(more...)
		}
	}
}

func (o *Observer) open(ctx context.Context, name string) (inside context.Context, span trace.Span) {
	inside, span = ctx, trace.SpanFromContext(context.Background()) // which does nothing
	defer func() {
		if p := recover(); p != nil {
			otel.Handle(panicked(p))
		}
	}()
	return o.tracer.Start(ctx, name)
}
