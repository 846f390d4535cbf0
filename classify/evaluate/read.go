package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sidecoach/sidecoach/classify"
)

const maxReport = 1 << 30 // bytes

// ReadReport reads a report that was written as JSON. What follows from its labels and the verdicts of its runs is computed
// anew: the action of a label, with repeats the verdict of a case, and all figures.
//
// A report of another version, one that is none, and one that says what no evaluation can have said (an action that does not
// go with the verdict, a confidence above 1, a case twice) are errors; those about a case name it.
func ReadReport(r io.Reader) (Report, error) {
	var rep Report
	dec := json.NewDecoder(io.LimitReader(r, maxReport))
	if err := dec.Decode(&rep); err != nil {
		if errors.Is(err, io.EOF) {
			return Report{}, errors.New("evaluate: read report: it is empty")
		}
		return Report{}, fmt.Errorf("evaluate: read report: %w", inWords("a report", err))
	}
	if rep.Version != Version {
		return Report{}, fmt.Errorf("evaluate: read report: it has version %d; this program reads version %d", rep.Version, Version)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) { // a second report, added with >>
		return Report{}, errors.New("evaluate: read report: something follows the report; one file holds one")
	}
	if err := rep.check(); err != nil {
		return Report{}, fmt.Errorf("evaluate: read report: %w", err)
	}
	for i := range rep.Outcomes {
		o := &rep.Outcomes[i]
		o.Want.Action = o.Want.action()
		if len(o.Runs) > 0 {
			o.Verdict, _ = settle(o.Runs)
		}
	}
	rep.summarize()
	return rep, nil
}

// check returns what makes a report unusable.
func (r Report) check() error {
	if len(r.Outcomes) == 0 {
		return errors.New("it has no outcomes")
	}
	if r.Repeat < 1 {
		return fmt.Errorf("its cases were judged %d times", r.Repeat)
	}
	if r.Threshold != NoGate && !(r.Threshold > 0 && r.Threshold <= 1) {
		return fmt.Errorf("its threshold %v is neither above 0 and at most 1 nor %d, which is no gate", r.Threshold, NoGate)
	}
	seen := make(map[string]bool, len(r.Outcomes))
	for _, o := range r.Outcomes {
		if seen[o.Name] {
			return fmt.Errorf("it has %s twice", quoted(o.Name))
		}
		seen[o.Name] = true
		if err := r.checkOutcome(o); err != nil {
			return fmt.Errorf("%s %w", quoted(o.Name), err)
		}
	}
	return nil
}

// checkOutcome returns what is wrong with one of the outcomes, to follow its name.
func (r Report) checkOutcome(o Outcome) error {
	runs := o.Runs
	if r.Repeat == 1 && len(runs) == 0 {
		runs = []Verdict{o.Verdict}
	}
	switch {
	case !o.Want.Type.Valid() || o.Want.WasRejectedCompletion && o.Want.Type != classify.Status:
		return errors.New("has a label that can't be")
	case o.Want.Action != "" && o.Want.Action != o.Want.action():
		return fmt.Errorf("has a label that calls for %s and says %s", o.Want.action(), quoted(string(o.Want.Action)))
	case len(runs) != r.Repeat:
		return fmt.Errorf("has %d runs, not %d", len(runs), r.Repeat)
	}
	for _, v := range append([]Verdict{o.Verdict}, runs...) {
		switch {
		case v.Type != "" && !v.Type.Valid() || v.WasRejectedCompletion && v.Type != classify.Status || !(v.Confidence >= 0 && v.Confidence <= 1):
			return errors.New("has a verdict that can't be")
		case v.Action != Deliver && v.Action != Continue:
			return fmt.Errorf("has a verdict whose action %s is neither continue nor deliver", quoted(string(v.Action)))
		}
	}
	for _, v := range runs {
		if v.Action != v.action(r.Threshold) {
			return fmt.Errorf("has a verdict that calls for %s and says %s: %s at %.2f", v.action(r.Threshold), v.Action, v.Label(), v.Confidence)
		}
	}
	return nil
}
