package evaluate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReportSurvivesBeingWritten(t *testing.T) {
	r := evaluate(t, script, ten(), Options{Name: "script", Repeat: 2})
	b, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"version":1,"classifier":"script","threshold":0.8,"repeat":2,"all":{"cases":10,`)
	assert.NotContains(t, string(b), "status 0.9", "no text of a case")
	back, err := ReadReport(bytes.NewReader(b))
	require.NoError(t, err)
	again, err := json.Marshal(back)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(string(b), string(again)))
}

func TestReportsThatAreNone(t *testing.T) {
	good := asJSON(t, evaluate(t, script, []Case{said("a", "error", "error 0.95"), said("b", "status", "status 0.9"), said("c", "status", "status 0.5")}, Options{}))
	twice := asJSON(t, evaluate(t, script, []Case{said("a", "status", "status 0.9")}, Options{Repeat: 2}))
	in := func(report, old, new string) string {
		require.Contains(t, report, old)
		return strings.Replace(report, old, new, 1)
	}
	swap := func(old, new string) string { return in(good, old, new) }
	for _, tt := range []struct{ want, report string }{
		{"it is empty", ""},
		{"not JSON: the line ends too early", "{"},
		{"it has version 0; this program reads version 1", "{}"},
		{"a report is an object, not a JSON array", "[]"},
		{"version: it can't be a JSON array", `{"version":[]}`},
		{"it has version 2; this program reads version 1", swap(`"version":1`, `"version":2`)},
		{"something follows the report; one file holds one", good + "\n" + good},
		{"it has no outcomes", swap(`"outcomes":[`, `"outcomes":[],"x":[`)},
		{"its cases were judged 0 times", swap(`"repeat":1`, `"repeat":0`)},
		{"its threshold 0 is neither above 0 and at most 1 nor -1, which is no gate", swap(`"threshold":0.8`, `"threshold":0`)},
		{"its threshold 1.5 is neither above 0 and at most 1 nor -1, which is no gate", swap(`"threshold":0.8`, `"threshold":1.5`)},
		{`it has "a" twice`, swap(`"name":"b"`, `"name":"a"`)},
		{`"a" has a label that can't be`, swap(`"want":{"type":"error"`, `"want":{"type":"done"`)},
		{`"a" has a verdict that can't be`, swap(`"confidence":0.95,"action"`, `"confidence":95,"action"`)},
		{`"a" has 0 runs, not 3`, swap(`"repeat":1`, `"repeat":3`)},
		{`"a" has a label that calls for deliver and says "continue"`, swap(`"was_rejected_completion":false,"action":"deliver"}`, `"was_rejected_completion":false,"action":"continue"}`)},
		{`"a" has a label that calls for deliver and says "suppress"`, swap(`"was_rejected_completion":false,"action":"deliver"}`, `"was_rejected_completion":false,"action":"suppress"}`)},
		{`"a" has a verdict whose action "suppress" is neither continue nor deliver`, swap(`"confidence":0.95,"action":"deliver"`, `"confidence":0.95,"action":"suppress"`)},
		{`"a" has a verdict whose action "" is neither continue nor deliver`, swap(`"confidence":0.95,"action":"deliver"`, `"confidence":0.95`)},
		{`"a" has a verdict that calls for deliver and says continue: error at 0.95`, swap(`"confidence":0.95,"action":"deliver"`, `"confidence":0.95,"action":"continue"`)},
		{`"b" has a verdict that calls for continue and says deliver: status at 0.90`, swap(`"confidence":0.9,"action":"continue"`, `"confidence":0.9,"action":"deliver"`)},
		{`"c" has a verdict that calls for deliver and says continue: status at 0.50`, swap(`"confidence":0.5,"action":"deliver"`, `"confidence":0.5,"action":"continue"`)},
		{`"a" has a verdict that calls for continue and says deliver: status at 0.90`, in(twice, `"runs":[{"type":"status","was_rejected_completion":false,"confidence":0.9,"action":"continue"`, `"runs":[{"type":"status","was_rejected_completion":false,"confidence":0.9,"action":"deliver"`)},
		{`"a" has a verdict whose action "suppress" is neither continue nor deliver`, in(twice, `"verdict":{"type":"status","was_rejected_completion":false,"confidence":0.9,"action":"continue"`, `"verdict":{"type":"status","was_rejected_completion":false,"confidence":0.9,"action":"suppress"`)},
	} {
		_, err := ReadReport(strings.NewReader(tt.report))
		assert.EqualError(t, err, "evaluate: read report: "+tt.want)
	}
}

// What follows from the rest of a report is not taken from the file.
func TestReadReportComputesWhatFollows(t *testing.T) {
	answers := map[string]string{"a": "status 0.9"}
	r := evaluate(t, answersBy(answers), []Case{said("a", "status", "a")}, Options{Repeat: 3})
	s := asJSON(t, r)
	s = strings.Replace(s, `"want":{"type":"status","was_rejected_completion":false,"action":"continue"}`, `"want":{"type":"status"}`, 1)
	s = strings.Replace(s, `"verdict":{"type":"status","was_rejected_completion":false,"confidence":0.9,"action":"continue"}`, `"verdict":{"type":"question","confidence":1,"action":"deliver"}`, 1)
	got, err := ReadReport(strings.NewReader(s))
	require.NoError(t, err)
	assert.Equal(t, Continue, got.Outcomes[0].Want.Action)
	assert.Equal(t, "status", got.Outcomes[0].Verdict.Label())
	assert.Equal(t, Continue, got.Outcomes[0].Verdict.Action)
	assert.True(t, got.Outcomes[0].Right())
	assert.Empty(t, cmp.Diff(asJSON(t, r), asJSON(t, got)))
}

// FuzzReadReport: a report is refused or can be used for everything.
func FuzzReadReport(f *testing.F) {
	const outcome = `{"version":1,"threshold":0.8,"repeat":1,"outcomes":[{"name":"a","want":{"type":"error"},"verdict":{"type":"status","confidence":0.9,"action":"continue"}}]}`
	const runs = `"runs":[{"type":"error","action":"deliver"},{"type":"","action":"deliver"}],`
	for _, seed := range []string{outcome, strings.Replace(strings.Replace(outcome, `"verdict"`, runs+`"verdict"`, 1), `"repeat":1`, `"repeat":2`, 1)} {
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
		c := base.Compare(r)
		if c.Cases+len(c.Added)+len(c.Differed) != len(base.Outcomes) || c.Cases+len(c.Removed)+len(c.Differed) != len(r.Outcomes) {
			t.Fatalf("%+v", c)
		}
		r.Spread("accuracy")
		again, err := ReadReport(strings.NewReader(asJSON(t, r)))
		if err != nil || asJSON(t, r) != asJSON(t, again) {
			t.Fatal("it can't be read back", err)
		}
	})
}
