package sidecoachotel

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

func TestTheReadmeListsTheInstruments(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("| instrument | kind, unit | attributes | what |\n|---|---|---|---|\n")
	for _, in := range table {
		kind := "counter"
		if in.buckets != nil {
			kind = "histogram"
		}
		keys := make([]string, 0, len(in.attributes))
		for _, k := range in.attributes {
			keys = append(keys, "`"+string(k)+"`")
		}
		fmt.Fprintf(&rows, "| `%s` | %s, `%s` | %s | %s |\n", in.name, kind, in.unit, strings.Join(keys, " "), in.description)
	}
	assert.Contains(t, read(t, "../README.md"), "\n"+rows.String()+"\n", "the README should have this table:\n%s",
		rows.String())
}

func TestTheReadmeShowsTheExample(t *testing.T) {
	_, block, ok := strings.Cut(read(t, "../README.md"), "```go\n")
	require.True(t, ok)
	block, _, _ = strings.Cut(block, "```")
	_, example, _ := strings.Cut(read(t, "example_test.go"), "\tmetrics := ")
	_, example, _ = strings.Cut(example, "\n\n")
	example, _, ok = strings.Cut(example, "\n\n\t// What there is to see:")
	require.True(t, ok)
	var lines []string
	for _, line := range strings.Split(example, "\n") {
		lines = append(lines, strings.TrimPrefix(line, "\t"))
	}
	assert.Equal(t, strings.Join(lines, "\n"), strings.TrimSuffix(block, "\n"))
}

func TestTheReadmeListsTheCodes(t *testing.T) {
	listed := func(codes []string) string { return "`" + strings.Join(codes, "`, `") + "`\n" }
	var ours, theirs []string
	for _, known := range errorCodes {
		ours = append(ours, known.code)
	}
	for _, f := range failures {
		if !slices.Contains(theirs, f.code) {
			theirs = append(theirs, f.code)
		}
	}
	readme := read(t, "../README.md")
	assert.Contains(t, readme, "- `error.type`: "+listed(ours))
	assert.Contains(t, readme, "- `sidecoach.fallback.kind`: "+listed(append(theirs, "canceled")))
}
