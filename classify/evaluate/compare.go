package evaluate

import "math"

// Comparison sets a report against an earlier one, case by case.
type Comparison struct {
	Mismatches []Mismatch `json:"mismatches,omitempty"` // in what the two were not made alike; without any, flips are the verdicts' alone
	Cases      int        `json:"cases"`                // that are the same in both
	Types      Flips      `json:"types"`                // right and wrong as accuracy counts
	Labels     Flips      `json:"labels"`               // type and rejected flag
	Actions    Flips      `json:"actions"`              // what a host would do
	Changes    []Change   `json:"changes,omitempty"`    // every case whose label or action is another now, right or wrong, by name
	Added      []string   `json:"added,omitempty"`      // cases that the baseline does not have
	Removed    []string   `json:"removed,omitempty"`    // cases that only the baseline has
	Differed   []string   `json:"differed,omitempty"`   // cases with another input or label than in the baseline; they are not compared
}

// Flips are the cases that were wrong and are right now, those that were right and are wrong now, both by name, and the
// two-sided p value of McNemar's exact test: the chance of so uneven a split, or a more uneven one, if a flip either way
// were equally likely. It is 1 without flips.
type Flips struct {
	Fixed  []string `json:"fixed,omitempty"`
	Broken []string `json:"broken,omitempty"`
	P      float64  `json:"p"`
}

// Noise reports whether the flips may well be chance: P is 0.05 or more.
func (f Flips) Noise() bool { return f.P >= 0.05 }

// Word is what the flips come to: "no flips", "may be noise", "better" or "worse".
func (f Flips) Word() string {
	switch {
	case len(f.Fixed)+len(f.Broken) == 0:
		return "no flips"
	case f.Noise():
		return "may be noise"
	case len(f.Fixed) > len(f.Broken):
		return "better"
	}
	return "worse"
}

// Change is a case that is judged in another way than before.
type Change struct {
	Name   string  `json:"name"`
	Want   Want    `json:"want"`
	Before Verdict `json:"before"`
	After  Verdict `json:"after"`
	Agree  int     `json:"agree"` // how many of the runs agree with After
	Runs   int     `json:"runs"`
}

// Word says which way the case went, label and action taken together: "fixed", "broken", or "changed" when it was and is right,
// or was and is wrong.
func (ch Change) Word() string {
	right := func(v Verdict) bool { return v.Label() == ch.Want.Label() && v.Action == ch.Want.Action }
	switch before, after := right(ch.Before), right(ch.After); {
	case after && !before:
		return "fixed"
	case before && !after:
		return "broken"
	}
	return "changed"
}

// Compare sets r against a baseline. Cases are matched by name and compared if input and label are the same; with repeats
// the majority counts. Reports that were not made alike are compared all the same; Mismatches says in what.
func (r Report) Compare(baseline Report) Comparison {
	before := make(map[string]Outcome, len(baseline.Outcomes))
	for _, o := range baseline.Outcomes {
		before[o.Name] = o
	}
	var c Comparison
	now := make(map[string]bool, len(r.Outcomes))
	for _, o := range r.Outcomes {
		now[o.Name] = true
		b, ok := before[o.Name]
		switch {
		case !ok:
			c.Added = append(c.Added, o.Name)
			continue
		case b.Digest != o.Digest:
			c.Differed = append(c.Differed, o.Name)
			continue
		}
		c.Cases++
		c.Types.add(o.Name, b.TypeRight(), o.TypeRight())
		c.Labels.add(o.Name, b.LabelRight(), o.LabelRight())
		c.Actions.add(o.Name, b.ActionRight(), o.ActionRight())
		if !o.Verdict.sameAs(b.Verdict) || o.Verdict.Action != b.Verdict.Action {
			ch := Change{Name: o.Name, Want: o.Want, Before: b.Verdict, After: o.Verdict}
			ch.Agree, ch.Runs = o.Agreement()
			c.Changes = append(c.Changes, ch)
		}
	}
	for _, o := range baseline.Outcomes {
		if !now[o.Name] {
			c.Removed = append(c.Removed, o.Name)
		}
	}
	for _, f := range []*Flips{&c.Types, &c.Labels, &c.Actions} {
		f.P = mcnemar(len(f.Fixed), len(f.Broken))
	}
	c.Mismatches = r.mismatches(baseline, c)
	return c
}

func (f *Flips) add(name string, before, after bool) {
	switch {
	case after && !before:
		f.Fixed = append(f.Fixed, name)
	case before && !after:
		f.Broken = append(f.Broken, name)
	}
}

// mcnemar returns the two-sided p value of the exact test: twice the binomial tail of b+c tosses of a fair coin, at most 1.
func mcnemar(b, c int) float64 {
	n, k := b+c, min(b, c)
	if 2*k >= n-1 { // as even as can be
		return 1
	}
	tail := 0.0
	all, _ := math.Lgamma(float64(n + 1))
	for i := range k + 1 {
		in, _ := math.Lgamma(float64(i + 1))
		out, _ := math.Lgamma(float64(n - i + 1))
		tail += math.Exp(all - in - out - float64(n)*math.Ln2)
	}
	return math.Min(1, 2*tail)
}
