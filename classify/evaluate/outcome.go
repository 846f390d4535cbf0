package evaluate

import (
	"fmt"

	"github.com/sidecoach/sidecoach/classify"
)

// Verdict is what the classifier said about a case, once or by majority.
type Verdict struct {
	Type                  classify.OutputType `json:"type"` // empty when it failed
	WasRejectedCompletion bool                `json:"was_rejected_completion"`
	Confidence            float64             `json:"confidence"`
	Action                Action              `json:"action"`
	Error                 string              `json:"error,omitempty"`    // why there is no type
	Fallback              string              `json:"fallback,omitempty"` // why the primary classifier did not answer
	Coaching              []string            `json:"coaching,omitempty"` // what is wrong with the coaching message
}

// action returns what a host does on the verdict of one run.
func (v Verdict) action(threshold float64) Action {
	if v.Type == classify.Status && v.Confidence >= threshold {
		return Continue
	}
	return Deliver
}

// Label is the verdict in a word: the type, "rejected" for a rejected completion, "unanswered" for none.
func (v Verdict) Label() string { return label(v.Type, v.WasRejectedCompletion) }

// Label is the label in a word, as [Verdict.Label] has it.
func (w Want) Label() string { return label(w.Type, w.WasRejectedCompletion) }

const (
	rejectedLabel   = "rejected"
	unansweredLabel = "unanswered"
)

func label(t classify.OutputType, rejected bool) string {
	switch {
	case t == "":
		return unansweredLabel
	case rejected:
		return rejectedLabel
	}
	return string(t)
}

func (v Verdict) sameAs(o Verdict) bool {
	return v.Type == o.Type && v.WasRejectedCompletion == o.WasRejectedCompletion
}

// Outcome is a case and what became of it.
type Outcome struct {
	Name    string         `json:"name"`
	Want    Want           `json:"want"` // with its action
	Verdict Verdict        `json:"verdict"`
	Runs    []Verdict      `json:"runs,omitempty"` // each, when there was more than one
	Sure    bool           `json:"sure"`
	Meta    map[string]any `json:"meta,omitempty"`
	Digest  string         `json:"digest"` // of input and label: the case was the same if this is

	Input  classify.Input  `json:"-"`
	Result classify.Result `json:"-"` // of the first run that agrees with the verdict
}

// TypeRight reports whether the type is right, which accuracy counts.
func (o Outcome) TypeRight() bool { return o.Verdict.Type == o.Want.Type }

// LabelRight reports whether type and rejected flag are right.
func (o Outcome) LabelRight() bool {
	return o.TypeRight() && o.Verdict.WasRejectedCompletion == o.Want.WasRejectedCompletion
}

// ActionRight reports whether a host would have done the right thing.
func (o Outcome) ActionRight() bool { return o.Verdict.Action == o.Want.Action }

// Right reports whether there is nothing wrong at all, the coaching message included.
func (o Outcome) Right() bool { return len(o.Faults()) == 0 }

// Faults says in words what is wrong, nothing when all is right.
func (o Outcome) Faults() []string {
	if o.Verdict.Type == "" {
		return []string{"unanswered: " + o.Verdict.Error}
	}
	var faults []string
	if !o.LabelRight() {
		faults = append(faults, fmt.Sprintf("%s, want %s", o.Verdict.Label(), o.Want.Label()))
	}
	if !o.ActionRight() {
		faults = append(faults, fmt.Sprintf("would %s at %.2f, want %s", o.Verdict.Action, o.Verdict.Confidence, o.Want.Action))
	}
	return append(faults, o.Verdict.Coaching...)
}

// Agreement returns how many of the runs have the verdict's label, and how many there were.
func (o Outcome) Agreement() (agree, runs int) {
	if len(o.Runs) == 0 {
		return 1, 1
	}
	for _, v := range o.Runs {
		if v.sameAs(o.Verdict) {
			agree++
		}
	}
	return agree, len(o.Runs)
}
