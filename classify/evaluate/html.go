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
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

//go:embed page
var page embed.FS

// HTML writes the report as one file that shows it in a browser and asks nothing from anywhere: the figures, the confusion
// matrix, the reliability diagram, and every case, those that are wrong with their text, its signals marked. Of a text beyond
// 24,000 bytes the middle is left out. The page can be filtered by type, agent, language, and right or wrong.
//
// What cases and classifiers say is data: it is escaped, and characters that can't be seen or turn the direction of writing
// are shown by their code.
func (r Report) HTML(w io.Writer) error { return r.view().write(w) }

func (v view) write(w io.Writer) error {
	t, err := template.New("report.html").Funcs(drawing).ParseFS(page, "page/report.html", "page/style.css", "page/filter.js")
	if err != nil {
		return fmt.Errorf("evaluate: report page: %w", err)
	}
	if err := t.Execute(w, v); err != nil {
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
	"brief":   brief,
	"kinds":   func() []classify.SignalKind { return kinds },
}

// brief leaves three digits of a duration.
func brief(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

var kinds = []classify.SignalKind{
	classify.SignalClaim, classify.SignalHedge, classify.SignalEvidence, classify.SignalPromise, classify.SignalQuestion, classify.SignalOffer,
	classify.SignalBlocker, classify.SignalFailure, classify.SignalGap, classify.SignalProgress, classify.SignalAnswer,
}

// view is what the page shows.
type view struct {
	Report
	Gate                 string
	Figures              []figureRow
	Matrix               matrix
	Diagram              diagram
	Cases                []caseRow
	Types, Agents, Langs []string
	Wrong                int
	PerCall, Cached      string
	Comparison           *comparison // nil where there is none
}

type figureRow struct {
	Name             string
	All, Sure        Figure
	Interval, Spread string
	Lower            bool // less is better
}

func (r Report) view() view {
	v := view{Report: r, Matrix: matrixOf(r.All.Labels), Diagram: diagramOf(r.All.Calibration)}
	v.Classifier = shown(r.Classifier)
	v.About = nil
	for _, sentence := range r.About {
		v.About = append(v.About, shown(sentence))
	}
	v.Gate = r.gate()
	if r.Threshold != NoGate {
		v.Gate = "threshold " + v.Gate
	}
	for _, name := range FigureNames() {
		row := figureRow{Name: name, Lower: slices.Contains([]string{"wrong_continues", "completions_continued", "ece"}, name)}
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
	if n := r.Cost.Metered; n > 0 {
		v.PerCall = fmt.Sprintf("%d prompt, %d completion", r.Cost.PromptTokens/n, r.Cost.CompletionTokens/n)
		v.Cached = fmt.Sprintf("%.0f %%", 100*float64(r.Cost.CachedTokens)/float64(max(r.Cost.PromptTokens, 1)))
	}
	for _, o := range r.Outcomes {
		row := caseRowOf(o)
		if row.State != "right" {
			v.Wrong++
		}
		v.Cases = append(v.Cases, row)
		v.Agents = append(v.Agents, row.Agent)
		v.Langs = append(v.Langs, row.Lang)
	}
	v.Types = v.Matrix.Names
	v.Agents, v.Langs = distinct(v.Agents), distinct(v.Langs)
	return v
}

func distinct(list []string) []string {
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
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
	most := 1
	for _, b := range list {
		most = max(most, b.Accuracy.Of)
	}
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
			Label: fmt.Sprintf("confidence %.1f to %.1f: %d cases, mean confidence %.2f, accuracy %.2f", b.From, b.To, b.Accuracy.Of, b.Confidence, b.Accuracy.Value),
		})
	}
	return d
}

// caseRow is one case on the page.
type caseRow struct {
	Name, Want, Got, Agent, Lang string
	State                        string // "right", "wrong", or "gated": only kept from going on by the threshold
	Confidence                   string
	Agreement                    string
	Sure                         bool
	Faults                       []string
	Reason, Request, Fallback    string
	Text                         []piece
	Signals                      []signalRow
}

type signalRow struct {
	Kind, Name string
	Weight     float64
}

func caseRowOf(o Outcome) caseRow {
	row := caseRow{
		Name: shown(o.Name), Want: o.Want.Label(), Got: o.Verdict.Label(), Sure: o.Sure, State: "right",
		Agent: shown(metaString(o.Meta, "agent")), Lang: shown(metaString(o.Meta, "lang")),
		Confidence: fmt.Sprintf("%.2f", o.Verdict.Confidence), Fallback: shown(o.Verdict.Fallback),
	}
	if o.Verdict.Type == "" {
		row.Confidence = "–"
	}
	if agree, runs := o.Agreement(); runs > 1 {
		row.Agreement = fmt.Sprintf("%d/%d", agree, runs)
	}
	for _, f := range o.Faults() {
		row.Faults = append(row.Faults, shown(f))
	}
	if len(row.Faults) == 0 {
		return row
	}
	row.State = "wrong"
	if o.LabelRight() && len(o.Verdict.Coaching) == 0 {
		row.State = "gated"
	}
	row.Reason, row.Request = shown(o.Result.Reason), shown(o.Input.Request)
	row.Text = pieces(o.Input.Text, o.Result.Signals)
	for _, s := range o.Result.Signals {
		row.Signals = append(row.Signals, signalRow{shown(string(s.Kind)), shown(s.Name), s.Weight})
	}
	slices.SortStableFunc(row.Signals, func(a, b signalRow) int { return cmp.Compare(b.Weight, a.Weight) })
	row.Signals = row.Signals[:min(len(row.Signals), 12)]
	return row
}

// piece is a stretch of a text with the signals that cover it; Gap is the bytes left out here.
type piece struct {
	Text  string
	Kind  string // of the strongest signal, "" for none
	Title string // every signal, the strongest first
	Gap   int
}

const (
	maxHead = 8_000  // bytes of a text that are shown from its start
	maxTail = 16_000 // and from its end, where most is decided
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
	slices.SortStableFunc(good, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
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
		p := piece{Text: shown(text[start:end])}
		var titles []string
		for _, s := range good {
			if s.Start < end && start < s.End {
				titles = append(titles, strings.TrimSpace(fmt.Sprintf("%s %s", s.Kind, s.Name))+fmt.Sprintf(" (%.2f)", s.Weight))
				if p.Kind == "" {
					p.Kind = kindClass(s.Kind)
				}
			}
		}
		p.Title = shown(strings.Join(titles, ", "))
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

// shown writes characters that can't be seen by their code; line breaks and tabs stay.
func shown(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		c, n := utf8.DecodeRuneInString(s)
		switch {
		case c == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case c == '\n' || c == '\t' || unicode.IsPrint(c) || c == '\u200c' || c == '\u200d' || unicode.Is(unicode.Zs, c):
			b.WriteRune(c)
		case c == '\r':
			if len(s) == 1 || s[1] != '\n' {
				b.WriteByte('\n')
			}
		case c < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
		s = s[n:]
	}
	return b.String()
}
