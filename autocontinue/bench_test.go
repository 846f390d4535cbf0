package autocontinue_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// BenchmarkHandle handles outputs of new runs. "x-classifier" is how often the classifier alone could have judged in that
// time.
func BenchmarkHandle(b *testing.B) {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		b.Fatal(err)
	}
	text := "I moved the parser to its own package and updated the callers.\n\n" + strings.Repeat("- fixed a call in parser.go:12\n", 40) +
		"\nNext I'll run the tests; 3 of 10 packages are done."
	ctx := context.Background()
	start := time.Now()
	const rounds = 200
	for range rounds {
		if _, err := heuristic.Classify(ctx, classify.Input{Text: text}); err != nil {
			b.Fatal(err)
		}
	}
	alone := time.Since(start) / rounds

	for name, change := range map[string]func(o *autocontinue.Output, i int){
		"new run":   func(o *autocontinue.Output, i int) { o.Run = fmt.Sprint(i) },
		"duplicate": func(*autocontinue.Output, int) {},
	} {
		b.Run(name, func(b *testing.B) {
			ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				out := autocontinue.Output{Session: "s", Turn: fmt.Sprint(i / 3), Run: "r", ID: fmt.Sprint(i), Text: text}
				change(&out, i)
				if _, err := ac.Handle(ctx, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(alone), "x-classifier")
		})
	}
}

// BenchmarkDecide is the loop without store and classifier.
func BenchmarkDecide(b *testing.B) {
	var s autocontinue.State
	f := autocontinue.Facts{Result: classify.Result{Type: classify.Status, Confidence: 1}}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		f.Output = autocontinue.Output{Session: "s", Turn: fmt.Sprint(i / 3), Run: fmt.Sprint(i), ID: fmt.Sprint(i), Text: "Still on it."}
		_, s = autocontinue.Decide(autocontinue.Policy{}, s, f)
	}
}
