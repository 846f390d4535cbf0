package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

// export is where spans and metrics go.
type export struct {
	traces   *trace.TracerProvider
	metrics  *metric.MeterProvider
	registry *prometheus.Registry // nil without a Prometheus endpoint
}

// newExport exports by OTLP where the environment names an endpoint, otherwise to stdout; with scraped, metrics are
// there to be scraped and nothing is printed.
func newExport(ctx context.Context, scraped bool, getenv func(string) string, stdout io.Writer) (*export, error) {
	var x export
	name := attribute.String("service.name", "sidecoach-example") // unless OTEL_SERVICE_NAME says otherwise
	res, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(name), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("resource, see OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	spans := []trace.TracerProviderOption{trace.WithResource(res)}
	series := []metric.Option{metric.WithResource(res)}
	if scraped {
		x.registry = prometheus.NewRegistry()
		reader, err := otelprometheus.New(otelprometheus.WithRegisterer(x.registry))
		if err != nil {
			return nil, fmt.Errorf("prometheus: %w", err)
		}
		series = append(series, metric.WithReader(reader))
	}

	sent, err := otlp(getenv)
	switch {
	case err != nil:
		return nil, err
	case sent:
		te, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("OTLP: %w", err)
		}
		me, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("OTLP: %w", err)
		}
		spans = append(spans, trace.WithBatcher(te))
		series = append(series, metric.WithReader(metric.NewPeriodicReader(me)))
	case !scraped:
		te, err := stdouttrace.New(stdouttrace.WithWriter(stdout))
		if err != nil {
			return nil, err
		}
		me, err := stdoutmetric.New(stdoutmetric.WithWriter(stdout))
		if err != nil {
			return nil, err
		}
		spans = append(spans, trace.WithBatcher(te))
		series = append(series, metric.WithReader(metric.NewPeriodicReader(me)))
	}
	x.traces, x.metrics = trace.NewTracerProvider(spans...), metric.NewMeterProvider(series...)
	return &x, nil
}

// otlp reports whether the environment asks for OTLP. The exporters read the endpoint, headers and the rest themselves.
func otlp(getenv func(string) string) (bool, error) {
	const variable = "OTEL_EXPORTER_OTLP_ENDPOINT"
	endpoint := getenv(variable)
	if endpoint == "" {
		return false, nil
	}
	// What is no URL the exporters would leave for their default, without a word that anybody sees.
	if u, err := url.Parse(endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return false, fmt.Errorf("%s is %q: give it as a URL, such as http://localhost:4318", variable, endpoint)
	}
	if p := getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "http/protobuf" {
		return false, fmt.Errorf(
			"OTEL_EXPORTER_OTLP_PROTOCOL is %q: this program speaks http/protobuf alone, usually at port 4318",
			p,
		)
	}
	return true, nil
}

// serve answers scrapes on l until the function that it returns is called.
func (x *export) serve(l net.Listener) (stop func()) {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(x.registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }() // ends with an error when it is closed, as it is meant to
	return func() { _ = server.Close() }
}

// shutdown sends what is left.
func (x *export) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(x.traces.Shutdown(ctx), x.metrics.Shutdown(ctx))
}
