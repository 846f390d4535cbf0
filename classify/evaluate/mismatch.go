package evaluate

import (
	"fmt"
	"strconv"
)

// Mismatch is one thing in which two reports were not made alike, so that what differs between them need not come from what
// was to be compared:
//
//   - classifier: by its name; where two classifiers, or two prompts, are compared this is what is meant.
//   - threshold: actions differ for it alone, types and labels do not.
//   - repeat: a majority is steadier than one run.
//   - cases: cases are only in one of the reports, or have another input or label. They are not compared, so what the
//     comparison says holds for the others, and the figures of the two reports are of different cases.
type Mismatch struct {
	What   string `json:"what"` // "classifier", "threshold", "repeat" or "cases"
	Before string `json:"before"`
	After  string `json:"after"`
}

// String is the mismatch in a line: "threshold 0.80 before, 1.00 now".
func (m Mismatch) String() string {
	return fmt.Sprintf("%s %s before, %s now", m.What, m.Before, m.After)
}

// mismatches returns in what r and the baseline were not made alike. C has the cases already.
func (r Report) mismatches(baseline Report, c Comparison) []Mismatch {
	var list []Mismatch
	add := func(what, before, after string) {
		if before != after {
			list = append(list, Mismatch{what, before, after})
		}
	}
	add("classifier", baseline.name(), r.name())
	add("threshold", baseline.gate(), r.gate())
	add("repeat", strconv.Itoa(baseline.Repeat), strconv.Itoa(r.Repeat))
	if len(c.Added)+len(c.Removed)+len(c.Differed) > 0 {
		list = append(list, Mismatch{"cases", notCompared(baseline, c.Cases), notCompared(r, c.Cases)})
	}
	return list
}

func notCompared(r Report, compared int) string {
	return fmt.Sprintf("%d (%d not compared)", len(r.Outcomes), len(r.Outcomes)-compared)
}

func (r Report) name() string {
	if r.Classifier == "" {
		return "unnamed"
	}
	return r.Classifier
}

// gate is the threshold, as precise as it takes to tell two apart.
func (r Report) gate() string {
	if r.Threshold == NoGate {
		return "no gate"
	}
	if s := strconv.FormatFloat(r.Threshold, 'f', -1, 64); len(s) > len("0.00") {
		return s
	}
	return strconv.FormatFloat(r.Threshold, 'f', 2, 64)
}
