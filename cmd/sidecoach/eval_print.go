package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/classify/evaluate"
)

const maxListed = 20 // cases of one kind

// evaluated is what there is to print.
type evaluated struct {
	runs         []evaluate.Run
	requirements []evaluate.Requirement
	by           string
}

func (o *evalOptions) print(w io.Writer, e evaluated, t terminal) error {
	switch {
	case o.json:
		text, err := e.json()
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		return err
	case o.markdown:
		return evaluate.Markdown(w, e.requirements, e.runs...)
	}
	_, err := io.WriteString(w, e.table(t))
	return err
}

// json is the report, with the comparison and the groups that were asked for; of several runs a list of them.
func (e evaluated) json() (string, error) {
	type run struct {
		evaluate.Report
		Comparison *evaluate.Comparison `json:"comparison,omitempty"`
		Groups     []evaluate.Group     `json:"groups,omitempty"`
	}
	var runs []run
	for _, r := range e.runs {
		out := run{Report: r.Report, Comparison: r.Comparison}
		if e.by != "" {
			out.Groups = r.Report.By(e.by)
		}
		runs = append(runs, out)
	}
	var out any = runs[0]
	if len(runs) > 1 {
		out = map[string]any{"version": evaluate.Version, "runs": runs}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(out)
	return harmless(b.String()), err
}

// table is the report for a person.
func (e evaluated) table(t terminal) string {
	p := page{terminal: t}
	if len(e.runs) > 1 {
		p.sideBySide(e.runs)
	}
	for i, run := range e.runs {
		if len(e.runs) == 1 {
			r := run.Report
			p.evalHead(r)
			p.evalFigures(r)
			p.evalTypes(r.All)
			p.confusion(r.All.Labels)
		} else {
			p.printf("%c  ", 'A'+i)
			p.evalHead(run.Report)
		}
		if e.by != "" {
			p.evalGroups(e.by, run.Report.By(e.by))
		}
		if run.Comparison != nil {
			p.comparison(*run.Comparison, run.Baseline)
		}
		for _, q := range e.requirements {
			word := p.paint(green, "met    ")
			if _, ok := q.Met(run.Report, run.Comparison); !ok {
				word = p.paint(red, "not met")
			}
			p.printf("%s  %s\n", word, q)
		}
	}
	return p.String()
}

// sideBySide shows the figures of several runs, a column each.
func (p *page) sideBySide(runs []evaluate.Run) {
	head := fmt.Sprintf("%-22s", "")
	for i := range runs {
		head += fmt.Sprintf("  %16c", 'A'+i)
	}
	p.printf("%s\n", p.paint(dim, head))
	for _, name := range evaluate.FigureNames() {
		p.printf("%-22s", name)
		for _, r := range runs {
			f, _ := r.Report.All.Figures.Lookup(name)
			p.printf("  %16s", f)
		}
		p.printf("\n")
	}
	for _, what := range []string{"labels", "actions"} {
		p.printf("%-22s", what+", p")
		for _, r := range runs {
			cell := ""
			if c := r.Comparison; c != nil {
				f := c.Labels
				if what == "actions" {
					f = c.Actions
				}
				cell = fmt.Sprintf("%s %.3f", f.Word(), f.P)
				if f.Word() == "may be noise" {
					cell = fmt.Sprintf("noise %.3f", f.P)
				}
			}
			p.printf("  %16s", cell)
		}
		p.printf("\n")
	}
	p.printf("\n")
}

func (p *page) evalHead(r evaluate.Report) {
	gate := "no gate"
	if r.Threshold != evaluate.NoGate {
		gate = fmt.Sprintf("threshold %.2f", r.Threshold)
	}
	parts := []string{p.paint(bold, r.Classifier), fmt.Sprintf("%s, %d sure", number(r.All.Cases, "case"), r.Sure.Cases), gate}
	if r.Repeat > 1 {
		parts = append(parts, fmt.Sprintf("%d times each, %s unstable", r.Repeat, number(r.All.Unstable, "case")))
	}
	p.printf("%s\n", strings.Join(parts, p.paint(dim, " · ")))
	parts = []string{number(r.Cost.Calls, "call"), fmt.Sprintf("p50 %v, p90 %v, p99 %v, max %v", evaluate.Brief(r.Latency.P50), evaluate.Brief(r.Latency.P90), evaluate.Brief(r.Latency.P99), evaluate.Brief(r.Latency.Max))}
	if n := r.Cost.Metered - r.Cost.Kept; n > 0 {
		parts = append(parts, fmt.Sprintf("%d prompt (%d cached) and %d completion tokens", r.Cost.PromptTokens, r.Cost.CachedTokens, r.Cost.CompletionTokens),
			fmt.Sprintf("%d tokens a verdict", (r.Cost.PromptTokens+r.Cost.CompletionTokens)/n))
	}
	if r.Cost.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", r.Cost.CostUSD))
	}
	if r.Cost.Kept > 0 {
		parts = append(parts, number(r.Cost.Kept, "answer")+" kept from before")
	}
	p.printf("%s\n", p.paint(dim, strings.Join(parts, " · ")))
	if r.Cost.Fallbacks > 0 {
		p.printf("%s\n", p.paint(yellow, number(r.Cost.Fallbacks, "call")+" fell back to another classifier:"))
		p.reasons(r, func(v evaluate.Verdict) string { return v.Fallback })
	}
	if r.Cost.Errors > 0 {
		p.printf("%s\n", p.paint(red, fmt.Sprintf("%s failed, %s without an answer, which count as wrong:", number(r.Cost.Errors, "call"), number(r.All.Unanswered, "case"))))
		p.reasons(r, func(v evaluate.Verdict) string { return v.Error })
	}
	p.printf("\n")
}

