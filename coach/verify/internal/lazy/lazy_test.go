package lazy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// Each name of a list or a pattern in the code has an entry, and each entry is used.
func TestNames(t *testing.T) {
	entries := map[string]string{"../..": "lexicon.txt", "../../gitwitness": "patterns.txt",
		"../../cmdwitness": "patterns.txt", "../testcode": "patterns.txt", "../project": "projects.txt"}
	for dir, file := range entries {
		text, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		var code strings.Builder
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			source, err := os.ReadFile(name)
			require.NoError(t, err)
			code.Write(source)
		}
		var names []string
		for name, body := range lazy.Entries(string(text)) {
			names = append(names, name)
			quoted := regexp.MustCompile(`"[^"\n]*\b` + regexp.QuoteMeta(name) + `\b[^"\n]*"`)
			used := quoted.MatchString(code.String()) || strings.Contains(string(text), "{{"+name+"}}")
			assert.True(t, used || strings.HasPrefix(name, "fix "), "%s/%s: nothing uses %s", dir, file, name)
			assert.NotEmpty(t, body, name)
		}
		for _, m := range regexp.MustCompile(`\blex\("([\w ]+)"\)`).FindAllStringSubmatch(code.String(), -1) {
			assert.True(t, slices.Contains(names, m[1]), "%s/%s has no %s", dir, file, m[1])
		}
	}
}
