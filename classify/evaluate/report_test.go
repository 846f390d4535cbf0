package evaluate

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

func TestReportSurvivesBeingWritten(t *testing.T) {
	r := evaluate(t, script, ten(), Options{Name: "script", Repeat: 2})
	b, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"version":2,"classifier":"script","threshold":0.8,"repeat":2,"all":{"cases":10,`)
	assert.NotContains(t, string(b), "status 0.9", "no text of a case")
	back, err := ReadReport(bytes.NewReader(b))
	require.NoError(t, err)
	again, err := json.Marshal(back)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(string(b), string(again)))
}

func TestReportsThatAreNone(t *testing.T) {
	good := asJSON(t, evaluate(t, script,
		[]Case{said("a", "error", "error 0.95"), said("b", "status", "status 0.9"), said("c", "status", "status 0.5")},
		Options{}))
	in := func(report, old, new string) string {
		require.Contains(t, report, old)
		return strings.Replace(report, old, new, 1)
	}
	swap := func(old, new string) string { return in(good, old, new) }
	for _, tt := range []struct{ want, report string }{
		{"it is empty", ""},
		{"not JSON: unexpected EOF", "{"},
		{"it has version 0; this program reads version 2", "{}"},
		{"a report: a JSON array does not fit", "[]"},
		{"version: a JSON array does not fit", `{"version":[]}`},
		{"it has version 1; this program reads version 2", swap(`"version":2`, `"version":1`)},
		{"something follows the report; one file has one", good + "\n" + good},
		{`"a" has a label or a verdict that makes no sense`, swap(`"want":{"type":"error"`, `"want":{"type":"done"`)},
		{"it has no outcomes", swap(`"outcomes":[`, `"outcomes":[],"x":[`)},
	} {
		_, err := ReadReport(strings.NewReader(tt.report))
		assert.EqualError(t, err, "evaluate: read report: "+tt.want)
	}
}

// Verdicts that are recorded give the report that judging them again gives.
func TestRecord(t *testing.T) {
	var cases []Case
	var results []classify.Result
	for _, c := range ten() {
		if r, err := script(t.Context(), c.Input); err == nil {
			cases, results = append(cases, c), append(results, r)
		}
	}
	opts := Options{Name: "script", Threshold: 0.7, About: []string{"Ten pauses <of> a \u202esession."}}
	want := evaluate(t, script, cases, opts)
	got, err := Record(cases, results, opts)
	require.NoError(t, err)
	want.Latency, got.Latency = latency{}, latency{}
	assert.Equal(t, asJSON(t, want), asJSON(t, got))
	page := html(t, got)
	assert.Contains(t, page, `Ten pauses &lt;of&gt; a \u202esession.`)
	assert.NotContains(t, page, "latency", "nobody took it")
	_, err = Record(nil, nil, opts)
	assert.Error(t, err)
	_, err = Record(append(cases, cases[0]), append(results, results[0]), opts)
	assert.Error(t, err, "a name twice")
}

// FuzzReadReport: a report is refused or can be used for everything.
func FuzzReadReport(f *testing.F) {
	const outcome = `{"version":2,"threshold":0.8,"repeat":1,"outcomes":[{"name":"a","want":{"type":"error"},` +
		`"verdict":{"type":"status","confidence":0.9,"action":"continue"}}]}`
	const runs = `"runs":[{"type":"error","action":"deliver"},{"type":"","action":"deliver"}],`
	for _, seed := range []string{outcome,
		strings.Replace(strings.Replace(outcome, `"verdict"`, runs+`"verdict"`, 1), `"repeat":1`, `"repeat":2`, 1)} {
		_, err := ReadReport(strings.NewReader(seed))
		require.NoError(f, err)
		f.Add(seed)
	}
	base := evaluate(f, script, ten(), Options{})
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ReadReport(strings.NewReader(s))
		if err != nil {
			return
		}
		require.NoError(t, View{Reports: []Report{r, base.Compare("r", r)}}.HTML(io.Discard))
		again, err := ReadReport(strings.NewReader(asJSON(t, r)))
		if err != nil || asJSON(t, r) != asJSON(t, again) {
			t.Fatal("it can't be read back", err)
		}
	})
}
