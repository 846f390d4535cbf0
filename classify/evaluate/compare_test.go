package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

func TestMcNemar(t *testing.T) {
	for _, tt := range []struct {
		b, c int
		want float64
	}{
		{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {2, 1, 1},
		{5, 0, 2. / 32},
		{6, 0, 2. / 64},
		{8, 2, 2 * (1 + 10 + 45) / 1024.},
		{1, 9, 2 * (1 + 10) / 1024.},
		{12, 5, 2 * (1 + 17 + 136 + 680 + 2380 + 6188) / 131072.},
	} {
		assert.InDelta(t, tt.want, mcnemar(tt.b, tt.c), 1e-12, "%d, %d", tt.b, tt.c)
		assert.InDelta(t, tt.want, mcnemar(tt.c, tt.b), 1e-12, "%d, %d", tt.c, tt.b)
	}
	assert.InDelta(t, 1, mcnemar(50_000, 50_000), 1e-9)
	p := mcnemar(0, 100_000)
	assert.True(t, p >= 0 && p < 1e-300 && !math.IsNaN(p))
}

func TestCompare(t *testing.T) {
	// The label of a case is part of its digest and its text is the answer, so answers are changed behind the text.
	judge := func(answers map[string]string, cases ...Case) Report {
		return evaluate(t, answersBy(answers), cases, Options{})
	}
	c := func(name, want string) Case { return said(name, want, name) }
	before := judge(map[string]string{"fixed": "error 1", "broken": "question 1", "same": "error 1", "wrong": "error 1",
		"flag": "status 1", "unsure": "status 0.5", "relabelled": "error 1", "gone": "error 1"},
		c("fixed", "question"), c("broken", "question"), c("same", "error"), c("wrong", "question"), c("flag", "rejected"),
		c("unsure", "status"), c("relabelled", "error"), c("gone", "error"))
	now := judge(map[string]string{"fixed": "question 1", "broken": "blocker 1", "same": "error 0.7",
		"wrong": "completion 1", "flag": "rejected 1", "unsure": "status 0.9", "relabelled": "error 1", "new": "error 1"},
		c("fixed", "question"), c("broken", "question"), c("same", "error"), c("wrong", "question"), c("flag", "rejected"),
		c("unsure", "status"), c("relabelled", "blocker"), c("new", "error"))

	got := now.Compare("before.json", before).Comparison
	assert.Equal(t, 6, got.Cases)
	assert.Equal(t, "3 fixed, 1 broken, p 0.625, may be noise", got.String())
	assert.Equal(t, []string{"new"}, got.Added)
	assert.Equal(t, []string{"gone"}, got.Removed)
	assert.Equal(t, []string{"relabelled"}, got.Differed)
	var changes []string
	for _, ch := range got.Changes {
		changes = append(changes, fmt.Sprintf("%s: %s %s %s %d/%d", ch.Name, ch.Way, ch.Before.Label(), ch.After.Label(),
			ch.Agree, ch.Runs))
	}
	assert.Equal(t, []string{"broken: broken question blocker 1/1", "fixed: fixed error question 1/1",
		"flag: fixed status rejected 1/1", "unsure: fixed status status 1/1", "wrong: changed error completion 1/1"}, changes)

	none := now.Compare("itself", now).Comparison
	assert.Equal(t, &Comparison{Baseline: "itself", Cases: 8, P: 1}, none)
	assert.False(t, none.Regressed())
	back := before.Compare("now.json", now).Comparison
	assert.Equal(t, got.count(fixed), back.count(broken), "each way")
}

// Six cases that flip one way are more than noise, five are not.
func TestNoise(t *testing.T) {
	var cases []Case
	wrong, right := map[string]string{}, map[string]string{}
	for i := range 6 {
		name := fmt.Sprint("case", i)
		cases = append(cases, said(name, "question", name))
		wrong[name], right[name] = "status 1", "question 1"
	}
	compare := func(n int, now, before map[string]string) string {
		return evaluate(t, answersBy(now), cases[:n], Options{}).
			Compare("before", evaluate(t, answersBy(before), cases[:n], Options{})).Comparison.word()
	}
	assert.Equal(t, "may be noise", compare(5, right, wrong))
	assert.Equal(t, "better", compare(6, right, wrong))
	assert.Equal(t, "worse", compare(6, wrong, right))
	assert.Equal(t, "no flips", compare(6, right, right))
}

func TestRequirements(t *testing.T) {
	for s, want := range map[string]Requirement{
		"wrong_continues<=0.06":    {Figure: "wrong_continues", Op: "<=", Bound: 0.06},
		" caught >= 70 % ":         {Figure: "caught", Op: ">=", Bound: 0.7},
		"sure.accuracy>.8":         {Figure: "sure.accuracy", Op: ">", Bound: 0.8},
		"ece<.1":                   {Figure: "ece", Op: "<", Bound: 0.1},
		"completions_continued<=0": {Figure: "completions_continued", Op: "<="},
		"caught>=2.9%":             {Figure: "caught", Op: ">=", Bound: 0.029}, // 2.9/100 is less
	} {
		got, err := parseRequirement(s)
		require.NoError(t, err, s)
		assert.Equal(t, want, got, s)
		again, err := parseRequirement(got.String())
		require.NoError(t, err)
		assert.Equal(t, got, again)
	}
	for _, s := range []string{"", "caught", "caught=0.5", "caught==0.5", "caught>", "caught>=", "caught>=x",
		"caught>=NaN", "caught>=Inf", "caught>=-0.1", "caught>=1.1", "caught>=101%", "0.5<=caught", "caught>=0.5>=0.4",
		"caught=>0.5", "caught<>0.5", ">=0.5", "sure.sure.caught>0.5", "caught>=0,5"} {
		_, err := parseRequirement(s)
		assert.Error(t, err, s)
	}
	q, err := parseRequirement("broken <= 2")
	require.NoError(t, err)
	assert.True(t, q.NeedsBaseline())
	for _, s := range []string{"sure.broken<=0", "broken<=-1"} {
		_, err := parseRequirement(s)
		assert.Error(t, err, s)
	}
	_, err = parseRequirement("precision>=0.5")
	assert.EqualError(t, err, `evaluate: requirement "precision>=0.5": the figures are `+
		strings.Join(figureNames(), ", ")+", and with a baseline broken, fixed")
}

func TestMet(t *testing.T) {
	r := evaluate(t, script, ten(), Options{})
	for s, want := range map[string]bool{
		"accuracy>=0.6": true, "accuracy>0.6": false, "accuracy<=0.6": true, "accuracy<0.6": false, "accuracy>=0.61": false,
		"wrong_continues<=25%": true, "wrong_continues<=0.24": false, "sure.wrong_continues<=0.25": false,
	} {
		q, err := parseRequirement(s)
		require.NoError(t, err)
		_, ok := q.Met(r)
		assert.Equal(t, want, ok, s)
	}
	for _, name := range figureNames()[:9] { // no model was asked
		_, ok := Requirement{Figure: name, Op: ">=", Bound: 0}.Met(r)
		assert.True(t, ok, name)
	}
	for bound, want := range map[float64]bool{0: true, -1: false} {
		_, ok := Requirement{Figure: broken, Op: "<=", Bound: bound}.Met(r.Compare("itself", r))
		assert.Equal(t, want, ok)
	}
	_, ok := Requirement{Figure: broken, Op: "<=", Bound: 9}.Met(r)
	assert.False(t, ok, "without a baseline nothing is known")
	_, ok = Requirement{Figure: "caught", Op: "<=", Bound: 1}.Met(evaluate(t, script, ten()[:1], Options{}))
	assert.False(t, ok, "what was not measured meets nothing")
}

func parseRequirement(s string) (r Requirement, err error) {
	err = r.Set(s)
	return r, err
}

func FuzzRequirement(f *testing.F) {
	f.Add("wrong_continues<=0.06")
	f.Add("sure.ece < 5%")
	f.Fuzz(func(t *testing.T, s string) {
		q, err := parseRequirement(s)
		if err != nil {
			return
		}
		again, err := parseRequirement(q.String())
		if err != nil || again != q || q.Bound < 0 || q.Bound > 1 && !q.NeedsBaseline() {
			t.Fatalf("%q: %v, %v, %v", s, q, again, err)
		}
	})
}

// answersBy answers by the text, which is the name of the case.
func answersBy(answers map[string]string) classify.Classifier {
	return classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
		a, ok := answers[in.Text]
		if !ok {
			return classify.Result{}, errors.New("no answer")
		}
		return answerOf(a)
	})
}

