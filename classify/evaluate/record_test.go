package evaluate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// Verdicts that are recorded give the report that judging them again gives.
func TestRecord(t *testing.T) {
	h, err := classify.NewHeuristic()
	require.NoError(t, err)
	var cases []evaluate.Case
	var judged []evaluate.Judged
	for name, text := range map[string]string{"b": "Fixed, should work now.", "a": "Should I drop the table?", "c": "All done: 12 passed, 0 failed."} {
		c := evaluate.Case{Name: name, Input: classify.Input{Text: text}, Want: evaluate.Want{Type: classify.Status}, Meta: map[string]any{"sure": false}}
		r, err := h.Classify(t.Context(), c.Input)
		require.NoError(t, err)
		cases, judged = append(cases, c), append(judged, evaluate.Judged{Case: c, Result: r})
	}
	opts := evaluate.Options{Name: "heuristic", Threshold: 0.7, About: []string{"Three pauses <of> a \u202esession."}}
	want, err := evaluate.Evaluate(context.Background(), h, cases, opts)
	require.NoError(t, err)
	got, err := evaluate.Record(judged, opts)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, got, cmpopts.IgnoreFields(evaluate.Report{}, "Latency"), cmpopts.EquateEmpty()))

	var page strings.Builder
	require.NoError(t, got.HTML(&page))
	require.Contains(t, page.String(), `<p>Three pauses &lt;of&gt; a \u202esession.</p>`)
	require.NotContains(t, page.String(), "latency", "nobody took it")

	_, err = evaluate.Record(append(judged, judged[0]), opts)
	require.ErrorContains(t, err, "a second case is named")
	_, err = evaluate.Record(nil, opts)
	require.ErrorContains(t, err, "there are no cases")
	_, err = evaluate.Record(judged, evaluate.Options{Threshold: 2})
	require.Error(t, err)
}
