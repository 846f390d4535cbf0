package evaluate

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

//go:embed page
var page embed.FS

// Run is a report to show and what it is compared with, if anything.
type Run struct {
	Report     Report
	Comparison *Comparison
	Baseline   string // what the comparison is with, for people
}

// HTML writes one or several reports as one file that shows them in a browser and asks nothing from anywhere: the figures,
// the comparisons, the confusion matrix, the reliability diagram, and every case. Wrong cases have their text with its
// signals marked; of a text beyond 24,000 bytes the middle is left out. The cases can be filtered.
//
// What cases and classifiers say is data: it is escaped, and characters that cannot be seen are shown by their code.
func HTML(w io.Writer, runs ...Run) error {
	t, err := template.New("report.html").Funcs(drawing).ParseFS(page, "page/report.html", "page/style.css", "page/filter.js")
	if err == nil {
		err = t.Execute(w, pageOf(runs))
	}
	if err != nil {
		return fmt.Errorf("evaluate: report page: %w", err)
	}
	return nil
}

// drawing is what the page computes.
var drawing = template.FuncMap{
	"add":     func(a, b int) int { return a + b },
	"columnX": func(i int) int { return matrixLeft + cellWidth*i + cellWidth/2 },
	"rowY":    func(i int) int { return matrixTop + cellHeight*i + cellHeight/2 + 4 },
	"opacity": func(share float64) string { return fmt.Sprintf("%.2f", 0.12+0.88*share) },
	"ticks":   func() []float64 { return []float64{0, plot / 4, plot / 2, plot * 3 / 4, plot} },
	"brief":   Brief,
	"kinds":   func() []classify.SignalKind { return kinds },
	"shown":   plaintext.VisibleLines,
	"lower":   LessIsBetter,
}

