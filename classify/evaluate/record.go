package evaluate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sidecoach/sidecoach/classify"
)

// Judged is a case with a verdict that was given before, such as on an output of an old session.
type Judged struct {
	Case   Case
	Result classify.Result
}

// Record makes the report that [Evaluate] makes, of verdicts that are there already. Of the options Threshold, Name and About count.
// An error is a case or an option that makes no sense.
func Record(judged []Judged, opts Options) (Report, error) {
	opts.Repeat = 1
	if err := opts.defaults(); err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	judged = slices.SortedFunc(slices.Values(judged), func(a, b Judged) int { return cmp.Compare(a.Case.Name, b.Case.Name) })
	cases := make([]Case, len(judged))
	answers := make([]answer, len(judged))
	for i, j := range judged {
		cases[i], answers[i].result = j.Case, j.Result
	}
	if err := checkAll(cases); err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	r := Report{Version: Version, Classifier: opts.Name, About: opts.About, Threshold: opts.Threshold, Repeat: 1}
	for i, c := range cases {
		r.Outcomes = append(r.Outcomes, outcome(c, answers[i:i+1], opts.Threshold))
	}
	r.Latency, r.Cost = percentiles(answers), cost(answers)
	r.summarize()
	return r, nil
}
