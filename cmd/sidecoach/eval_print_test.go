package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// No table of a report breaks on a terminal of 80 characters, whatever there is to show.
func TestTablesFit(t *testing.T) {
	long := strings.Repeat("a very long value ", 5)
	types := []classify.OutputType{classify.Error, classify.Blocker, classify.Question, classify.Completion, classify.Status}
	cases := func(n int, sure bool) (list []evaluate.Case) {
		for i := range n {
			c := evaluate.Case{Name: fmt.Sprint(i), Input: classify.Input{Text: fmt.Sprint(i)}, Want: evaluate.Want{Type: types[i%len(types)]}, Meta: map[string]any{"language": long}}
			if !sure && i%3 == 0 {
				c.Meta["sure"] = false
			}
			list = append(list, c)
		}
		return list
	}
	judge := classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
		if strings.HasSuffix(in.Text, "7") {
			return classify.Result{}, errors.New("no answer")
		}
		return classify.Result{Type: classify.Question, Confidence: 0.9, Reason: "x"}, nil
	})
	for name, tt := range map[string]struct {
		cases  []evaluate.Case
		repeat int
		tables int // of figures
	}{
		"all sure":           {cases(150, true), 1, 1},
		"some sure":          {cases(30, false), 1, 1},
		"many, some sure":    {cases(1500, false), 1, 2},
		"repeated":           {cases(30, true), 2, 1},
		"repeated, not sure": {cases(150, false), 2, 2},
	} {
		r, err := evaluate.Evaluate(t.Context(), judge, tt.cases, evaluate.Options{Repeat: tt.repeat, Name: "stub"})
		require.NoError(t, err, name)
		text := evaluated{runs: []evaluate.Run{{Report: r}}, by: "language"}.table(terminal{width: 80})
		for line := range strings.Lines(text) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, "%s: %s", name, line)
		}
		assert.Equal(t, tt.tables, strings.Count(text, "\nmacro_f1 "), name)
		assert.Contains(t, text, "unanswered", name)
		assert.Contains(t, text, "accuracy", name)
		// What is no terminal gets one table, for programs that look for its rows.
		assert.Equal(t, 1, strings.Count(evaluated{runs: []evaluate.Run{{Report: r}}}.table(terminal{}), "\nmacro_f1 "), name)
	}
	r, err := evaluate.Evaluate(t.Context(), judge, cases(5, true), evaluate.Options{Name: "stub"})
	require.NoError(t, err)
	assert.NotContains(t, evaluated{runs: []evaluate.Run{{Report: r}}}.table(terminal{}), "unanswered", "a column for nothing")
}

func TestHowLongAnLLMIsWaitedFor(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "k")
	for given, want := range map[string]time.Duration{"": 10 * time.Second, "--timeout=1m30s": 90 * time.Second, "--timeout=50ms": 50 * time.Millisecond} {
		var o llmOptions
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.register(f)
		require.NoError(t, f.Parse(strings.Fields(given)))
		cfg, err := o.config(1)
		require.NoError(t, err)
		assert.Equal(t, want, cfg.Timeout, given)
	}
}
