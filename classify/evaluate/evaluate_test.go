package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// lines writes cases as a file has them.
func lines(tb testing.TB, cases []Case) string {
	tb.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for _, c := range cases {
		require.NoError(tb, enc.Encode(c))
	}
	return b.String()
}

// said is a case whose text is what the script answers: "question 0.9", "rejected 0.8", or "fail".
func said(name, want, answer string) Case {
	c := Case{Name: name, Input: classify.Input{Text: answer}, Want: Want{Type: classify.OutputType(want)}}
	if want == "rejected" {
		c.Want = Want{Type: classify.Status, WasRejectedCompletion: true}
	}
	return c
}

// script answers what the text says.
var script = classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
	return answerOf(in.Text)
})

func answerOf(text string) (classify.Result, error) {
	label, number, _ := strings.Cut(text, " ")
	if label == "fail" {
		return classify.Result{}, errors.New("out of order")
	}
	r := classify.Result{Type: classify.OutputType(label), Source: "script"}
	if label == "rejected" {
		r.Type, r.WasRejectedCompletion = classify.Status, true
	}
	return r, json.Unmarshal([]byte(number), &r.Confidence)
}

func evaluate(tb testing.TB, c classify.Classifier, cases []Case, opts Options) Report {
	tb.Helper()
	r, err := Evaluate(context.Background(), c, cases, opts)
	require.NoError(tb, err)
	return r
}

func asJSON(tb testing.TB, r Report) string {
	tb.Helper()
	r.Latency = latency{}
	b, err := json.Marshal(r)
	require.NoError(tb, err)
	return string(b)
}

// ten are cases whose figures the tests have by hand.
func ten() []Case {
	cases := []Case{
		said("a", "error", "error 0.95"),
		said("b", "error", "status 0.9"), // a wrong continue
		said("c", "blocker", "question 0.75"),
		said("d", "question", "question 0.85"),
		said("e", "completion", "completion 0.55"),
		said("f", "completion", "rejected 0.8"), // a completion continued, at the threshold
		said("g", "status", "status 0.79"),      // right, but not caught
		said("h", "rejected", "rejected 0.99"),
		said("i", "rejected", "status 0.85"), // right type, wrong flag
		said("j", "rejected", "fail"),
	}
	cases[3].Meta = map[string]any{"sure": false, "lang": "de"}
	return cases
}

func TestFigures(t *testing.T) {
	r := evaluate(t, script, ten(), Options{Name: "script"})
	// wanted in rows, given in columns, the last one unanswered
	assert.Contains(t, text(t, View{Reports: []Report{r}}), `
want, got   error  blocker  question  completion  rejected  status  unanswered
error       1      ·        ·         ·           ·         1       ·
blocker     ·      ·        1         ·           ·         ·       ·
question    ·      ·        1         ·           ·         ·       ·
completion  ·      ·        ·         1           1         ·       ·
rejected    ·      ·        ·         ·           1         1       1
status      ·      ·        ·         ·           ·         1       ·
`)
	assert.Equal(t, 1, r.All.Unanswered)

	f := r.All.Figures
	// error 2·1/(2+1), blocker 0/(1+0), question 2·1/(1+2), completion 2·1/(2+1), status 2·3/(4+5)
	assert.InDelta(t, (2./3+0+2./3+2./3+2./3)/5, f["macro_f1"].Value, 1e-12)
	assert.Nil(t, f["macro_f1"].Low)
	for name, want := range map[string][2]int{
		"accuracy": {6, 10}, "wrong_continues": {1, 4}, "completions_continued": {1, 2}, "caught": {2, 4},
		"rejected_precision": {1, 2}, "rejected_recall": {1, 3},
	} {
		got := f[name]
		assert.Equal(t, want, [2]int{*got.Count, got.Of}, name)
		assert.InDelta(t, float64(want[0])/float64(want[1]), got.Value, 1e-12, name)
		assert.True(t, *got.Low < got.Value && got.Value < *got.High, name)
	}
	// Nine answers: .55 right; .75 wrong and .79 right; .85, .85 right and .8 wrong; .95, .99 right and .9 wrong.
	want := (math.Abs(.55-1) + math.Abs(.75+.79-1) + math.Abs(.85+.85+.8-2) + math.Abs(.95+.99+.9-2)) / 9
	assert.InDelta(t, want, f["ece"].Value, 1e-12)
	assert.Equal(t, 9, f["ece"].Of)

	assert.Equal(t, 9, r.Sure.Cases)
	assert.Equal(t, 5, *r.Sure.Figures["accuracy"].Count)
	groups := r.By("lang")
	assert.Equal(t, []string{"", "de"}, []string{groups[0].Value, groups[1].Value})
	assert.Equal(t, 1.0, groups[1].Figures["accuracy"].Value)
	assert.Equal(t, 1, r.Cost.Errors)
	assert.Equal(t, "out of order", r.Outcomes[9].Verdict.Error)
	assert.Equal(t, []string{"unanswered: out of order"}, r.Outcomes[9].Faults())
	assert.Equal(t, []string{"status, want rejected"}, r.Outcomes[8].Faults())
	assert.Equal(t, []string{"would deliver at 0.79, want continue"}, r.Outcomes[6].Faults())
	assert.Empty(t, r.Outcomes[7].Faults())
}

