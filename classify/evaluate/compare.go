package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Comparison sets a report against a baseline. A case is fixed if more of its label and action is right now, and broken
// if less is.
type Comparison struct {
	Baseline string `json:"baseline"` // for people
	// Mismatches say in what the two reports were not made alike, such as "threshold 0.80 before, 1.00 now". Such a
	// difference may explain the changes. Another classifier or prompt is listed, too.
	Mismatches []string `json:"mismatches,omitempty"`
	Cases      int      `json:"cases"` // that are the same in both
	// P is the two-sided p value of McNemar's exact test: the chance of fixed and broken cases at least as uneven, if both
	// are equally likely. It is 1 without any.
	P        float64  `json:"p"`
	Changes  []change `json:"changes,omitempty"`  // every case whose label or action is another now, by name
	Added    []string `json:"added,omitempty"`    // cases that the baseline does not have
	Removed  []string `json:"removed,omitempty"`  // cases that only the baseline has
	Differed []string `json:"differed,omitempty"` // cases with another input or label; they are not compared
}

// The ways in which a case can change.
const (
	fixed   = "fixed"
	broken  = "broken"
	changed = "changed" // as much is right as before
)

type change struct {
	Name   string  `json:"name"`
	Way    string  `json:"way"`
	Want   Want    `json:"want"`
	Before Verdict `json:"before"`
	After  Verdict `json:"after"`
	Agree  int     `json:"agree"` // how many of the runs agree with After
	Runs   int     `json:"runs"`
}

func (c Comparison) count(way string) int {
	return count(c.Changes, func(ch change) bool { return ch.Way == way })
}

// Regressed reports whether more cases broke than were fixed, even by chance.
func (c Comparison) Regressed() bool { return c.count(broken) > c.count(fixed) }

// word is what the changes come to: "no flips", "may be noise" if P is 0.05 or more, "better" or "worse".
func (c Comparison) word() string {
	switch {
	case c.count(fixed)+c.count(broken) == 0:
		return "no flips"
	case c.P >= 0.05:
		return "may be noise"
	case c.Regressed():
		return "worse"
	}
	return "better"
}

// String is the changes in a line: "3 fixed, 1 broken, p 0.625, may be noise".
func (c Comparison) String() string {
	return fmt.Sprintf("%d fixed, %d broken, p %.3f, %s", c.count(fixed), c.count(broken), c.P, c.word())
}

// Compare sets r against a baseline and returns it with its Comparison. Cases are matched by name and compared if input
// and label are the same. With repeats the majority counts. The name of the baseline is for people.
func (r Report) Compare(name string, baseline Report) Report {
	before := make(map[string]Outcome, len(baseline.Outcomes))
	for _, o := range baseline.Outcomes {
		before[o.Name] = o
	}
	c := Comparison{Baseline: name}
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
		if o.Verdict.Label() == b.Verdict.Label() && o.Verdict.Action == b.Verdict.Action {
			continue
		}
		way := map[int]string{1: fixed, 0: changed, -1: broken}[cmp.Compare(o.right(), b.right())]
		c.Changes = append(c.Changes, change{o.Name, way, o.Want, b.Verdict, o.Verdict, o.agree(), len(o.runs())})
	}
	c.Removed = slices.Sorted(maps.Keys(before))
	c.P = mcnemar(c.count(fixed), c.count(broken))

	mismatch := func(what, before, now string) {
		if before != now {
			c.Mismatches = append(c.Mismatches, fmt.Sprintf("%s %s before, %s now", what, before, now))
		}
	}
	mismatch("classifier", baseline.name(), r.name())
	mismatch("threshold", baseline.gate(), r.gate())
	mismatch("repeat", fmt.Sprint(baseline.Repeat), fmt.Sprint(r.Repeat))
	r.Comparison = &c
	return r
}

// mcnemar returns the p value of the exact test: twice the binomial tail of b+c tosses of a fair coin, at most 1.
func mcnemar(b, c int) float64 {
	n, k := b+c, min(b, c)
	tail := 0.0
	all, _ := math.Lgamma(float64(n + 1))
	for i := range k + 1 {
		in, _ := math.Lgamma(float64(i + 1))
		out, _ := math.Lgamma(float64(n - i + 1))
		tail += math.Exp(all - in - out - float64(n)*math.Ln2)
	}
	return math.Min(1, 2*tail)
}

// Requirement is a bound on a figure, or on how many cases a comparison found broken or fixed.
type Requirement struct {
	Figure string // as the package documentation names it, perhaps of the sure cases: "sure.caught"; "broken" or "fixed"
	Op     string // "<=", ">=", "<" or ">"
	Bound  float64
}

var counts = []string{broken, fixed}

// Set reads a requirement such as "wrong_continues<=0.06", "caught >= 70%", "sure.accuracy>0.8" or "broken<=0": a
// figure, after "sure." of the sure cases, one of <=, >=, < and >, and a number.
func (r *Requirement) Set(s string) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("evaluate: requirement %s: %w", quoted(s), fmt.Errorf(format, args...))
	}
	m := requirement().FindStringSubmatch(s)
	if m == nil {
		return fail("it is not a figure, one of <=, >=, < and >, and a number")
	}
	q := Requirement{Figure: m[1], Op: m[2]}
	if !q.NeedsBaseline() && !slices.Contains(figureNames(), strings.TrimPrefix(q.Figure, "sure.")) {
		return fail("the figures are %s, and with a baseline %s", join(figureNames()), join(counts))
	}
	number := m[3]
	if m[4] != "" {
		number += "e-2" // exactly: 2.9/100 is less than 0.029
	}
	var err error
	if q.Bound, err = strconv.ParseFloat(number, 64); err != nil || q.Bound > 1 && !q.NeedsBaseline() {
		return fail("every figure lies between 0 and 1")
	}
	*r = q
	return nil
}

var requirement = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*((?:sure\.)?[a-z_0-9]+)\s*(<=|>=|<|>)\s*([0-9]*\.?[0-9]+)\s*(%?)\s*$`)
})

// String writes the requirement as [Requirement.Set] reads it.
func (r Requirement) String() string {
	return r.Figure + r.Op + strconv.FormatFloat(r.Bound, 'f', -1, 64)
}

// NeedsBaseline reports whether the requirement is about a comparison.
func (r Requirement) NeedsBaseline() bool { return slices.Contains(counts, r.Figure) }

// Met returns the figure that decides and reports whether it is as required. One without anything to measure is not.
func (r Requirement) Met(rep Report) (Figure, bool) {
	f := rep.All.Figures[r.Figure]
	if name, ok := strings.CutPrefix(r.Figure, "sure."); ok {
		f = rep.Sure.Figures[name]
	}
	if c := rep.Comparison; r.NeedsBaseline() && c != nil {
		f = Figure{Value: float64(c.count(r.Figure)), Of: c.Cases}
	}
	sign := map[int]string{-1: "<", 0: "=", 1: ">"}[cmp.Compare(f.Value, r.Bound)]
	return f, f.Of > 0 && strings.Contains(r.Op, sign)
}