// reasons lists what the calls have to say, each thing once.
func (p *page) reasons(r evaluate.Report, of func(evaluate.Verdict) string) {
	counts := make(map[string]int)
	var order []string
	for _, o := range r.Outcomes {
		runs := o.Runs
		if len(runs) == 0 {
			runs = []evaluate.Verdict{o.Verdict}
		}
		for _, v := range runs {
			if why := of(v); why != "" {
				if counts[why] == 0 {
					order = append(order, why)
				}
				counts[why]++
			}
		}
	}
	for i, why := range order {
		if i == 5 {
			p.printf("  … and %d other reasons\n", len(order)-i)
			return
		}
		p.printf("  %d × %s\n", counts[why], visible(why))
	}
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// figureColumns are the figures of some cases, beside one another.
type figureColumns struct {
	title string
	of    evaluate.Summary
	runs  evaluate.Report // whose spread is shown, where there is one
}

// evalFigures shows the figures of all cases and of the sure ones, below one another where that is too wide.
func (p *page) evalFigures(r evaluate.Report) {
	all, sure := figureColumns{"all", r.All, r}, figureColumns{"sure", r.Sure, evaluate.Report{}}
	switch {
	case r.Sure.Cases == r.All.Cases:
		p.figures(all)
	case p.width > 0 && p.width < figuresWidth(all, sure):
		p.figures(all)
		p.figures(sure)
	default:
		p.figures(all, sure)
	}
}

func (p *page) figures(columns ...figureColumns) {
	head := fmt.Sprintf("%-22s", "")
	for _, c := range columns {
		head += fmt.Sprintf("  %5s  %-11s  %*s", c.title, "95 %", c.count(), "")
		if len(c.runs.Runs) > 0 {
			head += fmt.Sprintf("  %-11s", "spread")
		}
	}
	p.printf("%s\n", p.paint(dim, strings.TrimRight(head, " ")))
	for _, name := range evaluate.FigureNames() {
		row := fmt.Sprintf("%-22s", name)
		for _, c := range columns {
			f, _ := c.of.Figures.Lookup(name)
			row += "  " + figure(f, c.count())
			if len(c.runs.Runs) > 0 {
				least, greatest := c.runs.Spread(name)
				row += fmt.Sprintf("  %.3f–%.3f", least, greatest)
			}
		}
		if f, _ := columns[0].of.Figures.Lookup(name); f.Of > 0 || name != "asked" {
			p.printf("%s\n", strings.TrimRight(row, " "))
		}
	}
	if c := columns[0].of.Message; c != nil {
		p.printf("%-22s  %s\n", "message as wanted", strings.TrimRight(figure(*c, columns[0].count()), " "))
	}
	p.printf("\n")
}

// count is how wide the counts are.
func (c figureColumns) count() int { return 2*len(strconv.Itoa(c.of.Cases)) + 1 }

func figuresWidth(columns ...figureColumns) int {
	width := 22
	for _, c := range columns {
		width += 2 + 5 + 2 + 11 + 2 + c.count()
		if len(c.runs.Runs) > 0 {
			width += 2 + 11
		}
	}
	return width
}

// figure is a value, its interval and its count, each column as wide in every row.
func figure(f evaluate.Figure, wide int) string {
	value, interval, count := "–", "", ""
	if f.Of > 0 {
		value = fmt.Sprintf("%.3f", f.Value)
	}
	if f.Low != nil {
		interval = fmt.Sprintf("%.3f–%.3f", *f.Low, *f.High)
	}
	if f.Count != nil {
		count = fmt.Sprintf("%d/%d", *f.Count, f.Of)
	}
	return fmt.Sprintf("%5s  %-11s  %*s", value, interval, wide, count)
}

func (p *page) evalTypes(s evaluate.Summary) {
	p.printf("%s\n", p.paint(dim, fmt.Sprintf("%-12s  %5s  %9s  %6s  %5s", "type", "cases", "precision", "recall", "f1")))
	for _, t := range s.Types {
		p.printf("%-12s  %5d  %9s  %6s  %.3f\n", t.Type, t.Cases, short(t.Precision), short(t.Recall), t.F1)
	}
	p.printf("\n")
}

func short(f evaluate.Figure) string {
	if f.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", f.Value)
}

func (p *page) evalGroups(key string, groups []evaluate.Group) {
	names := []string{"accuracy", "wrong_continues", "completions_continued", "caught"}
	p.printf("%s\n", p.paint(dim, fmt.Sprintf("%-15s  %5s  %s", quote(key, 13), "cases", strings.Join(names, "  "))))
	for i, g := range groups {
		if i == maxListed {
			p.printf("… and %d more\n", len(groups)-i)
			break
		}
		value := "none"
		if g.Value != "" {
			value = strings.Trim(quote(g.Value, 15), `"`)
		}
		p.printf("%-15s  %5d", value, g.Cases)
		for _, name := range names {
			f, _ := g.Figures.Lookup(name)
			p.printf("  %*s", len(name), short(f))
		}
		p.printf("\n")
	}
	p.printf("\n")
}

// confusion shows what was judged what: a row a label, a column a verdict.
func (p *page) confusion(m evaluate.Confusion) {
	names := append(m.Names[:len(m.Names):len(m.Names)], "unanswered")
	last := len(names) - 1
	if !slices.ContainsFunc(m.Counts, func(row []int) bool { return row[last] > 0 }) {
		names = names[:last]
	}
	p.printf("%s", p.paint(dim, fmt.Sprintf("%-12s", "want \\ got")))
	for _, name := range names {
		p.printf("%s", p.paint(dim, "  "+name))
	}
	p.printf("\n")
	for i, row := range m.Counts {
		p.printf("%-12s", m.Names[i])
		for j, name := range names {
			cell := fmt.Sprintf("  %*d", len(name), row[j])
			switch {
			case row[j] == 0:
				cell = p.paint(dim, fmt.Sprintf("  %*s", len(name), "·"))
			case i == j:
				cell = p.paint(green, cell)
			}
			p.printf("%s", cell)
		}
		p.printf("\n")
	}
	p.printf("\n")
}

// comparison tells which cases flipped, each way, and whether it is more than noise.
func (p *page) comparison(c evaluate.Comparison, baseline string) {
	p.printf("against %s, %s in both:\n", quote(baseline, 60), number(c.Cases, "case"))
	for _, m := range c.Mismatches {
		p.printf("  %s\n", p.paint(yellow, "not measured alike: "+visible(m)))
	}
	for _, f := range []struct {
		what string
		evaluate.Flips
	}{{"types", c.Types}, {"labels", c.Labels}, {"actions", c.Actions}} {
		verdict := f.Word()
		if len(f.Fixed)+len(f.Broken) > 0 {
			verdict = fmt.Sprintf("p %.3f, %s", f.P, verdict)
		}
		switch f.Word() {
		case "better":
			verdict = p.paint(green, verdict)
		case "worse":
			verdict = p.paint(red, verdict)
		}
		p.printf("  %-8s  %d fixed, %d broken  %s\n", f.what, len(f.Fixed), len(f.Broken), verdict)
	}
	for i, ch := range c.Changes {
		if i == maxListed {
			p.printf("  … and %d more changes, which --json has\n", len(c.Changes)-i)
			break
		}
		p.printf("  %s\n", p.change(ch))
	}
	for _, l := range []struct {
		what  string
		names []string
	}{{"added", c.Added}, {"removed", c.Removed}, {"another input or label", c.Differed}} {
		if len(l.names) > 0 {
			p.printf("  %d %s, not compared\n", len(l.names), l.what)
		}
	}
	p.printf("\n")
}

func (p *page) change(ch evaluate.Change) string {
	word := fmt.Sprintf("%-7s", ch.Word())
	switch ch.Word() {
	case "fixed":
		word = p.paint(green, word)
	case "broken":
		word = p.paint(red, word)
	default:
		word = p.paint(dim, word)
	}
	line := fmt.Sprintf("%s  %s  want %s: %s %.2f %s → %s %.2f %s", word, quote(ch.Name, 40), ch.Want.Label(),
		ch.Before.Label(), ch.Before.Confidence, ch.Before.Action, ch.After.Label(), ch.After.Confidence, ch.After.Action)
	if ch.Runs > 1 {
		line += fmt.Sprintf("  %d of %d runs", ch.Agree, ch.Runs)
	}
	return line
}
