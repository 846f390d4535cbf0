package sidecoachotel_test

import (
	"context"
	"fmt"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/examples/otel/sidecoachotel"
)

// The README shows what stands between the two comments.
func Example() {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		panic(err)
	}
	reader := sdkmetric.NewManualReader()
	traces := sdktrace.NewTracerProvider()
	metrics := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))

	// The providers are the host's, with its exporters; left out, they are OpenTelemetry's global ones.
	observer, err := sidecoachotel.New(sidecoachotel.Config{TracerProvider: traces, MeterProvider: metrics})
	if err != nil {
		panic(err)
	}
	ac, err := autocontinue.New(observer.Instrument(autocontinue.Config{Classifier: heuristic}))
	if err != nil {
		panic(err)
	}
	d, err := ac.Handle(context.Background(), autocontinue.Output{Session: "chat", Text: "Which database should I use?"})

	// What there is to see:
	fmt.Println(d.Action, d.Reason, err)
	var seen metricdata.ResourceMetrics
	fmt.Println(reader.Collect(context.Background(), &seen))
	for _, m := range seen.ScopeMetrics[0].Metrics {
		fmt.Println(m.Name, m.Unit)
	}
	// Output:
	// deliver question <nil>
	// <nil>
	// sidecoach.decisions {decision}
	// sidecoach.turn.continues {continue}
	// sidecoach.handle.duration s
	// sidecoach.step.duration s
}
