package evaluate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const maxListed = 20 // changes or groups

// Run is a report to show and what it is compared with, if anything.
type Run struct {
	Report     Report
	Comparison *Comparison
	Baseline   string // what the comparison is with, for people
}

// View is one or several reports to show beside each other. It is written with [View.Text], [View.HTML] or
// encoding/json. [ReadReport] reads its JSON.
type View struct {
	Runs         []Run
	By           string        // a key of meta whose groups are shown
	Requirements []Requirement // that are shown as met or not met
}

// MarshalJSON writes the report of one run, with its comparison and its groups, or several as a list "runs".
func (v View) MarshalJSON() ([]byte, error) {
	type run struct {
		Report
		Comparison *Comparison `json:"comparison,omitempty"`
		Groups     []group     `json:"groups,omitempty"`
	}
	var list []run
	for _, r := range v.Runs {
		out := run{Report: r.Report, Comparison: r.Comparison}
		if v.By != "" {
			out.Groups = r.Report.By(v.By)
		}
		list = append(list, out)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	var err error
	if len(list) == 1 {
		err = enc.Encode(list[0])
	} else {
		err = enc.Encode(map[string]any{"version": version, "runs": list})
	}
	return b.Bytes(), err
}

// part is a part of what reports say: a title, sentences, a list, a table, in this order and each if it is there. Its
// strings may hold anything that cases and classifiers say.
type part struct {
	Title string // of a report
	Lines []string
	Items []string
	Rows  [][]string // the first is the head
	Left  int        // so many columns are aligned left, the others right
}

// content is what reports say, without the text of any case. One report has its figures, types, labels and calibration;
// several have their figures side by side. Each has its cost, its failures, its groups, its requirements, and what
// changed against its baseline.
func (v View) content() (list []part) {
	runs := v.Runs
	if len(runs) > 1 {
		list = append(list, sideBySide(runs))
	}
	for i, run := range runs {
		r := run.Report
		head := about(r)
		if len(runs) > 1 {
			head.Title = letter(i) + ": " + head.Title
		}
		list = append(list, head)
		if len(runs) == 1 {
			list = append(list, figureTable(r), typeTable(r.All), labelTable(r.All))
		}
		if v.By != "" {
			list = append(list, groupTable(v.By, r.By(v.By)))
		}
		var required part
		for _, q := range v.Requirements {
			word := "met"
			if _, ok := q.Met(r, run.Comparison); !ok {
				word = "NOT MET"
			}
			required.Items = append(required.Items, word+": "+q.String())
		}
		list = append(list, required)
		if run.Comparison != nil {
			list = append(list, changes(*run.Comparison, run.Baseline)...)
		}
	}
	return list
}

// letter names one of several runs.
func letter(i int) string { return string(rune('A' + i)) }

func sideBySide(runs []Run) part {
	p := part{Rows: [][]string{{"figure"}}, Left: 1}
	for _, name := range append(figureNames(), "labels, p", "actions, p") {
		p.Rows = append(p.Rows, []string{name})
	}
	for i, r := range runs {
		column := []string{letter(i)}
		for _, name := range figureNames() {
			column = append(column, r.Report.All.Figures[name].String())
		}
		if c := r.Comparison; c != nil {
			column = append(column, c.Labels.short(), c.Actions.short())
		} else {
			column = append(column, "", "")
		}
		for n, cell := range column {
			p.Rows[n] = append(p.Rows[n], cell)
		}
	}
	return p
}

// short is the flips in a cell.
func (f flips) short() string { return fmt.Sprintf("%s %.3f", f.word(), f.P) }

// about says what was measured, what it cost, and what failed.
func about(r Report) part {
	gate := r.gate()
	if r.Threshold != noGate {
		gate = "threshold " + gate
	}
	cases := []string{fmt.Sprintf("%s, %d sure", number(r.All.Cases, "case"), r.Sure.Cases), gate}
	if r.Repeat > 1 {
		cases = append(cases, fmt.Sprintf("%d times each, %s unstable", r.Repeat, number(r.All.Unstable, "case")))
	}
	c, l := r.Cost, r.Latency
	calls := []string{number(c.Calls, "call")}
	if l.Max > 0 {
		calls = append(calls,
			fmt.Sprintf("p50 %v, p90 %v, p99 %v, max %v", brief(l.P50), brief(l.P90), brief(l.P99), brief(l.Max)))
	}
	if n := c.Metered - c.Kept; n > 0 {
		calls = append(calls,
			fmt.Sprintf("%d prompt (%d cached) and %d completion tokens", c.PromptTokens, c.CachedTokens, c.CompletionTokens),
			fmt.Sprintf("%d tokens a verdict", (c.PromptTokens+c.CompletionTokens)/n))
	}
	if c.CostUSD > 0 {
		calls = append(calls, fmt.Sprintf("$%.4f", c.CostUSD))
	}
	if c.Kept > 0 {
		calls = append(calls, number(c.Kept, "answer")+" kept from before")
	}
	p := part{Title: r.name(), Lines: slices.Clone(r.About)}
	p.Lines = append(p.Lines, strings.Join(cases, " · "), strings.Join(calls, " · "))
	if c.Fallbacks > 0 {
		p.Lines = append(p.Lines, number(c.Fallbacks, "call")+" fell back to another classifier")
	}
	if c.Errors > 0 {
		p.Lines = append(p.Lines, fmt.Sprintf("%s failed, %s without an answer, which count as wrong",
			number(c.Errors, "call"), number(r.All.Unanswered, "case")))
	}
	p.Items = failures(r)
	return p
}

// failures lists why calls failed or fell back, each reason once, the most frequent first.
func failures(r Report) (list []string) {
	counts := make(map[string]int)
	for _, o := range r.Outcomes {
		for _, v := range o.runs() {
			if why := cmp.Or(v.Error, v.Fallback); why != "" {
				counts[why]++
			}
		}
	}
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, why := range reasons[:min(len(reasons), 5)] {
		list = append(list, fmt.Sprintf("%d × %s", counts[why], why))
	}
	if n := len(reasons) - len(list); n > 0 {
		list = append(list, "and "+number(n, "other reason"))
	}
	return list
}

func figureTable(r Report) part {
	p := part{Rows: [][]string{{"figure", "all", "95 %"}}, Left: 1}
	for _, name := range figureNames() {
		if f, ok := r.All.Figures[name]; ok {
			p.Rows = append(p.Rows, []string{name, f.String(), f.interval()})
		}
	}
	if f := r.All.Message; f != nil {
		p.Rows = append(p.Rows, []string{"message as wanted", f.String(), f.interval()})
	}
	if r.Sure.Cases < r.All.Cases {
		for i, row := range p.Rows {
			cell := "sure"
			if i > 0 {
				cell = r.Sure.Figures[row[0]].short()
			}
			p.Rows[i] = append(row, cell)
		}
	}
	return p
}

func typeTable(s Summary) part {
	p := part{Rows: [][]string{{"type", "cases", "precision", "recall", "f1"}}, Left: 1}
	for _, t := range s.Types {
		p.Rows = append(p.Rows, []string{string(t.Type), fmt.Sprint(t.Cases), t.Precision.short(), t.Recall.short(),
			fmt.Sprintf("%.3f", t.F1)})
	}
	return p
}

// labelTable shows what was judged what: a row a label, a column a verdict.
func labelTable(s Summary) part {
	columns := s.Labels.Names
	if s.Unanswered > 0 {
		columns = append(slices.Clone(columns), unansweredLabel)
	}
	p := part{Rows: [][]string{append([]string{"want, got"}, columns...)}, Left: 1}
	for i, counts := range s.Labels.Counts {
		row := []string{s.Labels.Names[i]}
		for _, n := range counts[:len(columns)] {
			cell := "·"
			if n > 0 {
				cell = fmt.Sprint(n)
			}
			row = append(row, cell)
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// calibrationTable shows for each range of confidence how often it was right.
func calibrationTable(s Summary) part {
	p := part{Rows: [][]string{{"confidence", "cases", "mean", "accuracy", "95 %"}}, Left: 1}
	for _, b := range s.Calibration {
		if b.Accuracy.Of > 0 {
			p.Rows = append(p.Rows, []string{fmt.Sprintf("%.1f to %.1f", b.From, b.To), fmt.Sprint(b.Accuracy.Of),
				fmt.Sprintf("%.3f", b.Confidence), b.Accuracy.short(), b.Accuracy.interval()})
		}
	}
	return p
}

// groupTable shows the figures that matter most of each group.
func groupTable(key string, groups []group) part {
	names := []string{"accuracy", "wrong_continues", "completions_continued", "caught"}
	p := part{Rows: [][]string{append([]string{key, "cases"}, names...)}, Left: 1}
	for _, g := range groups[:min(len(groups), maxListed)] {
		row := []string{cmp.Or(g.Value, "none"), fmt.Sprint(g.Cases)}
		for _, name := range names {
			row = append(row, g.Figures[name].short())
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// changes tells which cases flipped, each way, and whether it is more than noise.
func changes(c Comparison, baseline string) []part {
	p := part{Lines: []string{fmt.Sprintf("Against %s, %s in both:", baseline, number(c.Cases, "case"))}}
	for _, m := range c.Mismatches {
		p.Items = append(p.Items, "not measured alike: "+m)
	}
	p.Items = append(p.Items, "types: "+c.Types.String(), "labels: "+c.Labels.String(), "actions: "+c.Actions.String())
	for _, l := range []struct {
		what  string
		names []string
	}{{"added", c.Added}, {"removed", c.Removed}, {"with another input or label", c.Differed}} {
		if len(l.names) > 0 {
			p.Items = append(p.Items, fmt.Sprintf("%s %s, not compared", number(len(l.names), "case"), l.what))
		}
	}
	if len(c.Changes) == 0 {
		return []part{p}
	}
	changed := slices.Clone(c.Changes)
	slices.SortStableFunc(changed, func(a, b change) int { return cmp.Compare(a.word(), b.word()) }) // broken first
	t := part{Rows: [][]string{{"", "case", "want", "before", "now", "runs"}}, Left: 5}
	for _, ch := range changed[:min(len(changed), maxListed)] {
		t.Rows = append(t.Rows, []string{ch.word(), ch.Name, ch.Want.Label(), inShort(ch.Before), inShort(ch.After),
			fmt.Sprintf("%d/%d", ch.Agree, ch.Runs)})
	}
	if n := len(changed) - maxListed; n > 0 {
		p.Items = append(p.Items, fmt.Sprintf("%d more cases are judged in another way", n))
	}
	return []part{p, t}
}

func inShort(v Verdict) string {
	if v.Type == "" {
		return unansweredLabel
	}
	return fmt.Sprintf("%s %.2f, %s", v.Label(), v.Confidence, v.Action)
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// brief leaves three digits of a duration.
func brief(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
