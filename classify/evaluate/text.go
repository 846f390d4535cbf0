package evaluate

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Text writes the reports for people, without the text of any case.
func (v View) Text(w io.Writer) error {
	var parts []string
	for _, p := range v.content() {
		var lines []string
		if p.Title != "" {
			lines = append(lines, oneLine(p.Title, 200))
		}
		for _, line := range p.Lines {
			lines = append(lines, oneLine(line, 300))
		}
		for _, item := range p.Items {
			lines = append(lines, "- "+oneLine(item, 300))
		}
		if lines = append(lines, tableLines(p)...); len(lines) > 0 {
			parts = append(parts, strings.Join(lines, "\n")+"\n")
		}
	}
	_, err := io.WriteString(w, strings.Join(parts, "\n"))
	return err
}

// oneLine is text of others in one line.
func oneLine(s string, most int) string { return plaintext.Visible(plaintext.Line(s, most)) }

// tableLines writes rows, with the columns of the same width.
func tableLines(p part) (lines []string) {
	var widths []int
	for _, row := range p.Rows {
		widths = append(widths, make([]int, len(row)-min(len(row), len(widths)))...)
		for i, cell := range row {
			row[i] = oneLine(cell, 30)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range p.Rows {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < p.Left {
				row[i] = cell + pad
			} else {
				row[i] = pad + cell
			}
		}
		lines = append(lines, strings.TrimRight(strings.Join(row, "  "), " "))
	}
	return lines
}
