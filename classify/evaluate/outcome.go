package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

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

// typeRight reports whether the type is right, which accuracy counts.
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

// agree returns how many of the runs have the verdict's label.
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
	var first int
	o.Verdict, first = settle(runs)
	o.Result = answers[first].result
	return o
}

// settle returns the verdict of most of the runs, with the other fields of the first run that agrees with it, and the
// index of that run. A run that failed has a vote too: for no answer.
func settle(runs []Verdict) (Verdict, int) {
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
	return m, first
}
