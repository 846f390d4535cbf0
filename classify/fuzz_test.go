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
// the text at character boundaries, the same answer twice, and nothing that an added fence changes in the agent's voice.
func FuzzClassify(f *testing.F) {
	for _, c := range loadCases(f, "cases/*.jsonl") {
		f.Add(c.Input.Text, c.Input.Request)
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
	lines := lineReader{text: text}
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
		r := lineReader{text: s}
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
