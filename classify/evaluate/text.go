package evaluate

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// layout is how [View.Text] writes: for a terminal, or in Markdown.
type layout struct{ markdown bool }

// Text writes the reports for people, without the text of any case: for a terminal, or in Markdown for a pull request
// or a CI job.
func (v View) Text(w io.Writer, markdown bool) error {
	o := layout{markdown}
	bold, gap := "", "\n"
	if o.markdown {
		bold, gap = "**", "\n\n"
	}
	var parts []string
	for _, p := range v.content() {
		var blocks, items []string
		if p.Title != "" {
			blocks = append(blocks, bold+o.shown(p.Title, 200)+bold)
		}
		for _, line := range p.Lines {
			blocks = append(blocks, o.shown(line, 300))
		}
		for _, item := range p.Items {
			items = append(items, "- "+o.shown(item, 300))
		}
		if len(items) > 0 {
			blocks = append(blocks, strings.Join(items, "\n"))
		}
		if len(p.Rows) > 0 {
			blocks = append(blocks, o.table(p))
		}
		if len(blocks) > 0 {
			parts = append(parts, strings.Join(blocks, gap)+"\n")
		}
	}
	_, err := io.WriteString(w, strings.Join(parts, "\n"))
	return err
}

var markdownEscapes = strings.NewReplacer("\\", "\\\\", "|", "\\|", "`", "\\`", "<", "&lt;", "*", "\\*", "[", "\\[")

// shown is text of others in one line.
func (o layout) shown(s string, most int) string {
	s = plaintext.Visible(plaintext.Line(s, most))
	if o.markdown {
		return markdownEscapes.Replace(s)
	}
	return s
}

// table writes rows, with the columns of the same width.
func (o layout) table(p part) string {
	widths := make([]int, len(p.Rows[0]))
	var rows [][]string
	for _, row := range p.Rows {
		var cells []string
		for i, cell := range row {
			cell = o.shown(cell, 30)
			cells, widths[i] = append(cells, cell), max(widths[i], utf8.RuneCountInString(cell))
		}
		rows = append(rows, cells)
	}
	var lines []string
	for n, row := range rows {
		var rule []string
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < p.Left {
				row[i], rule = cell+pad, append(rule, "---")
			} else {
				row[i], rule = pad+cell, append(rule, "---:")
			}
		}
		if !o.markdown {
			lines = append(lines, strings.TrimRight(strings.Join(row, "  "), " "))
			continue
		}
		lines = append(lines, "| "+strings.Join(row, " | ")+" |")
		if n == 0 {
			lines = append(lines, "| "+strings.Join(rule, " | ")+" |")
		}
	}
	return strings.Join(lines, "\n")
}
