package evaluate

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

//go:embed page
var page embed.FS

// HTML writes the reports as one file that shows them in a browser and asks nothing from anywhere: what
// [View.Text] says, and every case, those that are not right first, with their texts and signals. Of a text beyond 24,000
// bytes the middle is left out. Secrets are masked, see [plaintext.Redact].
//
// What cases and classifiers say is data: it is escaped, and characters that cannot be seen are shown by their code.
func (v View) HTML(w io.Writer) error {
	var view struct {
		Parts []part
		Cases []pageCase
	}
	view.Parts = v.content()
	if len(v.Reports) == 1 {
		view.Parts = append(view.Parts, calibrationTable(v.Reports[0].Outcomes))
	}
	for i, r := range v.Reports {
		for _, o := range r.Outcomes {
			o.input.Text = plaintext.Redact(o.input.Text) // spans of it stay valid
			c := pageCase{Outcome: o, Request: o.input.Request, Text: shortened(o.input.Text)}
			if len(v.Reports) > 1 {
				c.Run = letter(i) + ": "
			}
			view.Cases = append(view.Cases, c)
		}
	}
	slices.SortStableFunc(view.Cases, func(a, b pageCase) int {
		return cmp.Compare(min(len(b.Faults()), 1), min(len(a.Faults()), 1))
	})
	t, err := template.New("report.html").Funcs(template.FuncMap{"shown": shown}).ParseFS(page, "page/*")
	if err == nil {
		err = t.Execute(w, view)
	}
	if err != nil {
		return fmt.Errorf("evaluate: report page: %w", err)
	}
	return nil
}

func shown(s string) string { return plaintext.VisibleLines(plaintext.Redact(s)) }

// pageCase is a case on the page.
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
