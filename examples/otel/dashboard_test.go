package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/examples/otel/sidecoachotel"
)

// dashboard is what the tests ask of dashboard.json.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct {
		List []struct {
			Name, Type string
			Query      any
			Datasource *source
		}
	}
	Panels []struct {
		ID                       int
		Type, Title, Description string
		Datasource               source
		GridPos                  struct{ X, Y, W, H int }
		Targets                  []target
		FieldConfig              struct{ Defaults struct{ Unit string } }
	}
}

type source struct{ Type, UID string }

type target struct {
	RefID, Expr, LegendFormat string
	Datasource                source
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	file, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(file, &d))
	return d
}

// scrape plays every turn and returns the series as Prometheus would read them.
func scrape(t *testing.T) []labels.Labels {
	t.Helper()
	registry := prometheus.NewRegistry()
	reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	require.NoError(t, err)
	observer, err := sidecoachotel.New(sidecoachotel.Config{
		TracerProvider: noop.NewTracerProvider(), MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)),
		Model: model,
	})
	require.NoError(t, err)
	simulation, err := newSimulation()
	require.NoError(t, err)
	ac, err := autocontinue.New(observer.Instrument(simulation.config()))
	require.NoError(t, err)
	for n := range turns {
		simulation.play(t.Context(), ac, n)
	}
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	res, err := http.Get(server.URL)
	require.NoError(t, err)
	defer res.Body.Close()
	return readSeries(t, res.Body)
}

// readSeries reads the names and labels of an exposition, without what belongs to the exporter.
func readSeries(t *testing.T, r io.Reader) []labels.Labels {
	t.Helper()
	p := parser.NewParser(parser.Options{})
	var series []labels.Labels
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "target_info") {
			continue
		}
		s, err := p.ParseMetric(line[:strings.LastIndex(line, " ")])
		require.NoError(t, err, line)
		series = append(series, s)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, series)
	return series
}

// variables are what Grafana puts into a query.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$job", ".*")

func TestEveryQueryAsksForWhatIsThere(t *testing.T) {
	series := scrape(t)
	for _, panel := range readDashboard(t).Panels {
		for _, target := range panel.Targets {
			t.Run(panel.Title+"/"+target.RefID, func(t *testing.T) {
				for _, c := range complaints(target.Expr, target.LegendFormat, series) {
					t.Error(c)
				}
			})
		}
	}
}

// complaints returns what is wrong with a query: it does not parse, selects nothing, or groups by what nothing has.
func complaints(query, legend string, series []labels.Labels) []string {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(variables.Replace(query))
	if err != nil {
		return []string{err.Error()}
	}
	var bad []string
	grouped := make(map[string]bool)
	has := func(node parser.Node, label string) bool { // whether what is selected below node has the label
		found := false
		parser.Inspect(node, func(n parser.Node, _ []parser.Node) error {
			if v, ok := n.(*parser.VectorSelector); ok {
				found = found || slices.ContainsFunc(series, func(s labels.Labels) bool { return matches(v, s) && s.Has(label) })
			}
			return nil
		})
		return found
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			if !slices.ContainsFunc(series, func(s labels.Labels) bool { return matches(n, s) }) {
				bad = append(bad, "nothing is selected by "+n.String())
			}
			for _, m := range n.LabelMatchers {
				if m.Type == labels.MatchRegexp {
					bad = append(bad, alternatives(m, series)...)
				}
			}
		case *parser.AggregateExpr:
			for _, label := range n.Grouping {
				grouped[label] = true
				if !has(n.Expr, label) {
					bad = append(bad, "nothing that is selected has the label "+label)
				}
			}
		}
		return nil
	})
	for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(legend, -1) {
		if !grouped[m[1]] {
			bad = append(bad, "the legend names "+m[1]+", by which the query does not group")
		}
	}
	return bad
}

// matches reports whether a selector selects a series. Prometheus adds the label job when it scrapes.
func matches(v *parser.VectorSelector, s labels.Labels) bool {
	return !slices.ContainsFunc(v.LabelMatchers, func(m *labels.Matcher) bool {
		return m.Name != "job" && !m.Matches(s.Get(m.Name))
	})
}