func TestMacroF1LeavesOutWhatIsNotThere(t *testing.T) {
	f := func(cases ...Case) map[string]Figure { return evaluate(t, script, cases, Options{}).All.Figures }
	assert.Equal(t, 1.0, f(said("a", "error", "error 1"), said("b", "status", "status 1"))["macro_f1"].Value)
	assert.InDelta(t, (1+2./3+0)/3,
		f(said("a", "error", "error 1"), said("b", "status", "status 1"),
			said("c", "status", "question 1"))["macro_f1"].Value, 1e-12, "a type that verdicts name counts")
	none := f(said("a", "error", "error 1"))
	assert.Equal(t, Figure{Count: new(int)}, none["caught"], "there is nothing to count")
}

func TestThreshold(t *testing.T) {
	cases := []Case{said("a", "status", "status 0.8"), said("b", "status", "status 0.79999"),
		said("c", "status", "status 0"), said("d", "question", "question 1")}
	for threshold, want := range map[float64]int{0: 1, 0.8: 1, 0.7: 2, 1: 0, noGate: 3} {
		r := evaluate(t, script, cases, Options{Threshold: threshold})
		assert.Equal(t, want, *r.All.Figures["caught"].Count, threshold)
		assert.Equal(t, 0, *r.All.Figures["wrong_continues"].Count, "only a status is ever continued")
	}
}

func TestWilson(t *testing.T) {
	// From the formula with z² = 3.8414588207: for 8 of 10 the middle is (0.8 + 0.19207294)/1.38414588 = 0.71673669,
	// and half the width 1.95996398/1.38414588 · √(0.016 + 0.00960365) = 0.22657654.
	for _, tt := range []struct {
		count, n  int
		low, high float64
	}{
		{8, 10, 0.4901625, 0.9433178},
		{0, 10, 0, 0.2775328},
		{10, 10, 0.7224672, 1},
		{1, 1, 0.2065493, 1},
		{50, 100, 0.4038315, 0.5961685},
		{83, 152, 0.4667416, 0.6230933},
	} {
		low, high := wilson(tt.count, tt.n)
		assert.InDelta(t, tt.low, low, 1e-6, tt)
		assert.InDelta(t, tt.high, high, 1e-6, tt)
	}
}

func TestMajority(t *testing.T) {
	for _, tt := range []struct {
		name, runs, want string
		action           string
		confidence       float64
	}{
		{"most", "status 0.9|status 0.8|question 1", "status", actionContinue, 0.85},
		{"a tie leans to the human", "status 1|question 0.5|status 1|question 0.7", "question", actionDeliver, 0.6},
		{"rejected by more than half", "rejected 1|rejected 1|status 1", "rejected", actionContinue, 1},
		{"rejected by half", "rejected 1|status 1", "status", actionContinue, 1},
		{"half would continue", "status 1|status 0.5", "status", actionDeliver, 0.75},
		{"a minority does not beat failures", "fail|fail|status 0.9", "unanswered", actionDeliver, 0},
		{"nor do minorities that " +
			"differ", "fail|fail|status 0.9|question 0.9|status 0.9|fail", "unanswered", actionDeliver, 0},
		{"a tie with failures leans to the human", "status 0.9|fail", "unanswered", actionDeliver, 0},
		{"a failure does not beat a majority", "fail|status 0.9|status 0.9", "status", actionContinue, 0.9},
		{"failures are no votes to " +
			"continue", "fail|status 0.9|status 0.9|fail|status 0.9|question 1", "status", actionDeliver,
			0.9},
		{"all failed", "fail|fail", "unanswered", actionDeliver, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := strings.Split(tt.runs, "|")
			var mu sync.Mutex
			next := 0
			c := classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				next++
				return answerOf(answers[next-1])
			})
			r := evaluate(t, c, []Case{said("a", "status", "")}, Options{Repeat: len(answers), Parallel: 1})
			o := r.Outcomes[0]
			assert.Equal(t, tt.want, o.Verdict.Label())
			assert.Equal(t, tt.action, o.Verdict.Action)
			assert.InDelta(t, tt.confidence, o.Verdict.Confidence, 1e-12)
			assert.Len(t, o.Runs, len(answers))
			if tt.want == "unanswered" {
				assert.Equal(t, "out of order", o.Verdict.Error)
				assert.Equal(t, 1, r.All.Unanswered)
			}
			if tt.name == "most" {
				assert.Equal(t, 2, o.agree())
				assert.Equal(t, 1, r.All.Unstable)
			}
		})
	}
}