// Brief leaves three digits of a duration.
func Brief(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

var kinds = []classify.SignalKind{
	classify.SignalClaim, classify.SignalHedge, classify.SignalEvidence, classify.SignalPromise, classify.SignalQuestion,
	classify.SignalOffer, classify.SignalBlocker, classify.SignalFailure, classify.SignalGap, classify.SignalProgress,
	classify.SignalAnswer,
}

// pageView is what the page shows.
type pageView struct {
	Title                  string
	Runs                   []runView
	FigureNames            []string
	Cases                  []caseRow
	Labels, Verdicts       []string
	Agents, Langs          []string
	Wrong                  int
	Several, HasComparison bool
}

type runView struct {
	Run
	Name            string
	Figures         []figureRow
	Matrix          matrix
	Diagram         diagram
	PerCall, Cached string
	Flips           []flipRow
	Changes         []changeRow
}

type figureRow struct {
	Name             string
	All, Sure        Figure
	Interval, Spread string
}

type flipRow struct {
	What  string
	Flips Flips
}

type changeRow struct{ Word, Name, Want, Before, After, Runs string }

func pageOf(runs []Run) pageView {
	v := pageView{Several: len(runs) > 1, FigureNames: FigureNames()}
	var names []string
	for i, r := range runs {
		rv := runOf(r)
		v.Runs, names = append(v.Runs, rv), append(names, rv.Name)
		v.HasComparison = v.HasComparison || r.Comparison != nil
		v.Labels, v.Verdicts = rv.Matrix.Names, rv.Matrix.Columns
		for _, o := range r.Report.Outcomes {
			row := caseRowOf(o)
			row.Run = i
			if row.State != "right" {
				v.Wrong++
			}
			v.Cases, v.Agents, v.Langs = append(v.Cases, row), append(v.Agents, row.Agent), append(v.Langs, row.Lang)
		}
	}
	v.Title, v.Agents, v.Langs = strings.Join(names, ", "), distinct(v.Agents), distinct(v.Langs)
	return v
}

func runOf(run Run) runView {
	r := run.Report
	v := runView{Run: run, Name: r.name(), Matrix: matrixOf(r.All.Labels), Diagram: diagramOf(r.All.Calibration)}
	for _, name := range FigureNames() {
		row := figureRow{Name: name}
		row.All, _ = r.All.Figures.Lookup(name)
		row.Sure, _ = r.Sure.Figures.Lookup(name)
		if row.All.Low != nil {
			row.Interval = fmt.Sprintf("%.3f – %.3f", *row.All.Low, *row.All.High)
		}
		if len(r.Runs) > 0 {
			least, greatest := r.Spread(name)
			row.Spread = fmt.Sprintf("%.3f – %.3f", least, greatest)
		}
		v.Figures = append(v.Figures, row)
	}
	if n := r.Cost.Metered - r.Cost.Kept; n > 0 {
		v.PerCall = fmt.Sprintf("%d prompt, %d completion", r.Cost.PromptTokens/n, r.Cost.CompletionTokens/n)
		v.Cached = fmt.Sprintf("%.0f %%", 100*float64(r.Cost.CachedTokens)/float64(max(r.Cost.PromptTokens, 1)))
	}
	if c := run.Comparison; c != nil {
		v.Flips = []flipRow{{"types", c.Types}, {"labels", c.Labels}, {"actions", c.Actions}}
		for _, ch := range c.Changes {
			row := changeRow{Word: ch.Word(), Name: ch.Name, Want: ch.Want.Label(), Before: inShort(ch.Before), After: inShort(ch.After)}
			if ch.Runs > 1 {
				row.Runs = fmt.Sprintf("%d/%d", ch.Agree, ch.Runs)
			}
			v.Changes = append(v.Changes, row)
		}
	}
	return v
}

func inShort(v Verdict) string {
	if v.Type == "" {
		return unansweredLabel
	}
	return fmt.Sprintf("%s %.2f, %s", v.Label(), v.Confidence, v.Action)
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
}

// matrix is a confusion matrix as a picture.
type matrix struct {
	Names, Columns []string
	Cells          []cell
	Width, Height  int
}

type cell struct {
	X, Y, N    int
	Want, Got  string
	Share      float64 // of the row
	Right, Ink bool    // on the diagonal; dark enough for light ink
}

const cellWidth, cellHeight, matrixLeft, matrixTop = 92, 40, 110, 34

func matrixOf(m Confusion) matrix {
	v := matrix{Names: m.Names, Columns: append(slices.Clone(m.Names), unansweredLabel)}
	v.Width, v.Height = matrixLeft+cellWidth*len(v.Columns), matrixTop+cellHeight*len(v.Names)
	for i, row := range m.Counts {
		want, _, _ := m.of(i)
		for j, n := range row {
			c := cell{X: matrixLeft + cellWidth*j, Y: matrixTop + cellHeight*i, N: n, Want: v.Names[i], Got: v.Columns[j], Right: i == j}
			if want > 0 {
				c.Share = float64(n) / float64(want)
			}
			c.Ink = c.Share > 0.55
			v.Cells = append(v.Cells, c)
		}
	}
	return v
}

// diagram is a reliability diagram: accuracy over confidence, a bar a bin, with its interval.
type diagram struct{ Bars []bar }

type bar struct {
	X, Width, Y, Height float64
	Middle, Low, High   float64 // of the interval
	MeanX, MeanY        float64 // mean confidence, accuracy
	Label               string
	N                   int
}

const plot = 300.0 // units a side

func diagramOf(list []Bin) diagram {
	var d diagram
	for _, b := range list {
		if b.Accuracy.Of == 0 {
			continue
		}
		y := func(share float64) float64 { return math.Round(10*plot*(1-share)) / 10 }
		width := plot*(b.To-b.From) - 2
		d.Bars = append(d.Bars, bar{
			X: plot*b.From + 1, Width: math.Round(width), Y: y(b.Accuracy.Value), Height: plot - y(b.Accuracy.Value),
			Middle: plot * (b.From + b.To) / 2, Low: y(*b.Accuracy.Low), High: y(*b.Accuracy.High),
			MeanX: math.Round(10*plot*b.Confidence) / 10, MeanY: y(b.Accuracy.Value), N: b.Accuracy.Of,
			Label: fmt.Sprintf("confidence %.1f to %.1f: %d cases, mean confidence %.2f, accuracy %.2f",
				b.From, b.To, b.Accuracy.Of, b.Confidence, b.Accuracy.Value),
		})
	}
	return d
}

// caseRow is one case on the page.
type caseRow struct {
	Run                          int
	Name, Want, Got, Agent, Lang string
	State                        string // "right", "wrong", or "gated": only kept from going on by the threshold
	Confidence                   string
	Agreement                    string
	Sure                         bool
	Faults                       []string
	Reason, Request, Fallback    string
	Message                      string
	Text                         []piece
	Signals                      []classify.Signal // the strongest first
}

func caseRowOf(o Outcome) caseRow {
	row := caseRow{
		Name: o.Name, Want: o.Want.Label(), Got: o.Verdict.Label(), Sure: o.Sure, State: "right",
		Agent: metaString(o.Meta, "agent"), Lang: metaString(o.Meta, "lang"),
		Confidence: fmt.Sprintf("%.2f", o.Verdict.Confidence), Fallback: o.Verdict.Fallback, Faults: o.Faults(),
	}
	if o.Verdict.Type == "" {
		row.Confidence = "–"
	}
	if agree, runs := o.Agreement(); runs > 1 {
		row.Agreement = fmt.Sprintf("%d/%d", agree, runs)
	}
	if len(row.Faults) == 0 {
		return row
	}
	row.State = "wrong"
	if o.LabelRight() && len(o.Verdict.Message) == 0 {
		row.State = "gated"
	}
	row.Reason, row.Request, row.Message = o.Result.Reason, o.input.Request, o.Result.CoachingMessage
	row.Text = pieces(o.input.Text, o.Result.Signals)
	row.Signals = slices.SortedStableFunc(slices.Values(o.Result.Signals), byWeight)
	row.Signals = row.Signals[:min(len(row.Signals), 12)]
	return row
}

func byWeight(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) }

