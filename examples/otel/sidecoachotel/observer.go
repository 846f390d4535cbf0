package sidecoachotel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// scope names this package as the one that measures.
const scope = "github.com/sidecoach/sidecoach/examples/otel/sidecoachotel"

// Config is what an [Observer] is made of. The zero value works.
type Config struct {
	TracerProvider trace.TracerProvider // nil is the global one
	MeterProvider  metric.MeterProvider // nil is the global one

	// Provider is the gen_ai.provider.name of the model that judges. Empty is "openai", whose protocol classify/llm
	// speaks, whoever answers.
	Provider string
	// Model is the gen_ai.request.model, as the host asks for it. Empty leaves it out. The name that the server gives is
	// on spans alone: nothing bounds how many there are.
	Model string
	// Sources are the names that classifiers of the host give themselves in classify.Result.Source, beside "heuristic" and
	// "llm"; at most 8.
	Sources []string
}

// Observer is an [autocontinue.Observer] and an [autocontinue.Starter]. It is safe for concurrent use.
type Observer struct {
	tracer  trace.Tracer
	sources []string
	model   []attribute.KeyValue // of what a model is asked
	series  series
	instruments
}

var (
	_ autocontinue.Observer = (*Observer)(nil)
	_ autocontinue.Starter  = (*Observer)(nil)
)

// New returns an observer. More than 8 sources, and an instrument that the meter provider refuses, are errors.
func New(cfg Config) (*Observer, error) {
	if len(cfg.Sources) > 8 {
		return nil, fmt.Errorf("sidecoachotel: %d names in Config.Sources: give at most 8, each is a series of its own",
			len(cfg.Sources))
	}
	if cfg.TracerProvider == nil {
		cfg.TracerProvider = otel.GetTracerProvider()
	}
	if cfg.MeterProvider == nil {
		cfg.MeterProvider = otel.GetMeterProvider()
	}
	if cfg.Provider == "" {
		cfg.Provider = "openai"
	}
	made, err := makeInstruments(cfg.MeterProvider.Meter(scope))
	if err != nil {
		return nil, fmt.Errorf("sidecoachotel: %w", err)
	}
	o := &Observer{
		tracer:      cfg.TracerProvider.Tracer(scope),
		sources:     append([]string{"heuristic", "llm"}, cfg.Sources...),
		model:       []attribute.KeyValue{keyOperation.String("chat"), keyProvider.String(cfg.Provider)},
		instruments: made,
	}
	if cfg.Model != "" {
		o.model = append(o.model, keyRequestModel.String(cfg.Model))
	}
	return o, nil
}

// spanKey is the key of o's span in a context.
type spanKey struct{ o *Observer }

// Start opens the span of a call of Handle.
func (o *Observer) Start(ctx context.Context) (started context.Context) {
	started = ctx
	defer func() {
		if p := recover(); p != nil {
			otel.Handle(panicked(p))
		}
	}()
	inside, span := o.tracer.Start(ctx, "sidecoach.handle")
	started = context.WithValue(inside, spanKey{o}, span)
	return started
}

// Observe counts a decision and ends its span. Without [Observer.Start] before, the span is made now, from e.Time for
// e.Took, in that of ctx. Its error is a panic of the SDK or of what is plugged into it.
func (o *Observer) Observe(ctx context.Context, e autocontinue.Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	o.count(ctx, e) // first: whatever happens to the span
	span, ok := ctx.Value(spanKey{o}).(trace.Span)
	var end []trace.SpanEndOption
	if !ok {
		_, span = o.tracer.Start(ctx, "sidecoach.handle", trace.WithTimestamp(e.Time))
		end = []trace.SpanEndOption{trace.WithTimestamp(e.Time.Add(e.Took))}
	}
	defer span.End(end...)
	if span.IsRecording() {
		o.describe(span, e)
	}
	return nil
}