// A classifier that breaks its contract fails on the case; nothing is dropped.
func TestBrokenClassifiers(t *testing.T) {
	for want, c := range map[string]classify.ClassifierFunc{
		"panic: boom": func(context.Context, classify.Input) (classify.Result, error) { panic("boom") },
		"not one of the five output types": func(context.Context, classify.Input) (classify.Result, error) {
			return classify.Result{Type: "done"}, nil
		},
		"confidence NaN is not from 0 to 1": func(context.Context, classify.Input) (classify.Result, error) {
			return classify.Result{Type: classify.Status, Confidence: math.NaN()}, nil
		},
		"two lines " + strings.Repeat("x", 189) + "…": func(context.Context, classify.Input) (classify.Result, error) {
			return classify.Result{Type: classify.Status, Confidence: 1}, errors.New("two\nlines " + strings.Repeat("x", 1000))
		},
	} {
		r := evaluate(t, c, []Case{said("a", "status", ""), said("b", "question", "")}, Options{})
		for _, o := range r.Outcomes {
			assert.Equal(t, Verdict{Action: actionDeliver, Error: want}, o.Verdict)
		}
		assert.Equal(t, 2, r.All.Unanswered)
		assert.Equal(t, 2, r.Cost.Errors)
		assert.Equal(t, 0.0, r.All.Figures["accuracy"].Value)
		asJSON(t, r)
	}
	r := evaluate(t, classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
		return classify.Result{Type: classify.Question, Confidence: 1, Fallback: "timeout"}, nil
	}), []Case{said("a", "question", "")}, Options{})
	assert.Equal(t, "timeout", r.Outcomes[0].Verdict.Fallback)
	assert.Equal(t, 1, r.Cost.Fallbacks)
}

func TestMessagesAreHeldToWhatIsWanted(t *testing.T) {
	c := said("a", "rejected", "rejected 1")
	c.Want.Message = &Message{Contains: []string{"tests"}}
	say := func(message string) Report {
		return evaluate(t, script, []Case{c, said("b", "status", "status 1")}, Options{
			Message: func(in classify.Input, r classify.Result) string { return message },
		})
	}
	assert.Equal(t, 1.0, say("Run the tests.").All.Figures["message"].Value)
	r := say("Go on.")
	assert.Equal(t, [2]int{0, 1}, [2]int{*r.All.Figures["message"].Count, r.All.Figures["message"].Of})
	assert.Equal(t, []string{`the message lacks "tests"`}, r.Outcomes[0].Faults())
	assert.Equal(t, 1.0, r.All.Figures["accuracy"].Value)
	r = evaluate(t, script, []Case{c}, Options{})
	assert.Equal(t, []string{"there is no message"}, r.Outcomes[0].Faults(), "of the classifier itself")
}

func TestOrderDoesNotMatter(t *testing.T) {
	want := asJSON(t, evaluate(t, script, ten(), Options{Parallel: 1, Repeat: 3}))
	for range 20 {
		cases := ten()
		rand.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		first := cases[0].Name
		require.Equal(t, want, asJSON(t, evaluate(t, script, cases, Options{Parallel: 1 + rand.IntN(20), Repeat: 3})))
		require.Equal(t, first, cases[0].Name, "the cases are left as they were")
	}
}

