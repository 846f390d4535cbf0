package evaluate

import (
	"fmt"
	"math"

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

// Figures are what a set of outcomes comes to, by name. The package documentation says what each is.
type Figures map[string]Figure

// FigureNames returns the names of the figures in the order in which they are shown.
func FigureNames() []string {
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
	low, high = middle-half, middle+half
	if count == 0 { // exactly, which rounding may miss
		low = 0
	}
	if count == n {
		high = 1
	}
	return low, high
}

// TypeFigures are how one type was found.
type TypeFigures struct {
	Type      classify.OutputType `json:"type"`
	Cases     int                 `json:"cases"`    // that are of the type
	Verdicts  int                 `json:"verdicts"` // that name it
	Precision Figure              `json:"precision"`
	Recall    Figure              `json:"recall"`
	F1        float64             `json:"f1"`
}

// Bin is the outcomes whose confidence is from From to below To, the last bin's To included.
type Bin struct {
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	Confidence float64 `json:"confidence"` // the mean
	Accuracy   Figure  `json:"accuracy"`
}

const bins = 10

// calibration returns the bins and the expected calibration error of the outcomes that have a type.
func calibration(outcomes []Outcome) ([]Bin, Figure) {
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
	list := make([]Bin, bins)
	ece := 0.0
	for b := range list {
		list[b] = Bin{From: float64(b) / bins, To: float64(b+1) / bins, Accuracy: proportion(right[b], n[b])}
		if n[b] > 0 {
			list[b].Confidence = sum[b] / float64(n[b])
			ece += math.Abs(sum[b]-float64(right[b])) / float64(total)
		}
	}
	return list, Figure{Value: ece, Of: total}
}

// bin returns the index of a confidence, true to the bounds as they are written: 0.3 is in the bin from 0.3.
func bin(confidence float64) int {
	for b := 1; b < bins; b++ {
		if confidence < float64(b)/bins {
			return b - 1
		}
	}
	return bins - 1
}
