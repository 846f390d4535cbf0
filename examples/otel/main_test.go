package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sidecoach/sidecoach/autocontinue"
)

func nothing(string) string { return "" }

// pauses is how many outputs the turns have.
func pauses() (n int) {
	for _, turn := range turns {
		n += len(turn.pauses)
	}
	return n
}

func TestPrintsSpansAndMetrics(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, run(t.Context(), nil, nothing, &stdout, &stderr), stderr.String())
	assert.Contains(t, stderr.String(), "28 outputs decided about, 2 of them with an error of the played store")
	spans, metrics := 0, 0
	reasons := make(map[string]bool)
	for _, line := range strings.Split(strings.TrimSpace(stdout.String()), "\n") {
		var printed struct {
			Name         string
			ScopeMetrics []any
			Attributes   []struct {
				Key   string
				Value struct{ Value any }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &printed), line)
		if printed.ScopeMetrics != nil {
			metrics++
		}
		if printed.Name == "sidecoach.handle" {
			spans++
		}
		for _, a := range printed.Attributes {
			if a.Key == "sidecoach.reason" {
				reasons[a.Value.Value.(string)] = true
			}
		}
	}
	assert.Equal(t, pauses(), spans)
	assert.Equal(t, 1, metrics)
	for _, reason := range []autocontinue.Reason{
		"rejected_completion", "progress", "completion",
		"question", "blocker", "crash_guard", "hold",
		"low_confidence", "repeat", "cap", "run_closed",
		"error",
	} {
		assert.True(t, reasons[string(reason)], reason)
	}
	for _, turn := range turns {
		for _, p := range turn.pauses {
			assert.NotContains(t, stdout.String(), p.text)
		}
	}
}

// collector takes OTLP over HTTP, as far as the tests need it.
type collector struct {
	mu      sync.Mutex
	spans   []string
	metrics []string
	status  int // of its answers
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if c.status != 0 || err != nil {
		w.WriteHeader(c.status)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	switch r.URL.Path {
	case "/v1/traces":
		var request collectortrace.ExportTraceServiceRequest
		if proto.Unmarshal(body, &request) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					c.spans = append(c.spans, span.Name)
				}
			}
		}
	case "/v1/metrics":
		var request collectormetrics.ExportMetricsServiceRequest
		if proto.Unmarshal(body, &request) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, resource := range request.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, m := range scope.Metrics {
					c.metrics = append(c.metrics, m.Name)
				}
			}
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func TestSendsOTLP(t *testing.T) {
	var c collector
	server := httptest.NewServer(&c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	var stdout, stderr bytes.Buffer
	require.Equal(t, 0, run(t.Context(), nil, os.Getenv, &stdout, &stderr), stderr.String())
	assert.Empty(t, stdout.String())
	handled := 0
	for _, name := range c.spans {
		if name == "sidecoach.handle" {
			handled++
		}
	}
	assert.Equal(t, pauses(), handled)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(c.metrics))), 11)
}

// The decisions are made all the same.
func TestACollectorThatRefusesIsNamed(t *testing.T) {
	server := httptest.NewServer(&collector{status: http.StatusUnauthorized})
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 1, run(t.Context(), nil, os.Getenv, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "28 outputs decided about")
	assert.Contains(t, stderr.String(), "401")
}

func TestServesPrometheus(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"-listen", "127.0.0.1:0", "-every", "0s"}, nothing, io.Discard, w)
		w.Close()
	}()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	url := strings.TrimSpace(strings.TrimPrefix(line, "metrics: "))
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	res, err := http.Get(url)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	res.Body.Close()
	assert.Equal(t, http.StatusOK, res.StatusCode)
	assert.Contains(t, string(body), `service_name="sidecoach-example"`)
	cancel()
	assert.Equal(t, 0, <-code)
}

func TestBadUse(t *testing.T) {
	for _, tt := range []struct {
		args []string
		env  map[string]string
		code int
		want string
	}{
		{args: []string{"x"}, code: 2, want: `unexpected argument "x"`},
		{args: []string{"-rounds", "-1"}, code: 2, want: "not below 0"},
		{args: []string{"-listen", "nowhere:port"}, code: 1, want: "-listen: "},
		{args: []string{"-h"}, code: 0, want: "-listen address"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317",
			"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, code: 1, want: "http/protobuf alone"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"}, code: 1,
			want: "such as http://localhost:4318"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "ht tp://x"}, code: 1, want: "give it as a URL"},
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, tt.code, run(t.Context(), tt.args, func(key string) string { return tt.env[key] }, &stdout, &stderr))
		assert.Contains(t, stderr.String(), tt.want)
		assert.Empty(t, stdout.String())
	}
}
