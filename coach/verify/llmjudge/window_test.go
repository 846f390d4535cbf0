package llmjudge

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// filePatch is the patch of one file with that many lines.
func filePatch(name string, lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n", name, name, name, name)
	for i := range lines {
		fmt.Fprintf(&b, "+line %d of %s\n", i, name)
	}
	return b.String()
}

func TestWindow(t *testing.T) {
	small, big, huge := filePatch("small.go", 5), filePatch("big.go", 10_000), filePatch("huge.go", 50_000)
	many := strings.Repeat(small, 1000)
	for _, tt := range []struct {
		diff  string
		max   int
		whole bool
		want  []string
	}{
		{"", 100, true, nil},
		{small + small, 2 * len(small), true, []string{small + small}},
		{big + small + huge, 10_000, false, []string{small, "+line 0 of big.go\n", "+line 0 of huge.go\n", "left out"}},
		{many, 1000, false, []string{small}},
	} {
		shown, whole := window(tt.diff, tt.max)
		assert.Equal(t, tt.whole, whole)
		assert.LessOrEqual(t, len(shown), tt.max)
		for _, want := range tt.want {
			assert.Contains(t, shown, want)
		}
	}
}

// Whatever the patch is, what is shown is of the size, and text.
func FuzzWindow(f *testing.F) {
	f.Add(filePatch("a.go", 100), 500)
	f.Add("é"+strings.Repeat("\ndiff --git ", 50), 800)
	f.Fuzz(func(t *testing.T, diff string, max int) {
		if max < 1 || max > 1<<20 || !utf8.ValidString(diff) || strings.Contains(diff, "\x00") {
			t.Skip("the diff is cleaned before")
		}
		shown, whole := window(diff, max)
		require.LessOrEqual(t, len(shown), max)
		require.True(t, utf8.ValidString(shown))
		require.Equal(t, whole, shown == diff)
	})
}
