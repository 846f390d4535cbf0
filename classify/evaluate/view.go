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
	"text/tabwriter"
	texttemplate "text/template"
	"time"

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
	t := template.Must(template.New("report.html").Funcs(template.FuncMap{
		"shown": shown, "letter": letter,
		"request": func(o Outcome) string { return o.input.Request },
		"text":    func(o Outcome) string { return shortened(plaintext.Redact(o.input.Text)) },
	}).ParseFS(page, "page/*"))
	if err := t.Execute(w, map[string]any{"Lines": v.lines(), "Reports": v.Reports}); err != nil {
		return fmt.Errorf("evaluate: report page: %w", err)
	}
	return nil
}

func shown(s string) string { return plaintext.VisibleLines(plaintext.Redact(s)) }

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
	for _, line := range v.lines() {
		if _, err := fmt.Fprintln(w, strings.TrimPrefix(line, "# ")); err != nil {
			return err
		}
	}
	return nil
}

//go:embed words.txt
var wordsText string

var words = sync.OnceValue(func() *texttemplate.Template {
	return texttemplate.Must(texttemplate.New("").Funcs(texttemplate.FuncMap{
		"brief": brief,
		"cell":  func(s string) string { return plaintext.Cut(shown(line(s)), 30) },
		"changes": func(c *Comparison) []change {
			return slices.SortedStableFunc(slices.Values(c.Changes), func(a, b change) int {
				return cmp.Compare(a.Way, b.Way) // broken first
			})
		},
		"f1": f1, "failures": failures, "gate": Report.gate, "got": got,
		"has":      func(r Report, figure string) bool { _, ok := r.All.Figures[figure]; return ok },
		"interval": Figure.interval, "labels": labels,
		"letter": letter,
		"line":   line,
		"met":    func(q Requirement, r Report) bool { _, ok := q.Met(r); return ok },
		"name":   Report.name, "names": figureNames, "number": number,
		"precision": func(r Report, t classify.OutputType) Figure { return share(r.Outcomes, named(t), wanted(t)) },
		"recall":    func(r Report, t classify.OutputType) Figure { return share(r.Outcomes, wanted(t), named(t)) },
		"short":     Figure.short, "types": classify.Types,
		"word": Comparison.word,
	}).Parse(wordsText))
})

// lines are what reports say, without the text of any case. A title begins with "# " and an item with "- ". In the text
// of the template, lines with tabs are a table.
func (v View) lines() (lines []string) {
	var text, table strings.Builder
	if err := words().ExecuteTemplate(&text, "content", v); err != nil {
		panic(err) // the words do not fit the data
	}
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	_, _ = io.WriteString(w, shown(text.String()))
	_ = w.Flush() // into memory
	for line := range strings.SplitSeq(strings.TrimSpace(table.String()), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return slices.CompactFunc(lines, func(a, b string) bool { return a == "" && b == "" })
}

// labels are the verdicts and labels there are. Rejected completions are apart from the other statuses.
func labels() []string { return strings.Fields("error blocker question completion rejected status") }

func got(r Report, want, got string) string {
	n := count(r.Outcomes, func(o Outcome) bool { return o.Want.Label() == want && o.Verdict.Label() == got })
	if n == 0 {
		return "·"
	}
	return fmt.Sprint(n)
}

func line(s string) string { return strings.Join(strings.Fields(s), " ") }

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
