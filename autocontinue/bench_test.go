package autocontinue_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// BenchmarkHandle handles the shipped cases, by what comes out, each as the pause of a new run in a new turn. In the same run
// the classifier judges them alone: x/classifier is the time as a multiple of the classifier's, and allocs/added what a pause
// allocates beside the classifier, the most and on average.
func BenchmarkHandle(b *testing.B) {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		b.Fatal(err)
	}
	byReason := make(map[autocontinue.Reason][]pause)
	sort := newScript(b, autocontinue.Config{})
	for _, p := range pauses(b) {
		sort.turn = ""
		reason := sort.play(p).Reason
		byReason[reason] = append(byReason[reason], p)
	}
	for _, reason := range []autocontinue.Reason{
		autocontinue.ReasonRejectedCompletion, autocontinue.ReasonProgress, autocontinue.ReasonCompletion,
		autocontinue.ReasonQuestion, autocontinue.ReasonBlocker, autocontinue.ReasonCrashGuard, autocontinue.ReasonLowConfidence,
	} {
		some := byReason[reason]
		b.Run(string(reason), func(b *testing.B) {
			most, sum := 0.0, 0.0
			free := newScript(b, autocontinue.Config{})
			for _, p := range some {
				n := testing.AllocsPerRun(3, func() { free.turn = ""; free.play(p) })
				most, sum = max(most, n), sum+n
			}
			s := newScript(b, autocontinue.Config{Classifier: heuristic})
			var judging, handling float64
			for b.Loop() {
				start := b.Elapsed()
				for _, p := range some {
					if _, err := heuristic.Classify(b.Context(), p.Input); err != nil {
						b.Fatal(err)
					}
				}
				middle := b.Elapsed()
				for _, p := range some {
					s.turn = ""
					s.play(p)
				}
				judging += float64(middle - start)
				handling += float64(b.Elapsed() - middle)
			}
			b.ReportMetric(0, "ns/op") // it is both
			b.ReportMetric(handling/float64(b.N)/float64(len(some)), "ns/pause")
			b.ReportMetric(handling/judging, "x/classifier")
			b.ReportMetric(most, "most-allocs/added")
			b.ReportMetric(sum/float64(len(some)), "allocs/added")
		})
	}
}

// BenchmarkHandleDuplicate is a second report of a pause: nothing is classified.
func BenchmarkHandleDuplicate(b *testing.B) {
	s := newScript(b, autocontinue.Config{})
	s.change = func(o *autocontinue.Output) { o.Turn, o.Run = "t", "r" }
	p := rejections(pauses(b))[0]
	b.ReportAllocs()
	for b.Loop() {
		s.play(p)
	}
}

// BenchmarkHandleCores handles the shipped cases in many sessions, with the heuristic, on one core and on two in turn:
// x/one-core is how much more two do.
func BenchmarkHandleCores(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("this machine has one core")
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		b.Fatal(err)
	}
	all := pauses(b)
	var took [3]time.Duration // by the number of cores
	for b.Loop() {
		for cores := 1; cores <= 2; cores++ {
			before := runtime.GOMAXPROCS(cores)
			ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic})
			if err != nil {
				b.Fatal(err)
			}
			start := b.Elapsed()
			var wg sync.WaitGroup
			for worker := range cores {
				wg.Go(func() {
					for i := worker; i < len(all); i += cores {
						id := fmt.Sprint(i)
						if _, err := ac.Handle(b.Context(), autocontinue.Output{
							Session: fmt.Sprint("session ", i%100), Turn: fmt.Sprint(i / 100), Run: id, ID: id, Text: all[i].Text,
							Request: all[i].Request, Evidence: all[i].Evidence,
						}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			took[cores] += b.Elapsed() - start
			runtime.GOMAXPROCS(before)
		}
	}
	b.ReportMetric(0, "ns/op") // it is both
	b.ReportMetric(float64(took[1])/float64(took[2]), "x/one-core")
	b.ReportMetric(float64(b.N)*float64(len(all))/took[2].Seconds(), "pauses/s")
}

// BenchmarkMemoryStore fills a store with sessions whose pauses are all rejected completions, continued with a message as
// far as the cap goes. x/2kB is what one takes as a part of what it may.
func BenchmarkMemoryStore(b *testing.B) {
	all := rejections(pauses(b))
	require.NotEmpty(b, all)
	for _, turns := range []int{1, 2, 3, 12} {
		for _, pauses := range []int{1, 3} {
			b.Run(fmt.Sprintf("%d-turns/%d-pauses", turns, pauses), func(b *testing.B) {
				each := 0
				for b.Loop() {
					each = memoryOf(b, turns, pauses, all)
				}
				b.ReportMetric(0, "ns/op") // it is not about time
				b.ReportMetric(float64(each), "B/session")
				b.ReportMetric(float64(each)/mostMemory, "x/2kB")
			})
		}
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
