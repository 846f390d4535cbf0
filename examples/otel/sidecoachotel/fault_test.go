package sidecoachotel

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// breaking panics wherever it is asked.
type breaking struct{ start, end bool }

func (p breaking) OnStart(context.Context, sdktrace.ReadWriteSpan) {
	if p.start {
		panic("on start")
	}
}

func (p breaking) OnEnd(sdktrace.ReadOnlySpan) {
	if p.end {
		panic(errBoom)
	}
}
func (breaking) Shutdown(context.Context) error   { return nil }
func (breaking) ForceFlush(context.Context) error { return nil }

func TestABrokenSpanProcessorFailsNoDecision(t *testing.T) {
	for _, p := range []breaking{{start: true}, {end: true}} {
		t.Run(fmt.Sprintf("%+v", p), func(t *testing.T) {
			var reported []string
			otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { reported = append(reported, err.Error()) }))
			t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) })
			var log strings.Builder
			l := newLoop(t, autocontinue.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}, p)
			d := l.handle(t, progress, autocontinue.Output{Text: "x"})
			assert.Equal(t, autocontinue.Continue, d.Action)
			series := l.collect(t)
			assert.Len(t, series[decisions.name], 1, "it is counted all the same")
			assert.Len(t, series[stepDuration.name], 3)
			assert.Contains(t, log.String(), "decision not observed")
			require.NotEmpty(t, reported)
			assert.Contains(t, reported[0], "sidecoachotel: a panic in what OpenTelemetry was given")
		})
	}
}

// stuck exports nothing until it is let go.
type stuck struct {
	called chan struct{}
	once   sync.Once
	free   chan struct{}
}

func (s *stuck) ExportSpans(ctx context.Context, _ []sdktrace.ReadOnlySpan) error {
	s.once.Do(func() { close(s.called) })
	select {
	case <-s.free:
	case <-ctx.Done():
	}
	return nil
}
func (s *stuck) Shutdown(context.Context) error { return nil }

// The exporter hangs from the first batch on, and the batcher's queue is far too small: the loop goes on.
func TestAnExporterThatHangsHoldsNoDecisionUp(t *testing.T) {
	exporter := &stuck{called: make(chan struct{}), free: make(chan struct{})}
	batcher := sdktrace.NewBatchSpanProcessor(exporter, sdktrace.WithMaxQueueSize(4), sdktrace.WithMaxExportBatchSize(1))
	l := newLoop(t, autocontinue.Config{}, batcher)
	l.handle(t, progress, autocontinue.Output{Session: "first", Text: "x"})
	<-exporter.called
	for i := range 500 {
		l.handle(t, progress, autocontinue.Output{Session: fmt.Sprint(i), Text: "x"})
	}
	select {
	case <-exporter.free:
		t.Fatal("the exporter was let go")
	default:
	}
	total := int64(0)
	for _, p := range l.collect(t)[decisions.name] {
		total += p.count
	}
	assert.EqualValues(t, 501, total)
	close(exporter.free)
	require.NoError(t, batcher.Shutdown(t.Context()))
}

func TestConcurrentSessions(t *testing.T) {
	l := newLoop(t, autocontinue.Config{})
	l.says = func(_ context.Context, in classify.Input) (classify.Result, error) {
		r := rejected
		r.Usage = &classify.Usage{PromptTokens: 10, CompletionTokens: 1, Attempts: 1}
		return r, nil
	}
	const sessions, outputs = 8, 40
	var wg sync.WaitGroup
	for s := range sessions {
		for range 2 { // two callers a session
			wg.Go(func() {
				for i := range outputs / 2 {
					_, err := l.Handle(t.Context(), autocontinue.Output{Session: fmt.Sprint(s), Turn: fmt.Sprint(i), Text: "Done."})
					assert.NoError(t, err)
				}
			})
		}
	}
	done := make(chan struct{})
	go func() { // as a scrape does
		defer close(done)
		for range 20 {
			l.collect(t)
		}
	}()
	wg.Wait()
	<-done
	series := l.collect(t)
	counted, tokens := int64(0), 0.0
	for _, p := range series[decisions.name] {
		counted += p.count
	}
	judged := int64(0)
	for _, p := range series[stepDuration.name] {
		if p.attrs["sidecoach.step"] == "classify" {
			judged += p.count
		}
	}
	for _, p := range series[tokenUsage.name] {
		tokens += p.sum
	}
	assert.EqualValues(t, sessions*outputs, counted)
	assert.InDelta(t, 11*float64(judged), tokens, 0)
	spans := 0
	for _, s := range l.spans.Ended() {
		if s.Name() == "sidecoach.handle" {
			spans++
		}
	}
	assert.Equal(t, sessions*outputs, spans)
}
