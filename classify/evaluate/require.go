package evaluate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Requirement is a bound on a figure. [ParseRequirement] reads one.
type Requirement struct {
	Figure string
	Sure   bool   // of the sure cases instead of all
	Op     string // "<=", ">=", "<" or ">"
	Bound  float64
}

// ErrNoFigure says that a requirement names no figure that there is.
var ErrNoFigure = errors.New("no such figure")

// ParseRequirement reads a requirement such as "wrong_continues<=0.06", "caught >= 70%" or "sure.accuracy>0.8": a figure, after
// "sure." of the sure cases, one of <=, >=, < and >, and a number. Blanks around them do not matter. An unknown figure is an
// error that wraps [ErrNoFigure].
func ParseRequirement(s string) (Requirement, error) {
	i := strings.IndexAny(s, "<>")
	if i < 0 {
		return Requirement{}, fmt.Errorf("evaluate: requirement %s: it has none of <=, >=, <, >", quoted(s))
	}
	r := Requirement{Op: s[i : i+1]}
	name, value := strings.TrimSpace(s[:i]), s[i+1:]
	if rest, ok := strings.CutPrefix(value, "="); ok {
		r.Op, value = r.Op+"=", rest
	}
	r.Figure, r.Sure = strings.CutPrefix(name, "sure.")
	if !slices.Contains(FigureNames(), r.Figure) {
		return Requirement{}, fmt.Errorf("evaluate: requirement %s: %w: %s", quoted(s), ErrNoFigure, quoted(r.Figure))
	}
	value = strings.TrimSpace(value)
	number, percent := strings.CutSuffix(value, "%")
	number = strings.TrimSpace(number)
	if percent && !strings.ContainsAny(number, "eExX") {
		number, percent = number+"e-2", false // exactly: 2.9/100 is less than 0.029
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return Requirement{}, fmt.Errorf("evaluate: requirement %s: %s is no number", quoted(s), quoted(value))
	}
	if percent {
		x /= 100
	}
	if x < 0 || x > 1 {
		return Requirement{}, fmt.Errorf("evaluate: requirement %s: every figure lies between 0 and 1", quoted(s))
	}
	r.Bound = x
	return r, nil
}

// String writes the requirement as [ParseRequirement] reads it.
func (r Requirement) String() string {
	name := r.Figure
	if r.Sure {
		name = "sure." + name
	}
	return name + r.Op + strconv.FormatFloat(r.Bound, 'g', -1, 64)
}

// Met reports whether a report has what is required, and the figure that decided. A figure that there was nothing to
// measure on meets nothing.
func (r Requirement) Met(rep Report) (Figure, bool) {
	figures := rep.All.Figures
	if r.Sure {
		figures = rep.Sure.Figures
	}
	f, ok := figures.Lookup(r.Figure)
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
	case ">":
		return f, f.Value > r.Bound
	}
	return f, false
}
