package llm

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "This is line number %04d of the output.\n", i)
	}
	return b.String()
}

func TestWindow(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("ä", maxWindow), numbered(10)} {
		w := windowOf(text, maxWindow)
		assert.Equal(t, text, w.String(), "whole")
		assert.Zero(t, w.left)
	}
	for name, text := range map[string]string{
		"lines":          numbered(1000),
		"just too long":  strings.Repeat("ä", maxWindow+1),
		"one line":       strings.Repeat("世界", 5000),
		"CR":             strings.Repeat("a\rb", 5000),
		"a short line":   "x\n" + strings.Repeat("y", 9000) + "\nz",
		"lines of lines": strings.Repeat(strings.Repeat("w ", 600)+"\n", 30),
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.TrimSpace(text)
			w := windowOf(text, maxWindow)
			s := w.String()
			require.LessOrEqual(t, utf8.RuneCountInString(s), maxWindow)
			require.Greater(t, utf8.RuneCountInString(s), maxWindow/2)
			require.True(t, utf8.ValidString(s))
			require.True(t, strings.HasPrefix(text, w.head))
			require.True(t, strings.HasSuffix(text, w.tail))
			require.Equal(t, text, w.head+text[w.from:w.to]+w.tail)
			require.Equal(t, utf8.RuneCountInString(text[w.from:w.to]), w.left)
			require.Greater(t, len(w.tail), len(w.head))
			require.Contains(t, s, fmt.Sprintf("[… %d characters left out …]", w.left))
		})
	}
}

func TestWindowCutsAtLines(t *testing.T) {
	w := windowOf(numbered(1000), maxWindow)
	assert.True(t, strings.HasSuffix(w.head, ".\n"))
	assert.True(t, strings.HasPrefix(w.tail, "This is line"))
}

func TestWindowAndBlanks(t *testing.T) {
	blank := strings.Repeat("\n", 5000)
	assert.Equal(t, "done", windowOf(blank+"done"+blank, maxWindow).String())
	w := windowOf(numbered(100)+blank, maxWindow)
	assert.True(t, strings.HasSuffix(w.tail, "0099 of the output."), "the tail shows words, not blanks")
	assert.Equal(t, "", windowOf(blank, maxWindow).String())
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"a\tb\nc":              "a\tb\nc",
		"a\r\nb\rc":            "a\nb\nc",
		"a\xff\xfeb":           "a\ufffdb",
		"\x1b[31mred\x1b[0m":   "[31mred[0m",
		"a\u202eb\u200b\ufeff": "ab",
		"\U000e0041x\x00\x7f":  "x",
		"ä世😀":                  "ä世😀",
	} {
		assert.Equal(t, want, clean(in), "%q", in)
	}
}

func TestLine(t *testing.T) {
	assert.Equal(t, "a b c", line(" a\n\tb \r\n c", 10))
	assert.Equal(t, "äöü…", line("äöüäöü", 4))
	assert.Equal(t, "", line("abc", 0))
	assert.Equal(t, 60, utf8.RuneCountInString(line(strings.Repeat("世", 1<<20), 60)))
}

func FuzzWindow(f *testing.F) {
	f.Add(numbered(8), 240)
	f.Add("a\nb\nc\nd", 3)
	f.Add(strings.Repeat("世", 70)+"\n", 60)
	f.Fuzz(func(t *testing.T, text string, max int) {
		if max < 0 || max > 1<<20 || len(text) > 1<<14 {
			return
		}
		text = clean(text)
		w := windowOf(text, max)
		s := w.String()
		if !utf8.ValidString(s) {
			t.Fatalf("%q", s)
		}
		if w.left == 0 {
			if s != text && s != strings.TrimSpace(text) {
				t.Fatalf("%q is neither whole nor marked", s)
			}
			return
		}
		if !strings.HasPrefix(strings.TrimSpace(text), strings.TrimSpace(w.head)) || !strings.HasSuffix(strings.TrimSpace(text), w.tail) {
			t.Fatalf("%q ... %q", w.head, w.tail)
		}
		if n := utf8.RuneCountInString(s); max >= maxMark && n > max {
			t.Fatalf("%d characters, not %d", n, max)
		}
		if shown := utf8.RuneCountInString(w.head) + utf8.RuneCountInString(w.tail); shown+w.left != utf8.RuneCountInString(text) {
			t.Fatalf("%d shown and %d left out of %d", shown, w.left, utf8.RuneCountInString(text))
		}
	})
}