// alternatives returns those of a|b|c that no series has.
func alternatives(m *labels.Matcher, series []labels.Labels) []string {
	var bad []string
	if m.Name == "job" {
		return nil
	}
	for _, a := range strings.Split(m.Value, "|") {
		if !slices.ContainsFunc(series, func(s labels.Labels) bool { return s.Get(m.Name) == a }) {
			bad = append(bad, "nothing has "+m.Name+" "+a)
		}
	}
	return bad
}

func TestWrongQueriesAreFound(t *testing.T) {
	series := scrape(t)
	const good = `sum by (sidecoach_reason) (rate(sidecoach_decisions_total{job=~"$job", ` +
		`sidecoach_reason=~"cap|repeat"}[$__rate_interval]))`
	require.Empty(t, complaints(good, "{{sidecoach_reason}}", series))
	for _, tt := range []struct{ old, new, legend, want string }{
		{"decisions_total", "decision_total", "", "nothing is selected"},
		{"cap|repeat", "capped", "", "nothing is selected"},
		{"cap|repeat", "cap|stalled", "", "nothing has sidecoach_reason stalled"},
		{"by (sidecoach_reason)", "by (reason)", "", "has the label reason"},
		{"]))", "])", "", "unclosed left parenthesis"},
		{"rate", "ratio", "", "unknown function"},
		{"", "", "{{sidecoach_outcome}}", "by which the query does not group"},
	} {
		bad := complaints(strings.Replace(good, tt.old, tt.new, 1), tt.legend, series)
		require.NotEmpty(t, bad, tt.new)
		assert.Contains(t, strings.Join(bad, "\n"), tt.want)
	}
}

// What is measured is shown.
func TestEveryInstrumentIsOnTheDashboard(t *testing.T) {
	shown := make(map[string]bool)
	for _, panel := range readDashboard(t).Panels {
		for _, target := range panel.Targets {
			expr, err := parser.NewParser(parser.Options{}).ParseExpr(variables.Replace(target.Expr))
			require.NoError(t, err)
			parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
				if v, ok := n.(*parser.VectorSelector); ok {
					shown[family(v.Name)] = true
				}
				return nil
			})
		}
	}
	measured := make(map[string]bool)
	for _, s := range scrape(t) {
		measured[family(s.Get("__name__"))] = true
	}
	assert.Equal(t, measured, shown)
	assert.Len(t, measured, 11, "the turns that are played make use of every instrument")
}

// family is a metric's name without what a histogram adds to it.
func family(name string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

func TestTheDashboardIsWellFormed(t *testing.T) {
	d := readDashboard(t)
	assert.Equal(t, 42, d.SchemaVersion)
	assert.NotEmpty(t, d.Title)
	prometheus := source{"prometheus", "${datasource}"}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
		if v.Type == "datasource" {
			assert.Equal(t, "prometheus", v.Query)
		} else {
			assert.Equal(t, &prometheus, v.Datasource)
		}
	}
	assert.Equal(t, []string{"datasource", "job"}, variables)

	var taken [200][24]string
	ids := make(map[int]bool)
	for _, p := range d.Panels {
		assert.False(t, ids[p.ID], "two panels have the ID %d", p.ID)
		ids[p.ID] = true
		assert.Equal(t, prometheus, p.Datasource, p.Title)
		assert.NotEmpty(t, p.Description, p.Title)
		assert.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		refs := make(map[string]bool)
		for _, target := range p.Targets {
			assert.Equal(t, prometheus, target.Datasource, p.Title)
			assert.NotEmpty(t, target.LegendFormat, p.Title)
			assert.False(t, refs[target.RefID], p.Title)
			refs[target.RefID] = true
		}
		for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				require.Less(t, x, 24, p.Title)
				assert.Empty(t, taken[y][x], "%s lies on it", p.Title)
				taken[y][x] = p.Title
			}
		}
	}
}
