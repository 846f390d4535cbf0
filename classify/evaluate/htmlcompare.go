package evaluate

import (
	"fmt"
	"io"
)

// HTMLAgainst writes the page of [Report.HTML] with a comparison beside the figures: in what the two reports were not made
// alike, the flips each way and whether they may be noise, and every case that is judged in another way.
func (r Report) HTMLAgainst(w io.Writer, c Comparison) error {
	v := r.view()
	v.Comparison = comparisonOf(c)
	return v.write(w)
}

// comparison is a [Comparison] as the page shows it.
type comparison struct {
	Mismatches []string
	Cases      int
	Flips      []flipRow
	Changes    []changeRow
}

type flipRow struct {
	What          string
	Fixed, Broken int
	Verdict       string
	Worse         bool
}

type changeRow struct {
	Word                string // "fixed", "broken" or "changed"
	Name, Want          string
	Before, After, Runs string
}

func comparisonOf(c Comparison) *comparison {
	v := comparison{Cases: c.Cases}
	for _, m := range c.Mismatches {
		v.Mismatches = append(v.Mismatches, shown(m.String()))
	}
	for _, f := range []struct {
		what string
		Flips
	}{{"types", c.Types}, {"labels", c.Labels}, {"actions", c.Actions}} {
		row := flipRow{What: f.what, Fixed: len(f.Fixed), Broken: len(f.Broken), Verdict: f.Word(), Worse: f.Word() == "worse"}
		if row.Fixed+row.Broken > 0 {
			row.Verdict = fmt.Sprintf("p %.3f, %s", f.P, row.Verdict)
		}
		v.Flips = append(v.Flips, row)
	}
	for _, ch := range c.Changes {
		row := changeRow{Word: ch.Word(), Name: shown(ch.Name), Want: ch.Want.Label(), Before: inShort(ch.Before), After: inShort(ch.After)}
		if ch.Runs > 1 {
			row.Runs = fmt.Sprintf("%d/%d", ch.Agree, ch.Runs)
		}
		v.Changes = append(v.Changes, row)
	}
	return &v
}

func inShort(v Verdict) string {
	if v.Type == "" {
		return unansweredLabel
	}
	return fmt.Sprintf("%s %.2f, %s", v.Label(), v.Confidence, v.Action)
}
