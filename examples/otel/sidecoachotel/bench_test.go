package sidecoachotel

import (
	"fmt"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// BenchmarkHandle handles three outputs, each the pause of a new turn, with the heuristic: without anything observed
// and with, in turn, so that both have the same machine. x/bare is the time as a multiple of the bare loop's, ns/added
// and allocs/added are what an output costs beside. Spans go through a batcher to an exporter that drops them.
func BenchmarkHandle(b *testing.B) {
	texts := []string{
		"I've fixed the login redirect and updated the handler. Everything should work now, all tests pass.",
		"I'm reading the store package now. Next I'll write the migration, then port the queries and run the tests.",
		"There are two ways to do this. Should I use an LRU cache, or a time to live for each entry?",
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name    string
		sampler sdktrace.Sampler
		cfg     func(o *Observer, cfg autocontinue.Config) autocontinue.Config
	}{
		{"observer", sdktrace.AlwaysSample(), func(o *Observer, cfg autocontinue.Config) autocontinue.Config {
			cfg.Observer = o
			return cfg
		}},
		{"instrument", sdktrace.AlwaysSample(), (*Observer).Instrument},
		{"instrument,unsampled", sdktrace.NeverSample(), (*Observer).Instrument},
	} {
		b.Run(bench.name, func(b *testing.B) {
			tracer := sdktrace.NewTracerProvider(sdktrace.WithSampler(bench.sampler),
				sdktrace.WithBatcher(tracetest.NewNoopExporter()))
			defer func() { _ = tracer.Shutdown(b.Context()) }()
			meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
			o, err := New(Config{TracerProvider: tracer, MeterProvider: meter})
			if err != nil {
				b.Fatal(err)
			}
			loops := make([]*autocontinue.AutoContinue, 2)
			for i, cfg := range []autocontinue.Config{{Classifier: heuristic},
				bench.cfg(o, autocontinue.Config{Classifier: heuristic})} {
				if loops[i], err = autocontinue.New(cfg); err != nil {
					b.Fatal(err)
				}
			}
			turn := 0
			handle := func(l *autocontinue.AutoContinue) {
				for i, text := range texts {
					turn++
					if _, err := l.Handle(b.Context(),
						autocontinue.Output{Session: fmt.Sprint("s", i), Turn: fmt.Sprint(turn), Text: text}); err != nil {
						b.Fatal(err)
					}
				}
			}
			bareAllocs := testing.AllocsPerRun(100, func() { handle(loops[0]) })
			allocs := testing.AllocsPerRun(100, func() { handle(loops[1]) }) - bareAllocs
			var bare, observed float64
			for b.Loop() {
				start := b.Elapsed()
				handle(loops[0])
				middle := b.Elapsed()
				handle(loops[1])
				bare += float64(middle - start)
				observed += float64(b.Elapsed() - middle)
			}
			outputs := float64(len(texts)) * float64(b.N)
			b.ReportMetric(0, "ns/op") // it is both
			b.ReportMetric(bare/outputs, "ns/bare")
			b.ReportMetric((observed-bare)/outputs, "ns/added")
			b.ReportMetric(observed/bare, "x/bare")
			b.ReportMetric(allocs/float64(len(texts)), "allocs/added")
		})
	}
}
