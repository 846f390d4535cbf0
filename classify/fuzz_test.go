package classify

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// FuzzClassify holds every verdict to what must be true of all: a valid type, a confidence from 0 to 1, spans inside
// the text at character boundaries, the same answer twice, and nothing that an added fence changes in the agent's
// voice.
func FuzzClassify(f *testing.F) {
	if testing.Short() {
		f.Skip("long under the race detector, and of one goroutine")
	}
	for i, c := range loadCases(f, "cases/*.jsonl") {
		if sweep || i%5 == 0 {
			f.Add(c.Input.Text, c.Input.Request)
		}
	}
	for _, text := range hostile {
		f.Add(text(2000), "")
	}
	h := newHeuristic(f)
	f.Fuzz(func(t *testing.T, text, request string) {
		in := Input{Text: text, Request: request}
		r, err := h.Classify(context.Background(), in)
		if err != nil || !r.Type.Valid() || !(r.Confidence >= 0 && r.Confidence <= 1) || r.Reason == "" {
			t.Fatalf("%+v %v", r, err)
		}
		if r.WasRejectedCompletion && r.Type != Status || r.CoachingMessage != "" {
			t.Fatalf("%+v", r)
		}
		checkSpans(t, r, text)

		again, _ := newHeuristic(t).Classify(context.Background(), in)
		if again.Type != r.Type || again.Confidence != r.Confidence || len(again.Signals) != len(r.Signals) {
			t.Fatalf("another answer the second time: %+v, %+v", r, again)
		}

		if r.SignalsDropped > 0 || !closed(text) {
			return
		}
		in.Text = text + "\n\n```\n" + strings.Join(slices.Sorted(maps.Values(inEach)), "\n") + "\n```\n"
		fenced, _ := h.Classify(context.Background(), in)
		if !slices.Equal(voiced(r), voiced(fenced)) {
			t.Fatalf("a fence changed what the prose says: %+v, %+v", r.Signals, fenced.Signals)
		}
	})
}

// closed reports whether text leaves no fence and no line open.
func closed(text string) bool {
	lines := newLineReader(text)
	for {
		if _, ok := lines.next(); !ok {
			return !lines.fence.open
		}
	}
}

// FuzzMask holds masking to its promise: no offset moves, what stays is the text in lower case.
func FuzzMask(f *testing.F) {
	f.Add("call `f(x)` and \"say\" it")
	f.Add("it's 5\" wide, “so” he «said» ``a`b``")
	f.Add("\x1b[31mFixed `\x1b[0m it` \x1b \x1b]0;A\a")
	f.Fuzz(func(t *testing.T, s string) {
		buf, _ := mask(nil, s)
		if len(buf) != len(s) {
			t.Fatalf("%d bytes became %d", len(s), len(buf))
		}
		escape := 0 // up to where an escape sequence goes
		for i := range buf {
			c := s[i]
			if c == '\x1b' && i >= escape {
				escape = i + max(1, plaintext.EscapeSequence(s[i:]))
			}
			switch {
			case i < escape:
				c = ' '
			case 'A' <= c && c <= 'Z':
				c += 'a' - 'A'
			}
			if buf[i] != c && buf[i] != masked && s[i] != masked {
				t.Fatalf("byte %d: %q became %q", i, s[i], buf[i])
			}
			if buf[i] == masked && i > 0 && buf[i-1] != masked && !utf8.RuneStart(s[i]) && utf8.ValidString(s) {
				t.Fatalf("the mask begins inside a character at %d", i)
			}
		}
	})
}

// FuzzLines holds the line reader to this: lines come in order, hold no line break, and miss nothing that can be seen.
func FuzzLines(f *testing.F) {
	f.Add("# a\r\n- [x] b\n\n```go\nc\n```\n> d\n| e |\n1. f")
	f.Fuzz(func(t *testing.T, s string) {
		r := newLineReader(s)
		at, lines := 0, 0
		for {
			l, ok := r.next()
			if !ok {
				break
			}
			if l.start < at || l.end < l.start || l.end > len(s) {
				t.Fatalf("line %d to %d after %d", l.start, l.end, at)
			}
			if strings.ContainsAny(s[l.start:l.end], "\r\n") {
				t.Fatalf("a line break in %q", s[l.start:l.end])
			}
			at = l.end
			lines++
		}
		if want := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n"); lines < want {
			t.Fatalf("%d lines of %d", lines, want)
		}
	})
}

// FuzzLexicon: whatever a table holds, it is compiled or refused, and then read with, without a panic.
func FuzzLexicon(f *testing.F) {
	f.Add("[claim done start]\nall done|finished\n# of # [@w]\n", "All done.")
	f.Add("@a = b|c\n[ignore x]\n@a ... ~ing {code} {n/n}\n", "b c doing `x` 3/3")
	src, err := embedded.ReadFile("lexicon/en.txt")
	if err != nil {
		f.Fatal(err)
	}
	groups := string(src[:strings.Index(string(src), "[ignore")])
	f.Fuzz(func(t *testing.T, table, text string) {
		h, err := NewHeuristic(Tables(fstest.MapFS{"en.txt": {Data: []byte(groups + table)}}))
		if err != nil {
			return
		}
		r, err := h.Classify(context.Background(), Input{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		checkSpans(t, r, text)
	})
}

// FuzzLayout holds the verdict to what can be seen: line breaks of another kind, blank lines and trailing spaces
// never change it.
func FuzzLayout(f *testing.F) {
	if testing.Short() {
		f.Skip("long under the race detector, and of one goroutine")
	}
	for i, c := range loadCases(f, "cases/*.jsonl") {
		if i%20 == 0 { // TestVerdictIgnoresLayout has more
			f.Add(c.Input.Text)
		}
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
			if got.Type != want.Type || got.WasRejectedCompletion != want.WasRejectedCompletion ||
				got.Confidence != want.Confidence {
				t.Fatalf("%s: %+v became %+v", name, want, got)
			}
		}
	})
}

// longTexts are cases of every language one below the other, so long that only a part of a text tells its script.
func longTexts(tb testing.TB) []string {
	cases := loadCases(tb, "cases/*.jsonl")
	var texts []string
	for first := range 20 {
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
