package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
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
	err := cmp.Or(opts.defaults(), checkAll(cases))
	var answers []answer
	if err == nil {
		answers, err = ask(ctx, c, cases, opts)
	}
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

// Verdict is what the classifier said about a case, once or by majority.
type Verdict struct {
	Type                  classify.OutputType `json:"type"` // empty when it failed
	WasRejectedCompletion bool                `json:"was_rejected_completion"`
	Confidence            float64             `json:"confidence"`
	Action                string              `json:"action"`
	Error                 string              `json:"error,omitempty"`    // why there is no type
	Fallback              string              `json:"fallback,omitempty"` // why the primary classifier did not answer
	Message               []string            `json:"message,omitempty"`  // what is wrong with the message to the agent
}

// Label is the verdict in a word: the type, "rejected" for a rejected completion, "unanswered" for none.
func (v Verdict) Label() string { return label(v.Type, v.WasRejectedCompletion) }

// Label is the label in a word, as [Verdict.Label] has it.
func (w Want) Label() string { return label(w.Type, w.WasRejectedCompletion) }

func label(t classify.OutputType, rejected bool) string {
	if rejected {
		return "rejected"
	}
	return cmp.Or(string(t), "unanswered")
}

// Outcome is a case and what became of it.
type Outcome struct {
	Name    string         `json:"name"`
	Want    Want           `json:"want"` // with its action
	Verdict Verdict        `json:"verdict"`
	Runs    []Verdict      `json:"runs,omitempty"` // each, if there was more than one
	Sure    bool           `json:"sure"`
	Meta    map[string]any `json:"meta,omitempty"`
	Digest  string         `json:"digest"` // of input and label: the case was the same if this is

	Result classify.Result `json:"-"` // of the first run that agrees with the verdict; not in a file

	input classify.Input // for the page
}

func (o Outcome) typeRight() bool { return o.Verdict.Type == o.Want.Type }

// right returns how much of label and action is right.
func (o Outcome) right() (n int) {
	if o.Verdict.Label() == o.Want.Label() {
		n++
	}
	if o.Verdict.Action == o.Want.Action {
		n++
	}
	return n
}

// Faults says in words what is wrong, the message included. It returns nothing if all is right.
func (o Outcome) Faults() []string {
	if o.Verdict.Type == "" {
		return []string{"unanswered: " + o.Verdict.Error}
	}
	var f findings
	f.add(o.Verdict.Label() != o.Want.Label(), "%s, want %s", o.Verdict.Label(), o.Want.Label())
	f.add(o.Verdict.Action != o.Want.Action, "would %s at %.2f, want %s", o.Verdict.Action, o.Verdict.Confidence,
		o.Want.Action)
	return append(f, o.Verdict.Message...)
}

// Signals returns the twelve strongest signals of the result in words.
func (o Outcome) Signals() (words []string) {
	text, signals := plaintext.Redact(o.input.Text), slices.Clone(o.Result.Signals) // spans of it stay valid
	slices.SortStableFunc(signals, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, s := range signals[:min(len(signals), 12)] {
		if s.Start >= 0 && s.Start < s.End && s.End <= len(text) {
			words = append(words, fmt.Sprintf("%s %s %.2f %s", s.Kind, s.Name, s.Weight, quoted(text[s.Start:s.End])))
		}
	}
	return words
}

// runs are the verdicts of which the verdict is the majority.
func (o Outcome) runs() []Verdict {
	if len(o.Runs) == 0 {
		return []Verdict{o.Verdict}
	}
	return o.Runs
}

func (o Outcome) agree() int {
	return count(o.runs(), func(v Verdict) bool { return v.Label() == o.Verdict.Label() })
}

func (a answer) verdict(c Case, opts Options) Verdict {
	if a.err != nil {
		return Verdict{Action: deliver, Error: plaintext.Line(a.err.Error(), 200)}
	}
	v := Verdict{
		Type:                  a.result.Type,
		WasRejectedCompletion: a.result.WasRejectedCompletion,
		Confidence:            a.result.Confidence,
		Action:                deliver,
		Fallback:              plaintext.Line(a.result.Fallback, 200),
	}
	if v.Type == classify.Status && v.Confidence >= opts.Threshold {
		v.Action = carryOn
	}
	if c.Want.Message != nil {
		v.Message = c.Want.Message.Check(opts.Message(c.Input, a.result))
	}
	return v
}

// outcome is the verdict of most of the runs, with the other fields of the first run that agrees with it. A run that
// failed has a vote too: for no answer.
func outcome(c Case, answers []answer, opts Options) Outcome {
	o := Outcome{Name: c.Name, Want: c.Want, Sure: c.sure(), Meta: maps.Clone(c.Meta), Digest: c.digest(), input: c.Input}
	o.Want.Action = c.Want.action()
	runs := make([]Verdict, len(answers))
	for i, a := range answers {
		runs[i] = a.verdict(c, opts)
	}
	if len(runs) > 1 {
		o.Runs = runs
	}
	m := Verdict{Action: deliver}
	var voters []Verdict
	for _, t := range append([]classify.OutputType{""}, classify.Types()...) { // of equals the first
		list := slices.DeleteFunc(slices.Clone(runs), func(v Verdict) bool { return v.Type != t })
		if len(list) > len(voters) {
			m.Type, voters = t, list
		}
	}
	for _, v := range voters {
		m.Confidence += v.Confidence / float64(len(voters))
	}
	m.Confidence = min(1, m.Confidence)
	m.WasRejectedCompletion = 2*count(voters, func(v Verdict) bool { return v.WasRejectedCompletion }) > len(voters)
	if m.Type != "" && 2*count(runs, func(v Verdict) bool { return v.Action == carryOn }) > len(runs) {
		m.Action = carryOn
	}
	first := slices.IndexFunc(runs, func(v Verdict) bool { return v.Label() == m.Label() })
	m.Error, m.Fallback, m.Message = runs[first].Error, runs[first].Fallback, runs[first].Message
	o.Verdict, o.Result = m, answers[first].result
	return o
}
