package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
)

const noGate = -1 // the threshold of a host that continues every status

// Options say how to evaluate. The zero value is the default.
type Options struct {
	Threshold float64               // a status is continued at or above it; 0 is [classify.DefaultThreshold], -1 no gate
	Repeat    int                   // how often each case is judged; 0 is once
	Parallel  int                   // calls at a time at most; 0 is 8
	Progress  func(done, total int) // called after each call of the classifier, one at a time, done rising to total
	Name      string                // of the classifier, for the report
	About     []string              // what the cases are, a sentence each, for the report

	// Message returns the message that a case's [Message] is held against; nil is the classifier's own coaching.
	Message func(classify.Input, classify.Result) string
}

func (o *Options) defaults() error {
	switch {
	case o.Threshold == 0:
		o.Threshold = classify.DefaultThreshold
	case o.Threshold != noGate && !(o.Threshold > 0 && o.Threshold <= 1):
		return errors.New("the threshold is not a number from 0 to 1, or -1 for no gate")
	}
	if o.Repeat < 0 || o.Parallel < 0 {
		return errors.New("the options Repeat and Parallel must not be below 0")
	}
	o.Repeat, o.Parallel = cmp.Or(o.Repeat, 1), cmp.Or(o.Parallel, 8)
	if o.Message == nil {
		o.Message = func(_ classify.Input, r classify.Result) string { return r.CoachingMessage }
	}
	return nil
}

// Evaluate puts every case to c and reports how it did. The report does not depend on the order of the cases, nor on
// the order in which the calls end. The same verdicts give the same report, except for its latency.
//
// A failure of c, even a panic, is a fault of the case's verdict, and not an error of Evaluate. A case or an option
// that makes no sense is an error before c is called. At the end of ctx there is no report.
func Evaluate(ctx context.Context, c classify.Classifier, cases []Case, opts Options) (Report, error) {
	if c == nil || classify.HoldsNil(c) {
		return Report{}, errors.New("evaluate: there is no classifier")
	}
	if ctx == nil {
		return Report{}, errors.New("evaluate: the context is nil: give context.Background() if there is none")
	}
	if err := cmp.Or(opts.defaults(), checkAll(cases)); err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	answers, err := ask(ctx, c, cases, opts)
	if err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	return newReport(cases, answers, opts), nil
}

// Record makes the report that [Evaluate] makes, of verdicts that are there already: one result for each case. The
// options Repeat, Parallel and Progress do not count.
func Record(cases []Case, results []classify.Result, opts Options) (Report, error) {
	opts.Repeat = 1
	if err := cmp.Or(opts.defaults(), checkAll(cases)); err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	answers := make([]answer, len(cases))
	for i := range cases {
		answers[i].result = results[i]
	}
	return newReport(cases, answers, opts), nil
}

type answer struct {
	result classify.Result
	err    error
	took   time.Duration
}

// ask calls the classifier Repeat times for each case. The answers of a case stand together, in the order of cases.
func ask(ctx context.Context, c classify.Classifier, cases []Case, opts Options) ([]answer, error) {
	answers := make([]answer, len(cases)*opts.Repeat)
	slots := make(chan struct{}, opts.Parallel)
	var workers sync.WaitGroup
	var progress sync.Mutex
	done := 0
	for i := range answers {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		workers.Go(func() {
			defer func() { <-slots }()
			answers[i] = call(ctx, c, cases[i/opts.Repeat].Input)
			progress.Lock()
			defer progress.Unlock()
			if done++; opts.Progress != nil {
				opts.Progress(done, len(answers))
			}
		})
	}
	workers.Wait()
	return answers, context.Cause(ctx)
}

// call asks the classifier once and holds it to its contract.
func call(ctx context.Context, c classify.Classifier, in classify.Input) (a answer) {
	start := time.Now()
	defer func() {
		a.took = time.Since(start)
		if p := recover(); p != nil {
			a.result, a.err = classify.Result{}, fmt.Errorf("panic: %v", p)
		}
	}()
	if a.result, a.err = c.Classify(ctx, in); a.err == nil {
		a.err = a.result.ValidateFor(in.Text)
	}
	return a
}