// count adds e to the metrics.
func (o *Observer) count(ctx context.Context, e autocontinue.Event) {
	d, r := e.Decision, e.Decision.Result
	action, source := keyAction.String(actionCode(d.Action)), code(r.Source, o.sources)
	decision := append(make([]attribute.KeyValue, 0, 8), action,
		keyOutcome.String(code(d.Outcome, outcomes)), keyReason.String(code(d.Reason, reasons)), keyReplayed.Bool(d.Replayed))
	took := append(make([]attribute.KeyValue, 0, 3), action)
	if r.Type != "" {
		decision = append(decision, keyType.String(code(r.Type, types)), keyRejected.Bool(r.WasRejectedCompletion))
	}
	if source != "" {
		decision, took = append(decision, keySource.String(source)), append(took, keySource.String(source))
	}
	if failure := errorType(e); failure != "" {
		decision, took = append(decision, keyErrorType.String(failure)), append(took, keyErrorType.String(failure))
	}
	o.decisions.Add(ctx, 1, o.series.of(decision...).add...)
	o.handleDuration.Record(ctx, e.Took.Seconds(), o.series.of(took...).record...)

	if d.Replayed {
		return // all else was counted when it was made
	}
	if slices.Contains(ends, d.Reason) {
		o.turnContinues.Record(ctx, int64(d.Continues), o.series.of(keyOutcome.String(code(d.Outcome, outcomes))).record...)
	}
	if d.Tier != "" {
		o.messages.Add(ctx, 1, o.series.of(keyTier.String(code(d.Tier, tiers))).add...)
	}
	if why := fallbackCode(r.Fallback); why != "" {
		o.fallbacks.Add(ctx, 1, o.series.of(keyFallback.String(why)).add...)
	}
	for _, why := range d.Degraded {
		o.degradations.Add(ctx, 1, o.series.of(keyDegraded.String(degradedCode(why))).add...)
	}
	o.countUsage(ctx, r.Usage)
}

// countUsage adds what a verdict cost, unless it came from a cache.
func (o *Observer) countUsage(ctx context.Context, u *classify.Usage) {
	if u == nil || u.Attempts == 0 && u.PromptTokens == 0 && u.CompletionTokens == 0 {
		return
	}
	tokens := func(kind string, n int) {
		attrs := append(slices.Clone(o.model), keyTokenType.String(kind))
		o.tokenUsage.Record(ctx, int64(n), o.series.of(attrs...).record...)
	}
	tokens("input", u.PromptTokens)
	tokens("output", u.CompletionTokens)
	o.operationDuration.Record(ctx, u.Latency.Seconds(), o.series.of(o.model...).record...)
}

const (
	maxID  = 200 // characters of an ID or a model's name on a span
	maxErr = 200 // of an error, as in the journal
)

// describe puts e on its span.
func (o *Observer) describe(span trace.Span, e autocontinue.Event) {
	d, r := e.Decision, e.Decision.Result
	attrs := append(make([]attribute.KeyValue, 0, 28),
		keyAction.String(actionCode(d.Action)), keyContinues.Int(d.Continues), keyReplayed.Bool(d.Replayed))
	text := func(k attribute.Key, v string) {
		if v != "" {
			attrs = append(attrs, k.String(v))
		}
	}
	for _, id := range []struct {
		key attribute.Key
		id  string
	}{{keyConversation, e.Session}, {keyTurn, e.Turn}, {keyRun, e.Run}, {keyOutput, e.OutputID}, {keyDecision, d.ID}} {
		text(id.key, plaintext.Line(id.id, maxID))
	}
	text(keyOutcome, code(d.Outcome, outcomes))
	text(keyReason, code(d.Reason, reasons))
	text(keyTier, code(d.Tier, tiers))
	text(keyVerified, code(d.Verified, statuses))
	text(keySource, code(r.Source, o.sources))
	text(keyFallback, fallbackCode(r.Fallback))
	text(keyErrorType, errorType(e))
	if d.Attempt > 0 {
		attrs = append(attrs, keyAttempt.Int(d.Attempt))
	}
	if r.Type != "" {
		attrs = append(attrs, keyType.String(code(r.Type, types)), keyRejected.Bool(r.WasRejectedCompletion),
			keyConfidence.Float64(r.Confidence))
	}
	var degraded []string
	for _, why := range d.Degraded {
		degraded = append(degraded, degradedCode(why))
	}
	if degraded != nil {
		attrs = append(attrs, keyDegraded.StringSlice(degraded))
	}
	if u := r.Usage; u != nil {
		attrs = append(attrs, o.model...)
		attrs = append(attrs, keyInput.Int(u.PromptTokens), keyCached.Int(u.CachedTokens),
			keyOutputTokens.Int(u.CompletionTokens))
		text(keyResponseModel, plaintext.Line(u.Model, maxID))
	}
	span.SetAttributes(attrs...)
	if errorType(e) != "" {
		span.SetStatus(codes.Error, plaintext.Line(e.Err, maxErr))
	}
}

// errorType is the code of an event's error. An event that was read from a journal has the text alone.
func errorType(e autocontinue.Event) string {
	if e.Cause == nil && e.Err != "" {
		return other
	}
	return errorCode(e.Cause)
}

func panicked(p any) error {
	if err, ok := p.(error); ok {
		return fmt.Errorf("sidecoachotel: a panic in what OpenTelemetry was given: %w", err)
	}
	return errors.New("sidecoachotel: a panic in what OpenTelemetry was given: " + plaintext.Line(fmt.Sprint(p), maxErr))
}
