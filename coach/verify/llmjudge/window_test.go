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

func TestWindowShowsAllThatFits(t *testing.T) {
	diff := filePatch("a.go", 3) + filePatch("b.go", 3)
	shown, whole := window(diff, len(diff))
	assert.True(t, whole)
	assert.Equal(t, diff, shown)
	shown, whole = window("", 100)
	assert.True(t, whole)
	assert.Empty(t, shown)
}

func TestWindowCutsTheLargestFiles(t *testing.T) {
	small := filePatch("small.go", 5)
	shown, whole := window(filePatch("big.go", 10_000)+small+filePatch("huge.go", 50_000), 10_000)
	assert.False(t, whole)
	assert.LessOrEqual(t, len(shown), 10_000)
	assert.Contains(t, shown, small, "a small one is shown whole")
	for _, want := range []string{"+line 0 of big.go\n", "+line 9999 of big.go\n", "+line 0 of huge.go\n", "+line 49999 of huge.go\n"} {
		assert.Contains(t, shown, want)
	}
	assert.Equal(t, 2, strings.Count(shown, "of this file's change left out …]\n"))
}

func TestWindowNamesFilesThatDoNotFit(t *testing.T) {
	var diff strings.Builder
	for i := range 500 {
		diff.WriteString(filePatch(fmt.Sprintf("f%03d.go", i), 30))
	}
	shown, whole := window(diff.String(), 20_000)
	assert.False(t, whole)
	assert.LessOrEqual(t, len(shown), 20_000)
	assert.Contains(t, shown, "+line 0 of f000.go\n")
	assert.Contains(t, shown, "[left out: diff --git a/f0")
}

// Whatever a patch holds, what is shown is bounded and valid; and it is the patch if that fits.
func FuzzWindow(f *testing.F) {
	f.Add(filePatch("a.go", 50)+filePatch("é.go", 5), 300)
	f.Add(strings.Repeat("\ndiff --git ", 50), 100)
	f.Fuzz(func(t *testing.T, diff string, max int) {
		if max < 1 || max > 1<<20 || !utf8.ValidString(diff) {
			t.Skip("no bound or text that window is given")
		}
		shown, whole := window(diff, max)
		require.LessOrEqual(t, len(shown), max)
		require.True(t, utf8.ValidString(shown))
		require.Equal(t, len(diff) <= max, whole)
		if whole {
			require.Equal(t, diff, shown)
		}
	})
}