// A case is the same as long as input and label are.
func TestDigest(t *testing.T) {
	c := said("a", "rejected", "text")
	same := c
	same.Meta = map[string]any{"lang": "de"}
	same.Want.Action, same.Want.Message = actionContinue, &Message{MaxChars: 9}
	assert.Equal(t, c.digest(), same.digest())
	assert.Len(t, c.digest(), 16)
	for _, change := range []func(*Case){
		func(c *Case) { c.Input.Text += " " },
		func(c *Case) { c.Input.Request = "x" },
		func(c *Case) { c.Input.Evidence = []classify.Evidence{{Kind: classify.EvidenceTests}} },
		func(c *Case) { c.Want.WasRejectedCompletion = false },
		func(c *Case) { c.Want.Type = classify.Error },
	} {
		other := c
		change(&other)
		assert.NotEqual(t, c.digest(), other.digest())
	}
}

// Reports that were not made alike are compared, and say so.
func TestMismatches(t *testing.T) {
	two := []Case{said("a", "status", "status 0.9"), said("b", "question", "question 1")}
	base := evaluate(t, script, two, Options{Name: "one"})
	for _, tt := range []struct {
		name string
		now  Report
		want []string
	}{
		{"alike", evaluate(t, script, two, Options{Name: "one"}), nil},
		{"another classifier", evaluate(t, script, two, Options{Name: "two"}), []string{"classifier one before, two now"}},
		{"no name", evaluate(t, script, two, Options{}), []string{"classifier one before, unnamed now"}},
		{"another threshold", evaluate(t, script, two, Options{Name: "one", Threshold: 0.85}),
			[]string{"threshold 0.80 before, 0.85 now"}},
		{"no gate", evaluate(t, script, two, Options{Name: "one", Threshold: noGate}),
			[]string{"threshold 0.80 before, no gate now"}},
		{"more repeats", evaluate(t, script, two, Options{Name: "one", Repeat: 3}), []string{"repeat 1 before, 3 now"}},
		{"everything", evaluate(t, script, two[:1], Options{Name: "two", Threshold: 1, Repeat: 2}), []string{
			"classifier one before, two now", "threshold 0.80 before, 1.00 now", "repeat 1 before, 2 now"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := tt.now.Compare("before.json", base)
			assert.Equal(t, tt.want, now.Comparison.Mismatches)
			var page strings.Builder
			require.NoError(t, View{Reports: []Report{now}}.HTML(&page))
			assert.Equal(t, len(tt.want) > 0, strings.Contains(page.String(), "not measured alike"))
			for _, m := range tt.want {
				assert.Contains(t, page.String(), "<li>not measured alike: "+m+"</li>")
			}
		})
	}
}
