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
	a, w := report.All.Figures["accuracy"], report.All.Figures["wrong_continues"]
	fmt.Printf("accuracy %.2f, %d of %d, at least %.2f\n", a.Value, *a.Count, a.Of, *a.Low)
	fmt.Printf("wrong continues %d of %d\n", *w.Count, w.Of)
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
	// cases.jsonl:3: want.action: a status calls for continue, not for "deliver"
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
	fmt.Println(now.Compare("before.json", before).Comparison)
	// Output: 1 fixed, 0 broken, p 1.000, may be noise
}

func ExampleRequirement_Set() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	report, _ := evaluate.Evaluate(context.Background(), judge(classify.Status), cases, evaluate.Options{})
	var r evaluate.Requirement
	err := r.Set("wrong_continues <= 6%")
	if err != nil {
		fmt.Println(err)
		return
	}
	figure, ok := r.Met(report)
	fmt.Println(r, ok, figure.Value)
	// Output: wrong_continues<=0.06 false 1
}

func ExampleView_HTML() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	report, _ := evaluate.Evaluate(context.Background(), judge(classify.Status), cases, evaluate.Options{})
	f, err := os.CreateTemp("", "report-*.html")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	fmt.Println(evaluate.View{Reports: []evaluate.Report{report}}.HTML(f))
	// Output: <nil>
}

func ExampleView_Text() {
	cases, _ := evaluate.LoadCases(files, "cases.jsonl")
	before, _ := evaluate.Evaluate(context.Background(), judge(classify.Question), cases, evaluate.Options{Name: "a"})
	now, _ := evaluate.Evaluate(context.Background(), judge(classify.Status), cases, evaluate.Options{Name: "b"})
	now.Latency.Max = 0 // it varies
	var q evaluate.Requirement
	_ = q.Set("broken<=0")
	reports := []evaluate.Report{now.Compare("before.json", before)}
	_ = evaluate.View{Reports: reports, Requirements: []evaluate.Requirement{q}}.Text(os.Stdout)
	// Output:
	// b
	// 2 cases, 2 sure · threshold 0.80
	// 2 calls
	// 1 call failed, 1 case without an answer, which count as wrong
	// - 1 × no idea
	//
	// figure                 all          95 %
	// macro_f1               0.000
	// accuracy               0.000 (0/2)  0.000–0.658
	// continue_precision     0.000 (0/1)  0.000–0.793
	// wrong_continues        1.000 (1/1)  0.207–1.000
	// completions_continued  –
	// caught                 0.000 (0/1)  0.000–0.793
	// rejected_precision     –
	// rejected_recall        0.000 (0/1)  0.000–0.793
	// ece                    0.900
	//
	// type        cases  precision  recall  f1
	// error       0      –          –       0.000
	// blocker     0      –          –       0.000
	// question    1      –          0.000   0.000
	// completion  0      –          –       0.000
	// status      1      0.000      0.000   0.000
	//
	// want, got   error  blocker  question  completion  rejected  status  unanswered
	// error       ·      ·        ·         ·           ·         ·       ·
	// blocker     ·      ·        ·         ·           ·         ·       ·
	// question    ·      ·        ·         ·           ·         1       ·
	// completion  ·      ·        ·         ·           ·         ·       ·
	// rejected    ·      ·        ·         ·           ·         ·       1
	// status      ·      ·        ·         ·           ·         ·       ·
	//
	// - NOT MET: broken<=0
	//
	// Against before.json, 2 cases in both:
	// - not measured alike: classifier a before, b now
	// - 0 fixed, 1 broken, p 1.000, may be noise
	//
	//         case    want      before                  now                    runs
	// broken  choice  question  question 0.90, deliver  status 0.90, continue  1/1
}
