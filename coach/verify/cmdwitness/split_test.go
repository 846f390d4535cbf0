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
		"go test ./... | tail":    "'|' in the command needs a shell",
		"go test && rm -rf x":     "'&'",
		"a; b":                    "';'",
		"a $HOME":                 "'$'",
		`a "$(b)"`:                "'$'",
		"a `b`":                   "'`'",
		"a >b":                    "'>'",
		"a *.go":                  "'*'",
		"a # no more":             "'#'",
		"a ~/b":                   "'~'",
		"CGO_ENABLED=0 go test .": "a variable set before the command",
		"a 'b":                    "a quote in the command is not closed",
		`a b\`:                    "a quote in the command is not closed",
		"a\nb":                    "more than one line",
		"a\x00b":                  "more than one line",
		"":                        "the command is empty",
		" \t":                     "the command is empty",
		`""`:                      "the command is empty",
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
			if strings.ContainsAny(w, "\x00\n\r") || strings.ToValidUTF8(w, "") != w {
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
