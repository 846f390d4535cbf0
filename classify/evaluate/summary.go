package evaluate

import (
	"slices"

	"github.com/sidecoach/sidecoach/classify"
)

// Summary is what a set of outcomes comes to.
type Summary struct {
	Cases       int           `json:"cases"`
	Unanswered  int           `json:"unanswered"` // the classifier failed on them
	Unstable    int           `json:"unstable"`   // their runs do not agree on the label
	Figures     Figures       `json:"figures"`
	Message     *Figure       `json:"message,omitempty"` // of the cases that ask something of the message, the share that got it
	Types       []TypeFigures `json:"types"`             // in the order of classify.Types
	Confusion   Confusion     `json:"confusion"`         // of the five types
	Labels      Confusion     `json:"labels"`            // with rejected completions apart from the other statuses
	Calibration []Bin         `json:"calibration"`
}

// Confusion is a confusion matrix: Counts[want][got]. It has a row for each of Names, and one more column for the cases
// without an answer.
type Confusion struct {
	Names  []string `json:"names"`
	Counts [][]int  `json:"counts"`
}

func newConfusion(names []string) Confusion {
	m := Confusion{Names: names, Counts: make([][]int, len(names))}
	for i := range m.Counts {
		m.Counts[i] = make([]int, len(names)+1)
	}
	return m
}

func (m Confusion) add(want, got string) {
	column := slices.Index(m.Names, got)
	if column < 0 {
		column = len(m.Names)
	}
	m.Counts[slices.Index(m.Names, want)][column]++
}

// row, column and hits of one name.
func (m Confusion) of(i int) (want, got, both int) {
	for j := range m.Names {
		got += m.Counts[j][i]
	}
	for _, n := range m.Counts[i] {
		want += n
	}
	return want, got, m.Counts[i][i]
}

// Summarize computes a summary of some outcomes of a report, such as those in one language.
func Summarize(outcomes []Outcome) Summary {
	var types []string
	for _, t := range classify.Types() {
		types = append(types, string(t))
	}
	labels := slices.Insert(slices.Clone(types), len(types)-1, rejectedLabel)
	s := Summary{Cases: len(outcomes), Confusion: newConfusion(types), Labels: newConfusion(labels)}
	var right, met, asking int
	continued := make(map[classify.OutputType]int)
	for _, o := range outcomes {
		s.Confusion.add(string(o.Want.Type), string(o.Verdict.Type))
		s.Labels.add(o.Want.Label(), o.Verdict.Label())
		if o.Verdict.Type == "" {
			s.Unanswered++
		}
		if agree, runs := o.Agreement(); agree < runs {
			s.Unstable++
		}
		if o.TypeRight() {
			right++
		}
		if o.Verdict.Action == Continue {
			continued[o.Want.Type]++
		}
		if o.Want.Message != nil {
			asking++
			if o.Verdict.Type != "" && len(o.Verdict.Message) == 0 {
				met++
			}
		}
	}
	if asking > 0 {
		f := proportion(met, asking)
		s.Message = &f
	}
	cases := make(map[classify.OutputType]int)
	sum, counted := 0.0, 0
	for i, t := range classify.Types() {
		want, got, both := s.Confusion.of(i)
		cases[t] = want
		f := TypeFigures{Type: t, Cases: want, Verdicts: got, Precision: proportion(both, got), Recall: proportion(both, want)}
		if want+got > 0 {
			f.F1 = 2 * float64(both) / float64(want+got)
			sum += f.F1
			counted++
		}
		s.Types = append(s.Types, f)
	}
	humans := []classify.OutputType{classify.Question, classify.Blocker, classify.Error}
	var wrong, human, continues int
	for _, n := range continued {
		continues += n
	}
	for _, t := range humans {
		wrong += continued[t]
		human += cases[t]
	}
	wantRejected, gotRejected, bothRejected := s.Labels.of(slices.Index(labels, rejectedLabel))
	s.Figures = Figures{
		Accuracy:             proportion(right, len(outcomes)),
		ContinuePrecision:    proportion(continued[classify.Status], continues),
		WrongContinues:       proportion(wrong, human),
		CompletionsContinued: proportion(continued[classify.Completion], cases[classify.Completion]),
		Caught:               proportion(continued[classify.Status], cases[classify.Status]),
		RejectedPrecision:    proportion(bothRejected, gotRejected),
		RejectedRecall:       proportion(bothRejected, wantRejected),
	}
	if counted > 0 {
		s.Figures.MacroF1 = Figure{Value: sum / float64(counted), Of: len(outcomes)}
	}
	s.Calibration, s.Figures.ECE = calibration(outcomes)
	return s
}
