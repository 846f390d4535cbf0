package evaluate

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	texttemplate "text/template"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

//go:embed page
var page embed.FS

// View is reports to show beside each other, as [View.Text], [View.HTML] or JSON, which [ReadReport] reads.
type View struct {
	Reports      []Report
	By           string        // a key of meta whose groups are shown
	Requirements []Requirement // that are shown as met or not met
}

// MarshalJSON writes one report with its groups, or several as a list "runs".
func (v View) MarshalJSON() ([]byte, error) {
	type run struct {
		Report
		Groups []group `json:"groups,omitempty"`
	}
	var list []run
	for _, r := range v.Reports {
		out := run{Report: r}
		if v.By != "" {
			out.Groups = r.By(v.By)
		}
		list = append(list, out)
	}
	if len(list) == 1 {
		return json.Marshal(list[0])
	}
	return json.Marshal(map[string]any{"version": version, "runs": list})
}

// HTML writes the reports as one file that shows them in a browser and asks nothing from anywhere: what
// [View.Text] says, and every case, those that are not right first, with their texts and signals. Of a text beyond
// 24,000 bytes the middle is left out. Secrets are masked, see [plaintext.Redact].
//
// What cases and classifiers say is data: it is escaped, and characters that cannot be seen are shown by their code.
func (v View) HTML(w io.Writer) error {
	var cases []pageCase
	for i, r := range v.Reports {
		for _, o := range r.Outcomes {
			o.input.Text = plaintext.Redact(o.input.Text) // spans of it stay valid
			c := pageCase{Outcome: o, Request: o.input.Request, Text: shortened(o.input.Text)}
			if len(v.Reports) > 1 {
				c.Run = letter(i) + ": "
			}
			cases = append(cases, c)
		}
	}
	slices.SortStableFunc(cases, func(a, b pageCase) int {
		return cmp.Compare(min(len(b.Faults()), 1), min(len(a.Faults()), 1))
	})
	t, err := template.New("report.html").Funcs(template.FuncMap{"shown": shown}).ParseFS(page, "page/*")
	if err == nil {
		err = t.Execute(w, map[string]any{"Lines": v.lines(), "Cases": cases})
	}
	if err != nil {
		return fmt.Errorf("evaluate: report page: %w", err)
	}
	return nil
}

func shown(s string) string { return plaintext.VisibleLines(plaintext.Redact(s)) }

type pageCase struct {
	Outcome
	Run, Request, Text string
}

// shortened leaves out the middle of a long text: its end decides most.
func shortened(text string) string {
	const head, tail = 8_000, 16_000
	if len(text) <= head+tail {
		return text
	}
	return fmt.Sprintf("%s\n… %d bytes left out …\n%s", strings.ToValidUTF8(text[:head], ""), len(text)-head-tail,
		strings.ToValidUTF8(text[len(text)-tail:], ""))
}

// Text writes the reports for people, without the text of any case.
func (v View) Text(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(v.lines(), "\n")+"\n")
	return err
}

//go:embed words.txt
var wordsText string

var words = sync.OnceValue(func() *texttemplate.Template {
	return texttemplate.Must(texttemplate.New("").Funcs(texttemplate.FuncMap{
		"brief": brief,
		"changes": func(c *Comparison) []change {
			return slices.SortedStableFunc(slices.Values(c.Changes), func(a, b change) int {
				return cmp.Compare(a.Way, b.Way) // broken first
			})
		},
		"f1": f1, "failures": failures, "gate": Report.gate, "got": got,
		"has":      func(r Report, figure string) bool { _, ok := r.All.Figures[figure]; return ok },
		"interval": Figure.interval, "labels": labels,
		"letter": letter,
		"line":   func(s string) string { return strings.Join(strings.Fields(s), " ") },
		"met":    func(q Requirement, r Report) bool { _, ok := q.Met(r); return ok },
		"name":   Report.name, "names": figureNames, "number": number,
		"precision": func(r Report, t classify.OutputType) Figure { return share(r.Outcomes, named(t), wanted(t)) },
		"recall":    func(r Report, t classify.OutputType) Figure { return share(r.Outcomes, wanted(t), named(t)) },
		"short":     Figure.short, "types": classify.Types,
		"word": Comparison.word,
	}).Parse(wordsText))
})

// lines are what reports say, without the text of any case. In the text of the template, an empty line ends a part, and
// a part whose lines have tabs is a table.
func (v View) lines() (lines []string) {
	var b strings.Builder
	if err := words().ExecuteTemplate(&b, "content", v); err != nil {
		panic(err) // the words do not fit the data
	}
	for part := range strings.SplitSeq(shown(b.String()), "\n\n") {
		rows := strings.Split(strings.Trim(part, "\n"), "\n")
		if rows[0] == "" {
			continue
		}
		if strings.Contains(rows[0], "\t") {
			rows = aligned(rows)
		}
		if lines != nil {
			lines = append(lines, "")
		}
		lines = append(lines, rows...)
	}
	return lines
}

// aligned lays out rows with columns of the same width, the first one left. If their head has no first cell, all
// columns but the last are of words.
func aligned(rows []string) (lines []string) {
	left := 1
	if rows[0][0] == '\t' {
		left = strings.Count(rows[0], "\t")
	}
	var widths []int
	var table [][]string
	for _, row := range rows {
		cells := strings.Split(row, "\t")
		widths = append(widths, make([]int, max(0, len(cells)-len(widths)))...)
		for i, cell := range cells {
			cells[i] = plaintext.Cut(cell, 30)
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		table = append(table, cells)
	}
	for _, cells := range table {
		for i, cell := range cells {
			width := widths[i]
			if i < left {
				width = -width
			}
			cells[i] = fmt.Sprintf("%*s", width, cell)
		}
		lines = append(lines, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return lines
}

// labels are the verdicts and labels there are. Rejected completions are apart from the other statuses.
func labels() []string { return strings.Fields("error blocker question completion rejected status") }

// got returns how many cases with a label have a verdict.
func got(r Report, want, got string) string {
	n := count(r.Outcomes, func(o Outcome) bool { return o.Want.Label() == want && o.Verdict.Label() == got })
	if n == 0 {
		return "·"
	}
	return fmt.Sprint(n)
}

func letter(i int) string { return string(rune('A' + i)) }

// failures lists why calls failed or fell back: the five most frequent reasons.
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
	return list
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
