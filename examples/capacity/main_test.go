package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

var heldout = filepath.Join("..", "..", "classify", "testdata", "heldout.jsonl")

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	all, err := os.ReadFile(heldout)
	require.NoError(t, err)
	some := filepath.Join(t.TempDir(), "some.jsonl")
	lines := strings.SplitAfter(string(all), "\n")
	require.NoError(t, os.WriteFile(some, []byte(strings.Join(lines[:15], "")), 0o600))
	var out, errs strings.Builder
	require.Zero(t, run(t.Context(), []string{"-cases", some, "-each", "1ms", "-price", "1, 0.5, 2"}, &out, &errs),
		errs.String())
	for _, want := range []string{
		"| classify: the heuristic |", "| decide, state in files |", "The cascade asks the LLM about ",
		"| 10,000 | heuristic | below 0.01 | 0 | 0 | 0 | 0 | 0.00 |", "| 100 million | LLM for each |",
	} {
		assert.Contains(t, out.String(), want)
	}
}

func TestRefusals(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	require.NoError(t, os.WriteFile(empty, []byte("\n"), 0o600))
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"more"}, 2, `unexpected argument "more"`},
		{[]string{"-certain", "1.1"}, 2, "-certain is 0 to 1"},
		{[]string{"-certain", "NaN"}, 2, "-certain is 0 to 1"},
		{[]string{"-answer", "-1"}, 2, "-answer is not below 0"},
		{[]string{"-each", "0"}, 2, "-each is above 0"},
		{[]string{"-price", "1"}, 2, "it takes three numbers"},
		{[]string{"-price", "1,2,x"}, 2, `"x" is no price`},
		{[]string{"-price", "1,2,-1"}, 2, `"-1" is no price`},
		{[]string{"-cases", "no-such-file.jsonl"}, 1, "no-such-file.jsonl"},
		{[]string{"-cases", empty}, 1, "no case"},
	} {
		var out, errs strings.Builder
		assert.Equal(t, c.status, run(t.Context(), c.args, &out, &errs), c.args)
		assert.Contains(t, errs.String(), c.want, c.args)
		assert.Empty(t, out.String(), c.args)
	}
}

// A cascade that is never certain asks about all that has words and is no crash; one that always is asks about none.
func TestCertain(t *testing.T) {
	cases := []evaluate.Case{
		{
			Name:  "status",
			Input: classify.Input{Text: "Still working on the parser."},
			Want:  evaluate.Want{Type: classify.Status},
		},
		{
			Name:  "question",
			Input: classify.Input{Text: "Which of the two should I take?"},
			Want:  evaluate.Want{Type: classify.Question},
		},
		{Name: "blank", Input: classify.Input{Text: "\n"}, Want: evaluate.Want{Type: classify.Status}},
	}
	never, err := tokens(t.Context(), cases, 1)
	require.NoError(t, err)
	always, err := tokens(t.Context(), cases, 0)
	require.NoError(t, err)
	assert.Equal(t, 2, never.each.calls, "nobody is asked about what is blank")
	assert.Equal(t, never.each, never.cascade)
	assert.Equal(t, asked{}, always.cascade)
	assert.InDelta(t, 14, never.each.variable, 6, "two short sentences")
	assert.Greater(t, never.fixed, 1000)
}

func TestDay(t *testing.T) {
	r := report{
		speed:  speed{handle: rate{cpu: 86_400 * time.Microsecond}},
		usage:  usage{cases: 10, fixed: 1000, each: asked{8, 800}, cascade: asked{2, 300}},
		answer: 30,
	}
	assert.Equal(t, cost{cores: 1}, r.day(1_000_000, "heuristic"))
	assert.Equal(t, cost{cores: 1, calls: 200_000, in: 230e6, cached: 200e6, out: 6e6}, r.day(1_000_000, "cascade"))
	assert.Equal(t, cost{cores: 1, calls: 800_000, in: 880e6, cached: 800e6, out: 24e6}, r.day(1_000_000, "LLM for each"))
	assert.InDelta(t, 30*2+200*0.5+6*8, price{in: 2, cached: 0.5, out: 8}.money(r.day(1_000_000, "cascade")), 1e-9)
}

func TestRound(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0", 7: "7", 12.34: "12.3", 999.6: "1,000", 1234: "1,230", 12345: "12,300", 999_400: "999,000",
		999_600: "1 million", 1e6: "1 million", 5.944e8: "594 million", 1.5e9: "1.5 billion", 1e8: "100 million",
	} {
		assert.Equal(t, want, round(n))
	}
}
