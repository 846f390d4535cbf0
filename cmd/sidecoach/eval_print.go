package main

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// print writes the reports as text or JSON.
func (o *evalOptions) print(w io.Writer, runs []evaluate.Run) error {
	text := evaluate.TextOptions{Markdown: o.markdown, By: o.by, Requirements: o.requirements}
	if !o.json {
		return evaluate.Text(w, text, runs...)
	}
	type run struct {
		evaluate.Report
		Comparison *evaluate.Comparison `json:"comparison,omitempty"`
		Groups     []evaluate.Group     `json:"groups,omitempty"`
	}
	var list []run
	for _, r := range runs {
		out := run{Report: r.Report, Comparison: r.Comparison}
		if o.by != "" {
			out.Groups = r.Report.By(o.by)
		}
		list = append(list, out)
	}
	var out any = list[0]
	if len(list) > 1 {
		out = map[string]any{"version": evaluate.Version, "runs": list}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, harmless(b.String()))
	return err
}
