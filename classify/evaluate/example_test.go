package evaluate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing/fstest"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

var files = fstest.MapFS{"cases.jsonl": {Data: []byte(`
{"name":"hollow","input":{"text":"Fixed the login redirect, should work now."},"want":{"type":"status","was_rejected_completion":true,"action":"continue"}}
{"name":"choice","input":{"text":"Which database should I use, Postgres or SQLite?"},"want":{"type":"question","action":"deliver"}}
`)}}

func ExampleEvaluate() {
	cases, err := evaluate.LoadCases(files, "*.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := evaluate.Evaluate(context.Background(), heuristic, cases, evaluate.Options{Name: "heuristic"})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := report.All.Figures
	fmt.Printf("accuracy %.2f, %d of %d, at least %.2f\n", f.Accuracy.Value, *f.Accuracy.Count, f.Accuracy.Of, *f.Accuracy.Low)
	fmt.Printf("wrong continues %d of %d\n", *f.WrongContinues.Count, f.WrongContinues.Of)
	// Output:
	// accuracy 1.00, 2 of 2, at least 0.34
	// wrong continues 0 of 1
}

func ExampleLoadCases() {
	_, err := evaluate.LoadCases(fstest.MapFS{"cases.jsonl": {Data: []byte(`
{"name":"a","input":{"text":"Done."},"want":{"type":"done"}}
{"name":"b","input":{"text":"Done."},"want":{"type":"status","action":"deliver"}}
`)}}, "*.jsonl")
	fmt.Println(err)
	// Output:
	// evaluate: load cases: cases.jsonl:2: want.type: "done" is none of error, blocker, question, completion, status
	// cases.jsonl:3: want.action: a status calls for continue, not for deliver
}

// judge is a classifier that was tuned: it says what its argument says of every text with a question mark.
func judge(t classify.OutputType) classify.Classifier {
	return classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
		if strings.Contains(in.Text, "?") {
			return classify.Result{Type: t, Confidence: 0.9}, nil
		}
		return classify.Result{}, errors.New("no idea")
	})
}

func ExampleReport_Compare() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	before, _ := evaluate.Evaluate(context.Background(), judge(classify.Status), cases, evaluate.Options{})
	now, _ := evaluate.Evaluate(context.Background(), judge(classify.Question), cases, evaluate.Options{})
	c := now.Compare(before)
	fmt.Println("fixed:", c.Types.Fixed, "broken:", c.Types.Broken, "noise:", c.Types.Noise())
	// Output: fixed: [choice] broken: [] noise: true
}

// What was not measured alike flips cases by itself, so a comparison names it.
func ExampleMismatch() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	before, _ := evaluate.Evaluate(context.Background(), judge(classify.Question), cases, evaluate.Options{Name: "judge"})
	now, _ := evaluate.Evaluate(context.Background(), judge(classify.Question), cases[:1], evaluate.Options{Name: "judge", Threshold: 0.95})
	for _, m := range now.Compare(before).Mismatches {
		fmt.Println(m)
	}
	// Output:
	// threshold 0.80 before, 0.95 now
	// cases 2 (1 not compared) before, 1 (0 not compared) now
}

func ExampleParseRequirement() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	report, _ := evaluate.Evaluate(context.Background(), judge(classify.Status), cases, evaluate.Options{})
	r, err := evaluate.ParseRequirement("wrong_continues <= 6%")
	if err != nil {
		fmt.Println(err)
		return
	}
	figure, ok := r.Met(report)
	fmt.Println(r, ok, figure.Value)
	// Output: wrong_continues<=0.06 false 1
}

func ExampleReport_HTML() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	report, _ := evaluate.Evaluate(context.Background(), judge(classify.Status), cases, evaluate.Options{})
	f, err := os.CreateTemp("", "report-*.html")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	fmt.Println(report.HTML(f))
	// Output: <nil>
}
