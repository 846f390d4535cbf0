package evaluate

import (
	"fmt"
	"io"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

const maxListed = 20 // cases that a summary names

// Markdown writes a summary that a pull request or a CI job can show: the figures side by side, the flips against the
// baseline of each run, the requirements, and the cases that broke. It has no texts of cases.
func Markdown(w io.Writer, requirements []Requirement, runs ...Run) error {
	var b strings.Builder
	row := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	head, line := []string{"figure"}, []string{"---"}
	for _, r := range runs {
		head, line = append(head, cellText(r.Report.name())), append(line, "---:")
	}
	row(head...)
	row(line...)
	for _, name := range FigureNames() {
		cells := []string{name}
		if LessIsBetter(name) {
			cells[0] += " ↓"
		}
		any := false
		for _, r := range runs {
			f, _ := r.Report.All.Figures.Lookup(name)
			any = any || f.Of > 0
			cells = append(cells, f.String())
		}
		if any {
			row(cells...)
		}
	}
	for _, r := range runs {
		rep := r.Report
		fmt.Fprintf(&b, "\n**%s**: %d cases, %d calls", cellText(rep.name()), rep.All.Cases, rep.Cost.Calls)
		if n := rep.Cost.Errors + rep.Cost.Fallbacks; n > 0 {
			fmt.Fprintf(&b, ", **%d of them failed**", n)
		}
		if rep.Cost.Kept > 0 {
			fmt.Fprintf(&b, ", %d answers kept from before", rep.Cost.Kept)
		}
		b.WriteString(".\n")
		for _, q := range requirements {
			mark := "✅"
			if _, ok := q.Met(rep, r.Comparison); !ok {
				mark = "❌"
			}
			fmt.Fprintf(&b, "- %s `%s`\n", mark, q)
		}
		if c := r.Comparison; c != nil {
			fmt.Fprintf(&b, "\nAgainst %s, %d cases in both:\n\n", cellText(r.Baseline), c.Cases)
			for _, m := range c.Mismatches {
				fmt.Fprintf(&b, "- not measured alike: %s\n", cellText(m))
			}
			fmt.Fprintf(&b, "- types: %s\n- labels: %s\n- actions: %s\n", c.Types, c.Labels, c.Actions)
			b.WriteString(broken(*c))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// broken lists the cases that were right before.
func broken(c Comparison) string {
	var b strings.Builder
	n := 0
	for _, ch := range c.Changes {
		if ch.Word() != "broken" {
			continue
		}
		if n++; n == 1 {
			b.WriteString("\n| broken case | want | before | now |\n| --- | --- | --- | --- |\n")
		}
		if n <= maxListed {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cellText(ch.Name), ch.Want.Label(), inShort(ch.Before), inShort(ch.After))
		}
	}
	if n > maxListed {
		fmt.Fprintf(&b, "\nand %d more\n", n-maxListed)
	}
	return b.String()
}

// cellText is text of others in a cell of a table.
func cellText(s string) string {
	s = plaintext.Visible(plaintext.Line(s, 80))
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "`", "'", "<", "&lt;", "*", "\\*", "_", "\\_", "[", "\\[").Replace(s)
}

// String is the value and its counts: "0.043 (2/47)", or "–" if there was nothing to measure.
func (f Figure) String() string {
	switch {
	case f.Of == 0:
		return "–"
	case f.Count == nil:
		return fmt.Sprintf("%.3f", f.Value)
	}
	return fmt.Sprintf("%.3f (%d/%d)", f.Value, *f.Count, f.Of)
}