// piece is a stretch of a text with the signals that cover it. Gap is the bytes left out here.
type piece struct {
	Text  string
	Kind  string // of the strongest signal, "" for none
	Title string // every signal, the strongest first
	Gap   int
}

const (
	maxHead = 8_000  // bytes of a text that are shown from its start
	maxTail = 16_000 // and from its end, which decides most
)

// pieces cuts a text where a signal begins or ends, so that signals may overlap. A signal outside the text is ignored.
func pieces(text string, signals []classify.Signal) []piece {
	from, to := len(text), len(text) // what is left out
	if len(text) > maxHead+maxTail {
		from, to = maxHead, len(text)-maxTail
	}
	cuts := []int{0, from, to, len(text)}
	var good []classify.Signal
	for _, s := range signals {
		if 0 <= s.Start && s.Start < s.End && s.End <= len(text) {
			good = append(good, s)
			cuts = append(cuts, s.Start, s.End)
		}
	}
	slices.SortStableFunc(good, byWeight)
	for i, at := range cuts {
		for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
			at--
		}
		cuts[i] = at
	}
	from, to = cuts[1], cuts[2]
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var list []piece
	for i := 1; i < len(cuts); i++ {
		start, end := cuts[i-1], cuts[i]
		if start >= from && end <= to {
			if start == from {
				list = append(list, piece{Gap: to - from})
			}
			continue
		}
		p := piece{Text: text[start:end]}
		var titles []string
		for _, s := range good {
			if s.Start < end && start < s.End {
				titles = append(titles, strings.TrimSpace(fmt.Sprintf("%s %s", s.Kind, s.Name))+fmt.Sprintf(" (%.2f)", s.Weight))
				if p.Kind == "" {
					p.Kind = kindClass(s.Kind)
				}
			}
		}
		p.Title = strings.Join(titles, ", ")
		list = append(list, p)
	}
	return list
}

// kindClass is the name under which the style sheet has a kind's colour.
func kindClass(k classify.SignalKind) string {
	if slices.Contains(kinds, k) {
		return string(k)
	}
	return "other"
}
