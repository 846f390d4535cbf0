package cmdwitness

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"go test ./...":                    {"go", "test", "./..."},
		"  go\ttest   ./...  ":             {"go", "test", "./..."},
		`go test -run 'TestA|TestB' ./...`: {"go", "test", "-run", "TestA|TestB", "./..."},
		`go test -run "^Test(A|B)" ./...`:  {"go", "test", "-run", "^Test(A|B)", "./..."},
		`a ''`:                             {"a", ""},
		`a b\ c`:                           {"a", "b c"},
		`a "b\"c\d"`:                       {"a", `b"c\d`},
		"a '*' \"[x]\" \\*":                {"a", "*", "[x]", "*"},
		`make VERBOSE=1 test#fast a~b`:     {"make", "VERBOSE=1", "test#fast", "a~b"},
		`'a=b' c`:                          {"a=b", "c"},
	} {
		got, err := Split(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, got, line)
	}
}

func TestSplitRefusesWhatNeedsAShell(t *testing.T) {
	for line, why := range map[string]string{
		"go test ./... | tail": "it needs a shell", "go test && rm -rf x": "it needs a shell", "a; b": "it needs a shell",
		"a $HOME":  "it needs a shell",
		`a "$(b)"`: "it needs a shell", "a `b`": "it needs a shell", "a >b": "it needs a shell", "a *.go": "it needs a shell",
		"a ~/b": "it needs a shell", "a &": "it needs a shell",
		"(a)": "it needs a shell", "! a": "it needs a shell", "a\nb": "it needs a shell",
		"CGO_ENABLED=0 go test .": "it sets a variable",
		"a 'b":                    "is a quote not closed?", "": "the command is empty", " \t": "the command is empty",
		`""`: "the command is empty", "# no more": "the command is empty",
		strings.Repeat("(", 500_000): "too long", strings.Repeat("a ", 10_000): "too long",
	} {
		_, err := Split(line)
		assert.ErrorContains(t, err, why, "%q", line)
	}
}

// What was quoted for a shell comes back as it was.
func FuzzSplit(f *testing.F) {
	f.Add("go", "test", "./...")
	f.Add("a b", `c"d\`, "$(rm)'`")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var quoted []string
		for _, w := range []string{a, b, c} {
			if strings.ContainsAny(w, "\x00\n\r") || strings.ToValidUTF8(w, "") != w || len(w) > 1000 ||
				strings.Count(w, "(") > 30 {
				t.Skip("a word that no command line holds")
			}
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		got, err := Split(strings.Join(quoted, " "))
		if a == "" {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, []string{a, b, c}, got, fmt.Sprint(quoted))
	})
}
