package evaluate

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
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

// HTML writes one or several reports as one file that shows them in a browser and asks nothing from anywhere: what
// [Text] says, and every case. Wrong cases have their text with its signals marked; of a text beyond 24,000 bytes the
// middle is left out. The cases can be filtered.
//
// What cases and classifiers say is data: it is escaped, and characters that cannot be seen are shown by their code.
func HTML(w io.Writer, runs ...Run) error {
	t, err := template.New("report.html").Funcs(template.FuncMap{
		"shown": plaintext.VisibleLines,
		"kinds": func() []classify.SignalKind { return kinds },
	}).ParseFS(page, "page/report.html", "page/style.css", "page/filter.js")
	if err == nil {
		err = t.Execute(w, pageOf(runs))
	}
	if err != nil {
		return fmt.Errorf("evaluate: report page: %w", err)
	}
	return nil
}

var kinds = []classify.SignalKind{
	classify.SignalClaim, classify.SignalHedge, classify.SignalEvidence, classify.SignalPromise, classify.SignalQuestion,
	classify.SignalOffer, classify.SignalBlocker, classify.SignalFailure, classify.SignalGap, classify.SignalProgress,
	classify.SignalAnswer,
}

// pageView is what the page shows.
type pageView struct {
	Names           []string // of the classifiers
	Parts           []part
	Cases           []caseRow
	Labels, Answers []string // that can be filtered for
	Agents, Langs   []string
	Wrong           int
}

func pageOf(runs []Run) pageView {
	v := pageView{Parts: content(TextOptions{}, runs), Labels: newConfusion().Names}
	v.Answers = append(slices.Clone(v.Labels), unansweredLabel)
	if len(runs) == 1 {
		v.Parts = append(v.Parts, calibrationTable(runs[0].Report.All))
	}
	for i, r := range runs {
		v.Names = append(v.Names, r.Report.name())
		for _, o := range r.Report.Outcomes {
			row := caseRowOf(o)
			row.Run = i
			if row.State != "right" {
				v.Wrong++
			}
			v.Cases, v.Agents, v.Langs = append(v.Cases, row), append(v.Agents, row.Agent), append(v.Langs, row.Lang)
		}
	}
	v.Agents, v.Langs = distinct(v.Agents), distinct(v.Langs)
	return v
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
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
	if agree, runs := o.agreement(); runs > 1 {
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

// piece is a stretch of a text: a signal, what stands between signals, or the bytes that are left out.
type piece struct {
	Text  string
	Kind  string // of the signal, "" for none
	Title string // the signal in words
	Gap   int
}

const (
	maxHead = 8_000  // bytes of a text that are shown from its start
	maxTail = 16_000 // and from its end, which decides most
)

// pieces cuts a text into the strongest signals and what stands between them. Of signals that overlap, the strongest is
// shown. A signal outside the text, or in the part that is left out, is ignored.
func pieces(text string, signals []classify.Signal) (list []piece) {
	bound := func(at int) int {
		for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
			at--
		}
		return at
	}
	var shown []classify.Signal // a gap is one without a kind
	if len(text) > maxHead+maxTail {
		shown = append(shown, classify.Signal{Start: bound(maxHead), End: bound(len(text) - maxTail)})
	}
	for _, s := range slices.SortedStableFunc(slices.Values(signals), byWeight) {
		if s.Start < 0 || s.Start >= s.End || s.End > len(text) {
			continue
		}
		s.Start, s.End = bound(s.Start), bound(s.End)
		overlaps := func(o classify.Signal) bool { return s.Start < o.End && o.Start < s.End }
		if s.Start < s.End && !slices.ContainsFunc(shown, overlaps) {
			shown = append(shown, s)
		}
	}
	slices.SortFunc(shown, func(a, b classify.Signal) int { return cmp.Compare(a.Start, b.Start) })
	at := 0
	for _, s := range append(shown, classify.Signal{Start: len(text), End: len(text)}) {
		if at < s.Start {
			list = append(list, piece{Text: text[at:s.Start]})
		}
		at = s.End
		switch {
		case s.Kind != "":
			title := strings.TrimSpace(fmt.Sprintf("%s %s", s.Kind, s.Name)) + fmt.Sprintf(" (%.2f)", s.Weight)
			kind := "other"
			if slices.Contains(kinds, s.Kind) {
				kind = string(s.Kind)
			}
			list = append(list, piece{Text: text[s.Start:s.End], Kind: kind, Title: title})
		case s.Start < s.End:
			list = append(list, piece{Gap: s.End - s.Start})
		}
	}
	return list
}