// Calls of 200 ms are made as many at a time as allowed, and the evaluation takes no longer than they do.
func TestParallel(t *testing.T) {
	var cases []Case
	for i := range 100 {
		cases = append(cases, said(strings.Repeat("x", i+1), "status", "status 1"))
	}
	for parallel, want := range map[int]time.Duration{1: 20 * time.Second, 7: 15 * 200 * time.Millisecond,
		0: 13 * 200 * time.Millisecond, 1000: 200 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			now, most := 0, 0
			c := classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				time.Sleep(200 * time.Millisecond)
				mu.Lock()
				now--
				mu.Unlock()
				r, err := answerOf(in.Text)
				r.Usage = &classify.Usage{PromptTokens: 1200, CachedTokens: 1024, CompletionTokens: 60, Attempts: 2}
				return r, err
			})
			last := 0
			start := time.Now()
			r := evaluate(t, c, cases, Options{Parallel: parallel, Progress: func(done, total int) {
				assert.Equal(t, last+1, done)
				assert.Equal(t, 100, total)
				last = done
			}})
			assert.Equal(t, want, time.Since(start))
			assert.Equal(t, 100, last)
			if parallel == 7 {
				assert.Equal(t, 7, most)
			}
			assert.Equal(t, latency{P50: 200 * time.Millisecond, P90: 200 * time.Millisecond, P99: 200 * time.Millisecond,
				Max: 200 * time.Millisecond}, r.Latency)
			assert.Equal(t, cost{Calls: 100, Metered: 100, Attempts: 200, PromptTokens: 120000, CachedTokens: 102400,
				CompletionTokens: 6000}, r.Cost)
		})
	}
}

func TestPercentilesAreNearestRank(t *testing.T) {
	var answers []answer
	for i := range 10 {
		answers = append(answers, answer{took: time.Duration(10 - i)})
	}
	assert.Equal(t, latency{P50: 5, P90: 9, P99: 10, Max: 10}, percentiles(answers))
	assert.Equal(t, latency{P50: 10, P90: 10, P99: 10, Max: 10}, percentiles(answers[:1]))
}

func TestTheEndOfTheContextEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		c := classify.ClassifierFunc(func(ctx context.Context, _ classify.Input) (classify.Result, error) {
			select {
			case <-ctx.Done():
				return classify.Result{}, ctx.Err()
			case <-time.After(time.Second):
				return classify.Result{Type: classify.Status}, nil
			}
		})
		start := time.Now()
		_, err := Evaluate(ctx, c, ten(), Options{Parallel: 1})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 5*time.Second, time.Since(start))
	})
}

func TestSenselessEvaluations(t *testing.T) {
	one := []Case{said("a", "status", "status 1")}
	called := classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
		t.Error("called")
		return classify.Result{}, nil
	})
	for want, f := range map[string]func() (classify.Classifier, []Case, Options){
		"evaluate: there are no cases": func() (classify.Classifier, []Case, Options) { return called, nil, Options{} },
		`evaluate: case 2, "a": name: "a" is taken by case 1`: func() (classify.Classifier, []Case, Options) {
			return called, append(one[:1:1], one[0]), Options{}
		},
		`evaluate: case 1, "b": want.type: "done" is not one of error, blocker, question, completion, status`: func() (classify.Classifier, []Case, Options) {
			return called, []Case{said("b", "done", "")}, Options{}
		},
		"evaluate: the threshold is not a number from 0 to 1, or " +
			"-1 for no gate": func() (classify.Classifier, []Case, Options) {
			return called, one, Options{Threshold: math.NaN()}
		},
		"evaluate: the options Repeat and Parallel must not be below 0": func() (classify.Classifier, []Case, Options) {
			return called, one, Options{Repeat: -1}
		},
	} {
		c, cases, opts := f()
		r, err := Evaluate(t.Context(), c, cases, opts)
		assert.EqualError(t, err, want)
		assert.Empty(t, r.Outcomes)
	}
}

// The cases that ship can be loaded, and the heuristic does on them what its own tests say.
func TestShippedCases(t *testing.T) {
	cases, err := LoadCases(os.DirFS(".."), "testdata/cases/*.jsonl")
	require.NoError(t, err)
	h, err := classify.NewHeuristic()
	require.NoError(t, err)
	r := evaluate(t, h, cases, Options{Name: "heuristic"})
	assert.Zero(t, r.Cost.Errors)
	for _, s := range []string{"wrong_continues<=0.02", "completions_continued<=3%", "caught>=0.75", "accuracy>=0.88",
		"sure.macro_f1>0.85"} {
		q, err := parseRequirement(s)
		require.NoError(t, err)
		f, ok := q.Met(r)
		assert.True(t, ok, "%s: %v", s, f.Value)
	}
}
