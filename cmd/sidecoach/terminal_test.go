package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"plain, naïve, 漢字 ✓":    "plain, naïve, 漢字 ✓",
		"\x1b[31mred\x1b[0m":    `\x1b[31mred\x1b[0m`,
		"a\x00b\tc\r\n":         `a\x00b\x09c\x0d\x0a`,
		"\u202egnp.exe":         `\u202egnp.exe`,
		"zero\u200bwidth\ufeff": `zero\u200bwidth\ufeff`,
		"\u009b31m":             `\u009b31m`,
		"bad \xff\xc3(":         `bad \xff\xc3(`,
		"tag \U000e0041":        `tag \U000e0041`,
		"👩\u200d💻 and می\u200cخواهم": "👩\u200d💻 and می\u200cخواهم",
		"already \ufffd": "already \ufffd",
	} {
		assert.Equal(t, want, visible(in), "%q", in)
	}
}

func TestQuote(t *testing.T) {
	for _, tt := range []struct {
		name, span string
		limit      int
		want       string
	}{
		{"short", "should work now", 60, `"should work now"`},
		{"white space", " two\r\n\tlines ", 60, `"two lines"`},
		{"exactly the limit", "12345", 5, `"12345"`},
		{"one more", "123456", 5, `"1234…"`},
		{"characters, not bytes", "ääääää", 6, `"ääääää"`},
		{"escapes count as they are shown", strings.Repeat("\x00", 100), 10, `"\x00\x00\…"`},
		{"huge", strings.Repeat("word ", 1<<18), 10, `"word word…"`},
		{"huge and blank", strings.Repeat(" ", 1<<20) + "x", 10, `"x"`},
		{"empty", "", 10, `""`},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, quote(tt.span, tt.limit)) })
	}
}

func TestPosition(t *testing.T) {
	for _, tt := range []struct {
		name, text, at string
		line, column   int
	}{
		{"start", "Done.", "Done", 1, 1},
		{"second line", "Done.\nFixed it", "it", 2, 7},
		{"CRLF", "Done.\r\nFixed it", "it", 2, 7},
		{"characters, not bytes", "grün äöü x", "x", 1, 10},
		{"after a byte order mark", "\ufeffDone.", "Done", 1, 1},
		{"second line after a byte order mark", "\ufeffa\nbc", "c", 2, 2},
		{"invalid UTF-8", "\xff\xfe x", "x", 1, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := fmt.Sprintf("%d:%d", tt.line, tt.column)
			assert.Equal(t, want, position(tt.text, strings.Index(tt.text, tt.at)))
		})
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		width      int
		want       []string
	}{
		{"no terminal", "one two three", 0, []string{"one two three"}},
		{"no room at all", "one two", -3, []string{"one two"}},
		{"fits", "one two", 7, []string{"one two"}},
		{"between words", "one two three", 7, []string{"one two", "three"}},
		{"a long word stands alone", "a verylongword b", 4, []string{"a", "verylongword", "b"}},
		{"indented", "  one two three", 9, []string{"  one two", "  three"}},
		{"in colour", paint("bold", "one two three"), 5, []string{paint("bold", "one two three")}},
		{"characters, not bytes", "ää ää ää", 5, []string{"ää ää", "ää"}},
		{"wide characters take two columns", "漢字 漢字 ok", 9, []string{"漢字 漢字", "ok"}},
		{"blank", "", 5, []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, wrap(tt.line, tt.width)) })
	}
}

func FuzzText(f *testing.F) {
	f.Add("Fixed the \x1b[31mlogin\u202e redirect\xff", 20)
	f.Add("- one two three\n", 7)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = 1 + (limit&0x7fffffff)%200
		for _, shown := range []string{visible(s), quote(s, limit)} {
			for _, r := range shown {
				if plaintext.IsInvisible(r) && !strings.ContainsRune("\u200c\u200d\ufe0e\ufe0f", r) {
					t.Fatalf("%q shows %q", s, r)
				}
			}
			if !utf8.ValidString(shown) {
				t.Fatalf("%q is shown as invalid UTF-8", s)
			}
		}
		if n := utf8.RuneCountInString(quote(s, limit)); n > limit+2 {
			t.Fatalf("a quote of at most %d has %d characters", limit, n-2)
		}
		squeeze := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
		}
		line := strings.ToValidUTF8(s, "?")
		if parts := wrap(line, limit); squeeze(strings.Join(parts, "")) != squeeze(line) {
			t.Fatalf("wrapping %q loses or adds text: %q", line, parts)
		}
	})
}

// Data stays on its line in each text of views.txt, whatever is in it.
func TestViewsKeepDataOnItsLine(t *testing.T) {
	texts := func(s string) map[string]any {
		items := []verify.Item{{Severity: "high", File: s, Issue: s, Suggestion: s}}
		checked := []verify.RequirementCheck{{ID: s, Requirement: s, Issue: s}}
		honesty := verify.Honesty{Discrepancies: []verify.Discrepancy{{Kind: verify.TestsTampered, Subject: s, Found: s}},
			Unchecked: []string{s}}
		facts := verify.Facts{Suspects: []verify.Suspect{{Path: s, Why: s}}, Unseen: []string{s},
			Runs: []verify.Run{{Command: []string{s}, Why: s, Failures: []string{s}, Withheld: []string{s}}}}
		facts.BaseRuns = facts.Runs
		since := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
		goal := project.Goal{Plan: s, Stages: []string{s}, Session: s, Criteria: []verifier.Criterion{
			{Text: s, Since: since, Saw: s, Checks: []plancriteria.Check{{Command: s}}}, {Text: s}}}
		return map[string]any{
			"verification": &verification{Verdict: "unverified", Why: []string{s}, Plan: s, Honesty: honesty, Facts: facts,
				Concerns: []string{s}, Decision: verify.Decision{Requirements: checked}},
			"review": &verification{Plan: s, Honesty: honesty, Facts: facts, Concerns: []string{s},
				Decision: verify.Decision{TaskID: s, Requirements: checked}},
			"recorded": map[string]any{"Decision": verify.Decision{Verdict: verify.Feedback, Items: items},
				"Overrides": []string{s}, "Honesty": honesty, "Stalled": true},
			"goal": goal,
			"replay": map[string]any{"Rows": []replaySession{{File: s, Agent: "a", Session: s}}, "More": 0, "Pauses": 0,
				"Fallbacks": 1, "Failed": s, "LLM": &judgeTotals{1, classify.Usage{Model: s}}, "LongLines": 0, "Others": 0,
				"Reasons": map[string]int{s: 1}, "Interrupted": false, "Files": 0},
			"folder": map[string]any{"Folder": project.Folder{Root: s, Files: []string{s}}, "Config": []string{s},
				"Skills": []skills.Skill{{Trigger: s, Description: s}}, "Skipped": []error{errors.New(s)}},
		}
	}
	hostile := texts("x\nunseen\tforged\x1b[2J\u202e\r")
	for name, plain := range texts("x") {
		show := func(data any) string {
			if g, ok := data.(project.Goal); ok {
				return terminal{}.show(goalTable(g, g.Plan))
			}
			return terminal{}.show(view(name, data))
		}
		text := show(hostile[name])
		assert.Equal(t, strings.Count(show(plain), "\n"), strings.Count(text, "\n"), "%s: %s", name, text)
		assert.NotContains(t, text, "\nunseen forged")
		for _, raw := range []string{"\x1b", "\u202e", "\r"} {
			assert.NotContains(t, text, raw, name)
		}
	}
}
