package transcript

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scriptEffects returns what a script does that runs in dir.
func scriptEffects(p project, dir, script string) []effect {
	w := walker{project: p, dir: dir}
	return w.script(script)
}

// doings writes what a script does in a few words, see testdata/scripts.txt.
func doings(script string) string {
	var words []string
	for _, e := range scriptEffects(project("/home/ada/shop"), "/home/ada/shop", script) {
		switch {
		case e.Unknown:
			words = append(words, "unknown")
		case e.Moves:
			words = append(words, "move")
		case e.Layout && len(e.Edits) > 0:
			words = append(words, "link")
		case len(e.Edits) > 0:
			var files []string
			for _, f := range e.Edits {
				files = append(files, strings.TrimPrefix(f, "/home/ada/shop/"))
			}
			words = append(words, strings.TrimSpace("edit "+strings.Join(files, ",")))
		case e.Elsewhere && e.Check == "":
			words = append(words, "else")
		}
		if e.Check != "" {
			words = append(words, string(e.Check)+[]string{"", "?", "!"}[e.Status])
		}
	}
	return strings.Join(words, " ")
}

// Each script of scripts.txt does what it says.
func TestScripts(t *testing.T) {
	text, err := os.ReadFile("testdata/scripts.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if want, script, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			t.Run(script, func(t *testing.T) { require.Equal(t, want, doings(unescape.Replace(script))) })
		}
	}
	for _, script := range []string{
		strings.Repeat("(", 500_000), strings.Repeat("{ ", 20_000), strings.Repeat("x ", 40_000),
		"echo \"${a:-" + strings.Repeat("${a:-", 300),
	} {
		require.Equal(t, "unknown", doings(script), "%.40s…", script)
	}
}

// Variables that hold others many times do not grow without end.
func TestVariablesAreBounded(t *testing.T) {
	script := "a=0123456789\n"
	for c := 'b'; c <= 'z'; c++ {
		script += string(c) + "=" + strings.Repeat("$"+string(c-1), 40) + "\n"
	}
	require.Equal(t, "test", doings(script+"go test -run $z"))
}

// Scripts within the bounds that nest as deep as they can are read without harm.
func TestNestedScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for _, s := range []string{"if ", "! ", "f() ", "time ", "while ", "case x in x) ", "[[ ! ", "a && ", "a | ",
		"coproc ", "((1+", "$((", "<(", "`"} {
		scriptEffects(project(""), "", strings.Repeat(s, maxScript/len(s)))
	}
}

// A check covers another that it has no word less to choose by.
func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		later, earlier string
		covers         bool
	}{
		{"go test ./...", "go test ./...", true},
		{"go test -count=1 -race ./...", "go test ./... 2>&1 | tail -5", true},
		{"go test ./...", "go test ./auth", true},
		{"go test ./auth", "go test ./...", false},
		{"go test -run TestA ./...", "go test ./...", false},
		{"go test ./...", "go test -run TestA ./...", true},
		{"go test -short ./...", "go test ./...", false},
		{"go test -timeout 60s ./...", "go test ./...", true},
		{"pytest", "pytest tests/a.py -q", true},
		{"pytest tests/a.py", "pytest tests/b.py", false},
		{"pytest -k login", "pytest", false},
		{"npm test", "cd web && npm test", true},
		{"cargo test", "go test ./...", false},
		{"npx jest", "./node_modules/.bin/jest --ci", true},
	} {
		effect := func(script string) effect {
			list := scriptEffects(project(""), "", script)
			require.Len(t, list, 1, script)
			return list[0]
		}
		require.Equal(t, tt.covers, covers(effect(tt.later), effect(tt.earlier)), "%s after %s", tt.later, tt.earlier)
	}
}

// A script is the agent's: whatever it is, reading it ends, in bounds. What follows "&" is in the background.
func FuzzScript(f *testing.F) {
	for _, s := range []string{
		"go test ./... || true", "cat <<EOF\nx\nEOF", "a $(b \"c $(d)\") `e`", "if x; then y; fi",
		"bash -c 'bash -c \"go test\"'", "2>&1 >a <<<b &>c", "\\", "go test; >a", "go test | x; echo ${PIPESTATUS[0]} $?",
		"sed -i s/a/b/ a.go", "git -C x commit",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list := scriptEffects(project("/w"), "/w", s)
		require.LessOrEqual(t, len(list), maxEffects)
		for _, e := range list {
			require.True(t, e.matters())
			require.LessOrEqual(t, len([]rune(e.Name)), maxCommand)
			require.LessOrEqual(t, len(e.Scope), maxScope)
		}
		if !strings.ContainsAny(s, "'\"`$\\<>#(){}\n;&|!=") && strings.TrimSpace(s) != "" {
			for _, e := range scriptEffects(project(""), "", s+" &") {
				require.True(t, e.Unknown || e.Status == statusHidden, "%q", e.Name)
			}
		}
	})
}
