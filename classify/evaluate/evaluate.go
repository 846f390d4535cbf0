package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
)

// NoGate as [Options].Threshold continues every status.
const NoGate = -1

// Options say how to evaluate. The zero value is the default.
type Options struct {
	Threshold float64               // a status is continued at or above it; 0 is [classify.DefaultThreshold]
	Repeat    int                   // how often each case is judged; 0 is once
	Parallel  int                   // calls at a time at most; 0 is 8
	Progress  func(done, total int) // called after each call of the classifier, one at a time, done rising to total
	Name      string                // of the classifier, for the report
	About     []string              // what the cases are, a sentence each, for the report
}

func (o *Options) defaults() error {
	switch {
	case o.Threshold == 0:
		o.Threshold = classify.DefaultThreshold
	case o.Threshold != NoGate && !(o.Threshold > 0 && o.Threshold <= 1):
		return errors.New("the threshold is a number from 0 to 1, or NoGate")
	}
	if o.Repeat < 0 || o.Parallel < 0 {
		return errors.New("neither Repeat nor Parallel can be below 0")
	}
	o.Repeat = max(o.Repeat, 1)
	if o.Parallel == 0 {
		o.Parallel = 8
	}
	return nil
}

// Evaluate puts every case to c and reports how it did. The report does not depend on the order of the cases nor on that in
// which the calls end; the same verdicts give the same report but for its latency.
//
// A failure of c, even a panic, is a fault of the case's verdict and no error of Evaluate. An error is a case or an option
// that makes no sense, told before c is called, or the end of ctx; then there is no report.
func Evaluate(ctx context.Context, c classify.Classifier, cases []Case, opts Options) (Report, error) {
	if c == nil {
		return Report{}, errors.New("evaluate: there is no classifier")
	}
	if err := opts.defaults(); err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	if err := checkAll(cases); err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	cases = slices.Clone(cases)
	slices.SortFunc(cases, func(a, b Case) int { return cmp.Compare(a.Name, b.Name) })
	answers, err := ask(ctx, c, cases, opts)
	if err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	r := Report{Version: Version, Classifier: opts.Name, About: opts.About, Threshold: opts.Threshold, Repeat: opts.Repeat}
	for i, cs := range cases {
		r.Outcomes = append(r.Outcomes, outcome(cs, answers[i*opts.Repeat:(i+1)*opts.Repeat], opts.Threshold))
	}
	r.Latency = percentiles(answers)
	r.Cost = cost(answers)
	r.summarize()
	return r, nil
}

// answer is what one call of the classifier gave.
type answer struct {
	result classify.Result
	err    error
	took   time.Duration
}

// ask calls the classifier Repeat times for each case. Answers stand in the order of the cases, those of a case together;
// the calls are made one round after the other, those of one case never at the same time: a classifier may let identical
// calls share their answer, and then there would be no repeats.
func ask(ctx context.Context, c classify.Classifier, cases []Case, opts Options) ([]answer, error) {
	answers := make([]answer, len(cases)*opts.Repeat)
	jobs := make(chan int)
	turns := make([]chan struct{}, len(cases))
	for i := range turns {
		turns[i] = make(chan struct{}, 1)
	}
	var progress sync.Mutex
	done := 0
	var workers sync.WaitGroup
	for range min(opts.Parallel, len(answers)) {
		workers.Go(func() {
			for i := range jobs {
				turn := turns[i/opts.Repeat]
				turn <- struct{}{}
				answers[i] = call(ctx, c, cases[i/opts.Repeat].Input)
				<-turn
				if opts.Progress != nil {
					progress.Lock()
					done++
					opts.Progress(done, len(answers))
					progress.Unlock()
				}
			}
		})
	}
	var err error
	for n := 0; n < len(answers) && err == nil; n++ {
		select {
		case jobs <- n%len(cases)*opts.Repeat + n/len(cases):
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	close(jobs)
	workers.Wait()
	return answers, cmp.Or(err, context.Cause(ctx))
}

// call asks the classifier once and holds it to its contract.
func call(ctx context.Context, c classify.Classifier, in classify.Input) (a answer) {
	in.Criteria, in.Evidence = slices.Clone(in.Criteria), slices.Clone(in.Evidence)
	start := time.Now()
	defer func() {
		a.took = time.Since(start)
		if p := recover(); p != nil {
			a.result, a.err = classify.Result{}, fmt.Errorf("panic: %v", p)
		}
	}()
	a.result, a.err = c.Classify(ctx, in)
	switch {
	case a.err != nil:
	case !a.result.Type.Valid():
		a.err = errors.New("the type is not one of the five")
	case !(a.result.Confidence >= 0 && a.result.Confidence <= 1):
		a.err = errors.New("the confidence is not a number from 0 to 1")
	}
	return a
}

// verdict returns what an answer says about a case.
func (a answer) verdict(c Case, threshold float64) Verdict {
	if a.err != nil {
		return Verdict{Action: Deliver, Error: clip(a.err.Error())}
	}
	v := Verdict{
		Type:                  a.result.Type,
		WasRejectedCompletion: a.result.WasRejectedCompletion && a.result.Type == classify.Status,
		Confidence:            a.result.Confidence,
		Fallback:              clip(a.result.Fallback),
	}
	v.Action = v.action(threshold)
	if c.Want.Coaching != nil {
		v.Coaching = c.Want.Coaching.Check(a.result.CoachingMessage)
	}
	return v
}

func outcome(c Case, answers []answer, threshold float64) Outcome {
	o := Outcome{Name: c.Name, Want: c.Want, Sure: c.Sure(), Meta: maps.Clone(c.Meta), Digest: c.digest(), Input: c.Input}
	o.Want.Action = c.Want.action()
	runs := make([]Verdict, len(answers))
	for i, a := range answers {
		runs[i] = a.verdict(c, threshold)
	}
	if len(runs) > 1 {
		o.Runs = runs
	}
	var first int
	o.Verdict, first = settle(runs)
	o.Result = answers[first].result
	return o
}

// settle returns the verdict that the runs come to, with what the first run that agrees with it says beside, and which run
// that is.
func settle(runs []Verdict) (Verdict, int) {
	m := majority(runs)
	i := slices.IndexFunc(runs, func(v Verdict) bool { return v.sameAs(m) && v.Error == m.Error })
	m.Fallback, m.Coaching = runs[i].Fallback, runs[i].Coaching
	return m, i
}

// majority returns the verdict of most of the runs. A run that failed has a vote too: for no answer.
func majority(runs []Verdict) Verdict {
	votes := make(map[classify.OutputType]int)
	rejected := make(map[classify.OutputType]int)
	sum := make(map[classify.OutputType]float64)
	continues, failure := 0, ""
	for _, v := range runs {
		votes[v.Type]++
		sum[v.Type] += v.Confidence
		if v.WasRejectedCompletion {
			rejected[v.Type]++
		}
		if v.Action == Continue {
			continues++
		}
		failure = cmp.Or(failure, v.Error)
	}
	m := Verdict{Action: Deliver}        // of no type: of equals the first
	for _, t := range classify.Types() { // then in this order
		if votes[t] > votes[m.Type] {
			m.Type = t
		}
	}
	if m.Type == "" {
		m.Error = failure
		return m
	}
	m.WasRejectedCompletion = rejected[m.Type]*2 > votes[m.Type]
	m.Confidence = math.Min(1, sum[m.Type]/float64(votes[m.Type]))
	if continues*2 > len(runs) {
		m.Action = Continue
	}
	return m
}

// clip puts s on one line of at most 200 bytes.
func clip(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
