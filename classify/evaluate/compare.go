package evaluate

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Comparison sets a report against another one, case by case.
type Comparison struct {
	// Mismatches say in what the two reports were not made alike, such as "threshold 0.80 before, 1.00 now". Such a
	// difference may explain the changes. Another classifier or prompt is listed, too.
	Mismatches []string `json:"mismatches,omitempty"`
	Cases      int      `json:"cases"`              // that are the same in both
	Types      flips    `json:"types"`              // right and wrong as accuracy counts
	Labels     flips    `json:"labels"`             // type and rejected flag
	Actions    flips    `json:"actions"`            // what a host would do
	Changes    []change `json:"changes,omitempty"`  // every case whose label or action is another now, by name
	Added      []string `json:"added,omitempty"`    // cases that the baseline does not have
	Removed    []string `json:"removed,omitempty"`  // cases that only the baseline has
	Differed   []string `json:"differed,omitempty"` // cases with another input or label; they are not compared
}

// flips are the cases that were wrong and are right now, and those that were right and are wrong now, both by name. P
// is the two-sided p value of McNemar's exact test: the chance of a split at least as uneven, if flips in both
// directions are equally likely. It is 1 without flips.
type flips struct {
	Fixed  []string `json:"fixed,omitempty"`
	Broken []string `json:"broken,omitempty"`
	P      float64  `json:"p"`
}

// worse reports whether more cases broke than were fixed, even by chance.
func (f flips) worse() bool { return len(f.Broken) > len(f.Fixed) }

// word is what the flips come to: "no flips", "may be noise" if P is 0.05 or more, "better" or "worse".
func (f flips) word() string {
	switch {
	case len(f.Fixed)+len(f.Broken) == 0:
		return "no flips"
	case f.P >= 0.05:
		return "may be noise"
	case f.worse():
		return "worse"
	}
	return "better"
}

// String is the flips in a line: "3 fixed, 1 broken, p 0.625, may be noise".
func (f flips) String() string {
	if len(f.Fixed)+len(f.Broken) == 0 {
		return "0 fixed, 0 broken, no flips"
	}
	return fmt.Sprintf("%d fixed, %d broken, p %.3f, %s", len(f.Fixed), len(f.Broken), f.P, f.word())
}

// change is a case that is judged in another way than before.
type change struct {
	Name   string  `json:"name"`
	Want   Want    `json:"want"`
	Before Verdict `json:"before"`
	After  Verdict `json:"after"`
	Agree  int     `json:"agree"` // how many of the runs agree with After
	Runs   int     `json:"runs"`
}

// word says which way the case went, label and action taken together: "fixed", "broken", or "changed" if it was and is
// right, or was and is wrong.
func (ch change) word() string {
	right := func(v Verdict) bool { return v.Label() == ch.Want.Label() && v.Action == ch.Want.Action }
	switch before, after := right(ch.Before), right(ch.After); {
	case after && !before:
		return "fixed"
	case before && !after:
		return "broken"
	}
	return "changed"
}

// count returns how many of the changes have a word.
func (c Comparison) count(word string) (n int) {
	for _, ch := range c.Changes {
		if ch.word() == word {
			n++
		}
	}
	return n
}

// Regressed reports whether more labels or more actions broke than were fixed.
func (c Comparison) Regressed() bool { return c.Labels.worse() || c.Actions.worse() }

// Compare sets r against a baseline. Cases are matched by name and compared if input and label are the same. With
// repeats the majority counts. Reports that were made differently are compared, too.
func (r Report) Compare(baseline Report) Comparison {
	before := make(map[string]Outcome, len(baseline.Outcomes))
	for _, o := range baseline.Outcomes {
		before[o.Name] = o
	}
	var c Comparison
	for _, o := range r.Outcomes {
		b, ok := before[o.Name]
		delete(before, o.Name)
		switch {
		case !ok:
			c.Added = append(c.Added, o.Name)
			continue
		case b.Digest != o.Digest:
			c.Differed = append(c.Differed, o.Name)
			continue
		}
		c.Cases++
		c.Types.add(o.Name, b.typeRight(), o.typeRight())
		c.Labels.add(o.Name, b.labelRight(), o.labelRight())
		c.Actions.add(o.Name, b.actionRight(), o.actionRight())
		if !o.Verdict.sameAs(b.Verdict) || o.Verdict.Action != b.Verdict.Action {
			ch := change{Name: o.Name, Want: o.Want, Before: b.Verdict, After: o.Verdict}
			ch.Agree, ch.Runs = o.agreement()
			c.Changes = append(c.Changes, ch)
		}
	}
	c.Removed = slices.Sorted(maps.Keys(before))
	for _, f := range []*flips{&c.Types, &c.Labels, &c.Actions} {
		f.P = mcnemar(len(f.Fixed), len(f.Broken))
	}
	c.Mismatches = r.mismatches(baseline, c)
	return c
}

func (f *flips) add(name string, before, after bool) {
	switch {
	case after && !before:
		f.Fixed = append(f.Fixed, name)
	case before && !after:
		f.Broken = append(f.Broken, name)
	}
}

// mismatches returns in what r and the baseline were not made alike. C has the cases already.
func (r Report) mismatches(baseline Report, c Comparison) (list []string) {
	add := func(what, before, after string) {
		if before != after {
			list = append(list, fmt.Sprintf("%s %s before, %s now", what, before, after))
		}
	}
	add("classifier", baseline.name(), r.name())
	add("threshold", baseline.gate(), r.gate())
	add("repeat", fmt.Sprint(baseline.Repeat), fmt.Sprint(r.Repeat))
	if len(c.Added)+len(c.Removed)+len(c.Differed) > 0 {
		cases := func(r Report) string {
			return fmt.Sprintf("%d (%d not compared)", len(r.Outcomes), len(r.Outcomes)-c.Cases)
		}
		list = append(list, fmt.Sprintf("cases %s before, %s now", cases(baseline), cases(r)))
	}
	return list
}

// mcnemar returns the two-sided p value of the exact test: twice the binomial tail of b+c tosses of a fair coin, at
// most 1.
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
