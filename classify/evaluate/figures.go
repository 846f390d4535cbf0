package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/sidecoach/sidecoach/classify"
)

// Figure is one number of a report. A proportion is Count of Of and has its 95 % Wilson interval. Of is 0 if there was
// nothing to count; then Value means nothing. macro_f1 and ece have the number of cases in Of and no interval.
type Figure struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	Count *int     `json:"count,omitempty"`
	Of    int      `json:"of"`
}

// figureNames returns the names of the figures in the order in which they are shown.
func figureNames() []string {
	return []string{"macro_f1", "accuracy", "continue_precision", "wrong_continues", "completions_continued", "caught",
		"rejected_precision", "rejected_recall", "ece", "asked", "message"}
}

// String is the value and its counts: "0.043 (2/47)", or "–" if there was nothing to measure.
func (f Figure) String() string {
	if f.Of == 0 || f.Count == nil {
		return f.short()
	}
	return fmt.Sprintf("%.3f (%d/%d)", f.Value, *f.Count, f.Of)
}

func (f Figure) short() string {
	if f.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", f.Value)
}

func (f Figure) interval() string {
	if f.Low == nil {
		return ""
	}
	return fmt.Sprintf("%.3f–%.3f", *f.Low, *f.High)
}

func proportion(count, n int) Figure {
	if n == 0 {
		return Figure{Count: &count}
	}
	low, high := wilson(count, n)
	return Figure{Value: float64(count) / float64(n), Low: &low, High: &high, Count: &count, Of: n}
}

// wilson returns the 95 % score interval of a proportion (Wilson 1927); n is above 0.
func wilson(count, n int) (low, high float64) {
	const z = 1.959963984540054 // the normal distribution's 0.975 quantile
	p, m := float64(count)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, middle-half), min(1, middle+half)
}

// Summary is what a set of outcomes comes to. The package documentation says what each of the figures is.
type Summary struct {
	Cases      int               `json:"cases"`
	Unanswered int               `json:"unanswered"` // the classifier failed on them
	Unstable   int               `json:"unstable"`   // their runs do not agree on the label
	Figures    map[string]Figure `json:"figures"`
}

type predicate = func(Outcome) bool

func count[T any](list []T, is func(T) bool) (n int) {
	for _, item := range list {
		if is(item) {
			n++
		}
	}
	return n
}

func share(outcomes []Outcome, of, is predicate) Figure {
	return proportion(count(outcomes, func(o Outcome) bool { return of(o) && is(o) }), count(outcomes, of))
}

// wanted and named report whether the label, or the verdict, is one of the types.
func wanted(types ...classify.OutputType) predicate {
	return func(o Outcome) bool { return slices.Contains(types, o.Want.Type) }
}

func named(t classify.OutputType) predicate {
	return func(o Outcome) bool { return o.Verdict.Type == t }
}

// Summarize computes a summary of some outcomes of a report, such as those in one language.
func Summarize(outcomes []Outcome) Summary {
	of := func(of, is predicate) Figure { return share(outcomes, of, is) }
	continued := func(o Outcome) bool { return o.Verdict.Action == carryOn }
	rejected := func(o Outcome) bool { return o.Want.WasRejectedCompletion }
	calledRejected := func(o Outcome) bool { return o.Verdict.WasRejectedCompletion }
	s := Summary{
		Cases:      len(outcomes),
		Unanswered: count(outcomes, named("")),
		Unstable:   count(outcomes, func(o Outcome) bool { return o.agree() < len(o.runs()) }),
		Figures: map[string]Figure{
			"accuracy":              of(func(Outcome) bool { return true }, Outcome.typeRight),
			"continue_precision":    of(continued, wanted(classify.Status)),
			"wrong_continues":       of(wanted(classify.Question, classify.Blocker, classify.Error), continued),
			"completions_continued": of(wanted(classify.Completion), continued),
			"caught":                of(wanted(classify.Status), continued),
			"rejected_precision":    of(calledRejected, rejected),
			"rejected_recall":       of(rejected, calledRejected),
		},
	}
	message := of(func(o Outcome) bool { return o.Want.Message != nil },
		func(o Outcome) bool { return o.Verdict.Type != "" && len(o.Verdict.Message) == 0 })
	if message.Of > 0 {
		s.Figures["message"] = message
	}
	sum, types := 0.0, 0
	for _, t := range classify.Types() {
		if f := f1(outcomes, t); f.Of > 0 {
			sum += f.Value
			types++
		}
	}
	if types > 0 {
		s.Figures["macro_f1"] = Figure{Value: sum / float64(types), Of: len(outcomes)}
	}
	s.Figures["ece"] = Figure{Value: calibrationError(outcomes), Of: len(outcomes) - s.Unanswered}
	return s
}

// calibrationError is the mean distance between confidence and accuracy over ten bins, weighted by the cases in them.
func calibrationError(outcomes []Outcome) float64 {
	var distance [10]float64 // between the sum of the confidences and the number of right types
	answered := 0
	for _, o := range outcomes {
		if o.Verdict.Type == "" {
			continue
		}
		answered++
		d := &distance[min(int(o.Verdict.Confidence*10), 9)]
		*d += o.Verdict.Confidence
		if o.typeRight() {
			*d--
		}
	}
	sum := 0.0
	for _, d := range distance {
		sum += math.Abs(d)
	}
	return sum / float64(max(1, answered))
}

// f1 is the harmonic mean of a type's precision and recall; Of is 0 if neither a label nor a verdict names it.
func f1(outcomes []Outcome, t classify.OutputType) Figure {
	n := count(outcomes, wanted(t)) + count(outcomes, named(t))
	right := *share(outcomes, wanted(t), named(t)).Count
	return Figure{Value: 2 * float64(right) / float64(max(1, n)), Of: n}
}
