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
	Message     *Figure       `json:"message,omitempty"` // of the cases that check the message, the share that passed
	Types       []TypeFigures `json:"types"`             // in the order of classify.Types
	Labels      Confusion     `json:"labels"`
	Calibration []Bin         `json:"calibration"`
}

// Confusion is a confusion matrix: Counts[want][got]. It has a row for each type and for rejected completions, which
// are apart from the other statuses, and one more column for the cases without an answer.
type Confusion struct {
	Names  []string `json:"names"`
	Counts [][]int  `json:"counts"`
}

func newConfusion() (m Confusion) {
	for _, t := range classify.Types() {
		if t == classify.Status {
			m.Names = append(m.Names, rejectedLabel)
		}
		m.Names = append(m.Names, string(t))
	}
	for range m.Names {
		m.Counts = append(m.Counts, make([]int, len(m.Names)+1))
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

// found counts the cases that are of a kind, the verdicts that name it, and those of them that are right.
type found struct{ cases, verdicts, right int }

func (f *found) add(want, got bool) {
	f.cases += ones(want)
	f.verdicts += ones(got)
	f.right += ones(want && got)
}

func ones(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Summarize computes a summary of some outcomes of a report, such as those in one language.
func Summarize(outcomes []Outcome) Summary {
	s := Summary{Cases: len(outcomes), Labels: newConfusion()}
	types := make(map[classify.OutputType]*found)
	for _, t := range classify.Types() {
		types[t] = new(found)
	}
	var rejected, completions, statuses, humans found // of the last three, the verdicts are the continues
	var right, met, asking int
	for _, o := range outcomes {
		want, got := o.Want, o.Verdict
		s.Labels.add(want.Label(), got.Label())
		agree, runs := o.agreement()
		s.Unanswered += ones(got.Type == "")
		s.Unstable += ones(agree < runs)
		right += ones(o.typeRight())
		for t, f := range types {
			f.add(want.Type == t, got.Type == t)
		}
		rejected.add(want.WasRejectedCompletion, got.WasRejectedCompletion)
		continued := got.Action == Continue
		completions.add(want.Type == classify.Completion, continued)
		statuses.add(want.Type == classify.Status, continued)
		humans.add(want.Type != classify.Completion && want.Type != classify.Status, continued)
		if want.Message != nil {
			asking++
			met += ones(got.Type != "" && len(got.Message) == 0)
		}
	}
	if asking > 0 {
		f := proportion(met, asking)
		s.Message = &f
	}
	sum, counted := 0.0, 0
	for _, t := range classify.Types() {
		f := types[t]
		row := TypeFigures{Type: t, Cases: f.cases, Verdicts: f.verdicts,
			Precision: proportion(f.right, f.verdicts), Recall: proportion(f.right, f.cases)}
		if f.cases+f.verdicts > 0 {
			row.F1 = 2 * float64(f.right) / float64(f.cases+f.verdicts)
			sum += row.F1
			counted++
		}
		s.Types = append(s.Types, row)
	}
	s.Figures = Figures{
		"accuracy":              proportion(right, len(outcomes)),
		"continue_precision":    proportion(statuses.right, statuses.verdicts),
		"wrong_continues":       proportion(humans.right, humans.cases),
		"completions_continued": proportion(completions.right, completions.cases),
		"caught":                proportion(statuses.right, statuses.cases),
		"rejected_precision":    proportion(rejected.right, rejected.verdicts),
		"rejected_recall":       proportion(rejected.right, rejected.cases),
	}
	if counted > 0 {
		s.Figures["macro_f1"] = Figure{Value: sum / float64(counted), Of: len(outcomes)}
	}
	s.Calibration, s.Figures["ece"] = calibration(outcomes)
	return s
}
