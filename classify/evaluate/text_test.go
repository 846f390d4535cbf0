package evaluate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

func text(tb testing.TB, v View) string {
	tb.Helper()
	var b strings.Builder
	require.NoError(tb, v.Text(&b))
	return b.String()
}

// No table breaks on a terminal of 80 characters, whatever there is to show.
func TestTablesFit(t *testing.T) {
	types := classify.Types()
	var cases []Case
	for i := range 1500 {
		meta := map[string]any{"language": strings.Repeat("a very long value ", 5), "sure": i%3 > 0}
		cases = append(cases, Case{Name: fmt.Sprint(i), Input: classify.Input{Text: fmt.Sprint(i)},
			Want: Want{Type: types[i%len(types)]}, Meta: meta})
	}
	judge := classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
		if strings.HasSuffix(in.Text, "7") {
			return classify.Result{}, errors.New("no answer")
		}
		return classify.Result{Type: classify.Question, Confidence: 0.9, Reason: "x"}, nil
	})
	for _, repeat := range []int{1, 2} {
		r := evaluate(t, judge, cases, Options{Repeat: repeat, Name: "stub"})
		out := text(t, View{Reports: []Report{r}})
		for line := range strings.Lines(out) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
		assert.Contains(t, out, "unanswered")
		assert.Contains(t, out, fmt.Sprintf("- %d × no answer\n", 150*repeat))
	}
	r := evaluate(t, judge, cases[:5], Options{Name: "stub"})
	assert.NotContains(t, text(t, View{Reports: []Report{r}}), "unanswered", "a column for nothing")
}

// What cases and classifiers say does not break a terminal.
func TestTextIsData(t *testing.T) {
	const evil = "a|b*c\x1b[31m\u202e`d`\n# e"
	cases := []Case{said(evil, "question", "x")}
	before := evaluate(t, answersBy(map[string]string{"x": "question 1"}), cases, Options{Name: evil})
	now := evaluate(t, answersBy(nil), cases, Options{Name: evil})
	q, err := parseRequirement("broken<=0")
	require.NoError(t, err)
	out := text(t, View{Reports: []Report{now.Compare(evil, before)}, Requirements: []Requirement{q}})
	for _, r := range "\x1b\u202e" {
		assert.NotContains(t, out, string(r))
	}
	assert.NotContains(t, out, "\n# e")
	assert.Contains(t, out, "- NOT MET: broken<=0\n")
}

func TestBrief(t *testing.T) {
	for in, want := range map[int64]string{0: "0s", 999: "999ns", 39_689: "39.7µs", 102_112: "102µs",
		1_234_567_890: "1.23s", 61_234_000_000: "1m1.2s"} {
		assert.Equal(t, want, brief(time.Duration(in)).String())
	}
}
