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
		"rejected_precision", "rejected_recall", "ece", "asked"}
}

// String is the value and its counts: "0.043 (2/47)", or "–" if there was nothing to measure.
func (f Figure) String() string {
	if f.Of == 0 || f.Count == nil {
		return f.short()
	}
	return fmt.Sprintf("%.3f (%d/%d)", f.Value, *f.Count, f.Of)
}

// short is the value alone.
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

// proportion returns the figure for count of n.
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
	Cases       int               `json:"cases"`
	Unanswered  int               `json:"unanswered"` // the classifier failed on them
	Unstable    int               `json:"unstable"`   // their runs do not agree on the label
	Figures     map[string]Figure `json:"figures"`
	Message     *Figure           `json:"message,omitempty"` // of the cases that check the message, the share that passed
	Types       []typeFigures     `json:"types"`             // in the order of classify.Types
	Labels      confusion         `json:"labels"`
	Calibration []calibrationBin  `json:"calibration"`
}

// typeFigures are how one type was found.
type typeFigures struct {
	Type      classify.OutputType `json:"type"`
	Cases     int                 `json:"cases"`    // that are of the type
	Verdicts  int                 `json:"verdicts"` // that name it
	Precision Figure              `json:"precision"`
	Recall    Figure              `json:"recall"`
	F1        float64             `json:"f1"`
}

// confusion is a confusion matrix: Counts[want][got]. It has a row for each type and for rejected completions, which
// are apart from the other statuses, and one more column for the cases without an answer.
type confusion struct {
	Names  []string `json:"names"`
	Counts [][]int  `json:"counts"`
}

// Summarize computes a summary of some outcomes of a report, such as those in one language.
func Summarize(outcomes []Outcome) Summary {
	count := func(is func(Outcome) bool) (n int) {
		for _, o := range outcomes {
			if is(o) {
				n++
			}
		}
		return n
	}
	share := func(of, is func(Outcome) bool) Figure {
		return proportion(count(func(o Outcome) bool { return of(o) && is(o) }), count(of))
	}
	wanted := func(types ...classify.OutputType) func(Outcome) bool {
		return func(o Outcome) bool { return slices.Contains(types, o.Want.Type) }
	}
	all := func(Outcome) bool { return true }
	continued := func(o Outcome) bool { return o.Verdict.Action == carryOn }
	rejected := func(o Outcome) bool { return o.Want.WasRejectedCompletion }
	calledRejected := func(o Outcome) bool { return o.Verdict.WasRejectedCompletion }
	s := Summary{
		Cases:      len(outcomes),
		Unanswered: count(func(o Outcome) bool { return o.Verdict.Type == "" }),
		Unstable:   count(func(o Outcome) bool { agree, runs := o.agreement(); return agree < runs }),
		Figures: map[string]Figure{
			"accuracy":              share(all, Outcome.typeRight),
			"continue_precision":    share(continued, wanted(classify.Status)),
			"wrong_continues":       share(wanted(classify.Question, classify.Blocker, classify.Error), continued),
			"completions_continued": share(wanted(classify.Completion), continued),
			"caught":                share(wanted(classify.Status), continued),
			"rejected_precision":    share(calledRejected, rejected),
			"rejected_recall":       share(rejected, calledRejected),
		},
		Labels: confusionOf(outcomes),
	}
	message := share(func(o Outcome) bool { return o.Want.Message != nil },
		func(o Outcome) bool { return o.Verdict.Type != "" && len(o.Verdict.Message) == 0 })
	if message.Of > 0 {
		s.Message = &message
	}
	sum, counted := 0.0, 0
	for _, t := range classify.Types() {
		named := func(o Outcome) bool { return o.Verdict.Type == t }
		row := typeFigures{Type: t, Precision: share(named, wanted(t)), Recall: share(wanted(t), named)}
		row.Cases, row.Verdicts = row.Recall.Of, row.Precision.Of
		if n := row.Cases + row.Verdicts; n > 0 {
			row.F1 = 2 * float64(*row.Recall.Count) / float64(n)
			sum += row.F1
			counted++
		}
		s.Types = append(s.Types, row)
	}
	if counted > 0 {
		s.Figures["macro_f1"] = Figure{Value: sum / float64(counted), Of: len(outcomes)}
	}
	s.Calibration, s.Figures["ece"] = calibration(outcomes)
	return s
}

func confusionOf(outcomes []Outcome) (m confusion) {
	for _, t := range classify.Types() {
		if t == classify.Status {
			m.Names = append(m.Names, rejectedLabel)
		}
		m.Names = append(m.Names, string(t))
	}
	for range m.Names {
		m.Counts = append(m.Counts, make([]int, len(m.Names)+1))
	}
	for _, o := range outcomes {
		column := slices.Index(m.Names, o.Verdict.Label())
		if column < 0 {
			column = len(m.Names)
		}
		m.Counts[slices.Index(m.Names, o.Want.Label())][column]++
	}
	return m
}

// calibrationBin is the outcomes whose confidence is from From to below To, the last bin's To included.
type calibrationBin struct {
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	Confidence float64 `json:"confidence"` // the mean
	Accuracy   Figure  `json:"accuracy"`
}

const bins = 10

// calibration compares confidence with accuracy, and returns the expected calibration error too.
func calibration(outcomes []Outcome) ([]calibrationBin, Figure) {
	var n, right [bins]int
	var sum [bins]float64
	total := 0
	for _, o := range outcomes {
		if o.Verdict.Type == "" {
			continue
		}
		b := bin(o.Verdict.Confidence)
		n[b]++
		sum[b] += o.Verdict.Confidence
		if o.typeRight() {
			right[b]++
		}
		total++
	}
	list := make([]calibrationBin, bins)
	ece := 0.0
	for b := range list {
		list[b] = calibrationBin{From: float64(b) / bins, To: float64(b+1) / bins, Accuracy: proportion(right[b], n[b])}
		if n[b] > 0 {
			list[b].Confidence = sum[b] / float64(n[b])
			ece += math.Abs(sum[b]-float64(right[b])) / float64(total)
		}
	}
	return list, Figure{Value: ece, Of: total}
}

// bin returns the index of the bin of a confidence.
func bin(confidence float64) int { return min(int(confidence*bins), bins-1) }
