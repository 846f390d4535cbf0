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
	// cases.jsonl:2: want.type: "done" is not one of error, blocker, question, completion, status
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
	fmt.Println("fixed:", c.Types.Fixed, "broken:", c.Types.Broken, "-", c.Types.Word())
	// Output: fixed: [choice] broken: [] - may be noise
}

func ExampleParseRequirement() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	report, _ := evaluate.Evaluate(context.Background(), judge(classify.Status), cases, evaluate.Options{})
	r, err := evaluate.ParseRequirement("wrong_continues <= 6%")
	if err != nil {
		fmt.Println(err)
		return
	}
	figure, ok := r.Met(report, nil)
	fmt.Println(r, ok, figure.Value)
	// Output: wrong_continues<=0.06 false 1
}

func ExampleHTML() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	report, _ := evaluate.Evaluate(context.Background(), judge(classify.Status), cases, evaluate.Options{})
	f, err := os.CreateTemp("", "report-*.html")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	fmt.Println(evaluate.HTML(f, evaluate.Run{Report: report}))
	// Output: <nil>
}

func ExampleMarkdown() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	before, _ := evaluate.Evaluate(context.Background(), judge(classify.Question), cases, evaluate.Options{Name: "a"})
	now, _ := evaluate.Evaluate(context.Background(), judge(classify.Status), cases, evaluate.Options{Name: "b", Threshold: 0.95})
	c := now.Compare(before)
	q, _ := evaluate.ParseRequirement("broken<=0")
	_ = evaluate.Markdown(os.Stdout, []evaluate.Requirement{q}, evaluate.Run{Report: now, Comparison: &c, Baseline: "before.json"})
	// Output:
	// | figure | b |
	// | --- | ---: |
	// | macro_f1 | 0.000 |
	// | accuracy | 0.000 (0/2) |
	// | wrong_continues ↓ | 0.000 (0/1) |
	// | caught | 0.000 (0/1) |
	// | rejected_recall | 0.000 (0/1) |
	// | ece ↓ | 0.900 |
	//
	// **b**: 2 cases, 2 calls, **1 of them failed**.
	// - ❌ `broken<=0`
	//
	// Against before.json, 2 cases in both:
	//
	// - not measured alike: classifier a before, b now
	// - not measured alike: threshold 0.80 before, 0.95 now
	// - types: 0 fixed, 1 broken, p 1.000, may be noise
	// - labels: 0 fixed, 1 broken, p 1.000, may be noise
	// - actions: 0 fixed, 0 broken, no flips
	//
	// | broken case | want | before | now |
	// | --- | --- | --- | --- |
	// | choice | question | question 0.90, deliver | status 0.90, deliver |
}
