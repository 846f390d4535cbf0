package sidecoachotel

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

var errBoom = errors.New("boom")

var (
	progress = classify.Result{Type: classify.Status, Confidence: 0.9, Reason: "working", Source: "heuristic"}
	rejected = classify.Result{
		Type:                  classify.Status,
		Confidence:            0.9,
		Reason:                "no evidence",
		Source:                "heuristic",
		WasRejectedCompletion: true,
	}
	completion = classify.Result{Type: classify.Completion, Confidence: 0.9, Reason: "shown", Source: "heuristic"}
	question   = classify.Result{Type: classify.Question, Confidence: 0.9, Reason: "asks", Source: "heuristic"}
	blocker    = classify.Result{Type: classify.Blocker, Confidence: 0.9, Reason: "needs a key", Source: "heuristic"}
	crash      = classify.Result{Type: classify.Error, Confidence: 0.9, Reason: "a stack trace", Source: "heuristic"}
)

// loop is a loop that is measured, whose classifier says what it is told to.
type loop struct {
	*autocontinue.AutoContinue
	o      *Observer
	says   func(context.Context, classify.Input) (classify.Result, error)
	reader *sdkmetric.ManualReader
	spans  *tracetest.SpanRecorder
	tracer *sdktrace.TracerProvider
}

func newLoop(t testing.TB, cfg autocontinue.Config, processors ...sdktrace.SpanProcessor) *loop {
	t.Helper()
	l := &loop{reader: sdkmetric.NewManualReader(), spans: tracetest.NewSpanRecorder()}
	options := []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(l.spans)}
	for _, p := range processors {
		options = append(options, sdktrace.WithSpanProcessor(p))
	}
	l.tracer = sdktrace.NewTracerProvider(options...)
	var err error
	l.o, err = New(Config{
		TracerProvider: l.tracer,
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(l.reader)),
		Model:          "judge-1",
	})
	require.NoError(t, err)
	if cfg.Classifier == nil {
		cfg.Classifier = classify.ClassifierFunc(
			func(ctx context.Context, in classify.Input) (classify.Result, error) { return l.says(ctx, in) },
		)
	}
	l.AutoContinue, err = autocontinue.New(l.o.Instrument(cfg))
	require.NoError(t, err)
	return l
}

// handle decides about one output that the classifier judges as r.
func (l *loop) handle(t *testing.T, r classify.Result, out autocontinue.Output) autocontinue.Decision {
	t.Helper()
	l.says = func(context.Context, classify.Input) (classify.Result, error) { return r, nil }
	if out.Session == "" {
		out.Session = "s"
	}
	d, err := l.Handle(t.Context(), out)
	require.NoError(t, err)
	return d
}

// span returns the span with the name that ended last.
func (l *loop) span(t *testing.T, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	ended := l.spans.Ended()
	for i := len(ended) - 1; i >= 0; i-- {
		if ended[i].Name() == name {
			return ended[i]
		}
	}
	require.Fail(t, "no span", name)
	return nil
}

func attrs(kvs []attribute.KeyValue) map[string]any {
	m := make(map[string]any, len(kvs))
	for _, kv := range kvs {
		m[string(kv.Key)] = kv.Value.AsInterface()
	}
	return m
}

// point is one series: its attributes, how often it was recorded, and the sum.
type point struct {
	attrs map[string]any
	count int64
	sum   float64
}

// collect returns the series of every instrument by the instrument's name.
func (l *loop) collect(t testing.TB) map[string][]point {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, l.reader.Collect(context.Background(), &all))
	series := make(map[string][]point)
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			var points []point
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					points = append(points, point{attrs(p.Attributes.ToSlice()), p.Value, float64(p.Value)})
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					points = append(points, point{attrs(p.Attributes.ToSlice()), int64(p.Count), float64(p.Sum)})
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					points = append(points, point{attrs(p.Attributes.ToSlice()), int64(p.Count), p.Sum})
				}
			default:
				require.Failf(t, "an instrument that is not in the table", "%s: %T", m.Name, data)
			}
			series[m.Name] = points
		}
	}
	return series
}

// added returns what after has more than before, by attributes.
func added(before, after []point) []point {
	var more []point
	for _, p := range after {
		for _, q := range before {
			if equal(p.attrs, q.attrs) {
				p.count, p.sum = p.count-q.count, p.sum-q.sum
			}
		}
		if p.count > 0 {
			more = append(more, p)
		}
	}
	return more
}

func equal(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}
