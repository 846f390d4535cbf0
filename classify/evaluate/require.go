package evaluate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Requirement is a bound on a figure, or on how many cases a comparison found broken or fixed.
type Requirement struct {
	Figure string // as the package documentation names it, "broken" or "fixed"
	Sure   bool   // of the sure cases instead of all
	Op     string // "<=", ">=", "<" or ">"
	Bound  float64
}

var counts = []string{broken, fixed}

// Set reads a requirement such as "wrong_continues<=0.06", "caught >= 70%", "sure.accuracy>0.8" or
// "broken<=0": a figure, after "sure." of the sure cases, one of <=, >=, < and >, and a number. Blanks around them do
// not matter.
func (r *Requirement) Set(s string) error {
	fail := func(err error) error {
		return fmt.Errorf("evaluate: requirement %s: %w", quoted(s), err)
	}
	m := requirement().FindStringSubmatch(s)
	if m == nil {
		return fail(errors.New("it is not a figure, one of <=, >=, < and >, and a number"))
	}
	q := Requirement{Figure: m[2], Sure: m[1] != "", Op: m[3]}
	count := !q.Sure && q.NeedsBaseline()
	if !count && !slices.Contains(figureNames(), q.Figure) {
		return fail(fmt.Errorf("the figures are %s, and with a baseline %s", strings.Join(figureNames(), ", "),
			strings.Join(counts, ", ")))
	}
	number := m[4]
	if m[5] != "" {
		number += "e-2" // exactly: 2.9/100 is less than 0.029
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || x > 1 && !count {
		return fail(errors.New("every figure lies between 0 and 1"))
	}
	q.Bound = x
	*r = q
	return nil
}

var requirement = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(sure\.)?([a-z_0-9.]+)\s*(<=|>=|<|>)\s*([0-9]*\.?[0-9]+)\s*(%?)\s*$`)
})

// String writes the requirement as [Requirement.Set] reads it.
func (r Requirement) String() string {
	name := r.Figure
	if r.Sure {
		name = "sure." + name
	}
	return name + r.Op + strconv.FormatFloat(r.Bound, 'f', -1, 64)
}

// NeedsBaseline reports whether the requirement is about a comparison.
func (r Requirement) NeedsBaseline() bool { return slices.Contains(counts, r.Figure) }

// Met reports whether a report has what is required, and the figure that decided. A figure that there was nothing to
// measure on meets nothing.
func (r Requirement) Met(rep Report) (Figure, bool) {
	figures := rep.All.Figures
	if r.Sure {
		figures = rep.Sure.Figures
	}
	f, ok := figures[r.Figure]
	if c := rep.Comparison; r.NeedsBaseline() && c != nil {
		f, ok = Figure{Value: float64(c.count(r.Figure)), Of: c.Cases}, true
	}
	if !ok || f.Of == 0 {
		return f, false
	}
	switch r.Op {
	case "<=":
		return f, f.Value <= r.Bound
	case ">=":
		return f, f.Value >= r.Bound
	case "<":
		return f, f.Value < r.Bound
	}
	return f, f.Value > r.Bound
}
