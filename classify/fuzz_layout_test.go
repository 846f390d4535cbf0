package classify

import (
	"context"
	"strings"
	"testing"
)

// FuzzLayout holds the verdict to what can be seen: line breaks of another kind, blank lines and trailing spaces never change it.
func FuzzLayout(f *testing.F) {
	for _, c := range loadCases(f, "cases/*.jsonl") {
		f.Add(c.Input.Text)
	}
	for _, text := range longTexts(f) {
		f.Add(text)
	}
	f.Add("It says `so\nmuch` and\nno more")
	f.Add("<<<<<<< a\nDone.\n=======\n>>>>>>> b")
	f.Add(strings.Repeat("Fixed it, ", 409) + "works.")
	h := newHeuristic(f)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\r\x1b") {
			t.Skip("a lone CR before LF would become one break; escape sequences may hold breaks")
		}
		if len(text)+41*strings.Count(text, "\n") > maxSpan {
			t.Skip("a sentence with more white space in it than maxSpan ends there")
		}
		want, err := h.Classify(context.Background(), Input{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		for name, changed := range layouts(text) {
			got, _ := h.Classify(context.Background(), Input{Text: changed})
			if got.Type != want.Type || got.WasRejectedCompletion != want.WasRejectedCompletion || got.Confidence != want.Confidence {
				t.Fatalf("%s: %+v became %+v", name, want, got)
			}
		}
	})
}

// longTexts are cases of every language one below the other, so long that only a part of a text tells its script.
func longTexts(tb testing.TB) []string {
	cases := loadCases(tb, "cases/*.jsonl")
	var texts []string
	for first := range 60 {
		var parts []string
		for i := range 14 {
			text := cases[(first*131+i*337)%len(cases)].Input.Text
			if !strings.ContainsAny(text, "\r\x1b") && strings.TrimSpace(text) != "" {
				parts = append(parts, text)
			}
		}
		texts = append(texts, strings.Join(parts, []string{"\n", "\n\n", " "}[first%3]))
	}
	return texts
}

// layouts returns the ways in which a text can be written that mean the same.
func layouts(s string) map[string]string {
	return map[string]string{
		"CRLF":              strings.ReplaceAll(s, "\n", "\r\n"),
		"CR":                strings.ReplaceAll(s, "\n", "\r"),
		"trailing spaces":   strings.ReplaceAll(s, "\n", strings.Repeat(" ", 40)+"\n") + "\t ",
		"blank lines":       strings.ReplaceAll(s, "\n", "\n\n\n"),
		"many blank lines":  strings.ReplaceAll(s, "\n", strings.Repeat("\n", 40)),
		"blank lines first": strings.Repeat("\n", 9000) + s,
		"blank lines last":  s + strings.Repeat("\n", 9000),
	}
}
