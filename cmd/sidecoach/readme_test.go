package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updatePicture = flag.Bool("update-picture", false, "draw the README's picture of the terminal anew")

// readme returns the README and the content of its fenced blocks with the given info string.
func readme(t *testing.T, info string) (text string, blocks []string) {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	text = strings.ReplaceAll(string(b), "\r\n", "\n")
	for _, part := range strings.Split(text, "```"+info+"\n")[1:] {
		block, _, ok := strings.Cut(part, "```")
		require.True(t, ok, "a fence is not closed")
		blocks = append(blocks, block)
	}
	return text, blocks
}

// The README's picture of the terminal shows what the README's command prints.
func TestReadmePicture(t *testing.T) {
	text, _ := readme(t, "sh")
	_, after, ok := strings.Cut(text, "go run ./cmd/sidecoach ")
	require.True(t, ok)
	file, _, _ := strings.Cut(after, " ")
	t.Chdir("../..")
	var stdout, stderr bytes.Buffer
	require.Zero(t, run(context.Background(), []string{file}, strings.NewReader(""), &stdout, &stderr), stderr.String())
	got := picture("$ go run ./cmd/sidecoach " + file + "\n" + stdout.String())
	const path = ".github/terminal.svg"
	if *updatePicture {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got, "draw it with -update-picture")
}

// picture draws a terminal of 100 columns that shows the text.
func picture(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		for len(line) > 100 {
			cut := strings.LastIndexByte(line[:100], ' ')
			lines, line = append(lines, line[:cut]), "  "+line[cut+1:]
		}
		lines = append(lines, line)
	}
	var b strings.Builder
	height := 20*len(lines) + 32
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 %d" font-family="ui-monospace, `+
		`SFMono-Regular, Menlo, Consolas, monospace" font-size="14"><title>A run of sidecoach in a terminal</title>`+"\n"+
		`<rect width="880" height="%d" rx="8" fill="#15191e"/>`+"\n", height, height)
	color := "#e6e6e6"
	for i, line := range lines {
		switch {
		case i == 0:
			color = "#9aa4af"
		case i == 1:
			color = "#7fd1a8"
		case strings.HasPrefix(line, "send to the agent"):
			color = "#9aa4af"
		case strings.Contains(line, "[System Coach]"):
			color = "#f2c879"
		case i == 2:
			color = "#e6e6e6"
		}
		fmt.Fprintf(&b, `<text x="20" y="%d" fill="%s" xml:space="preserve">`, 20*i+32, color)
		xml.EscapeText(&b, []byte(line)) //nolint:errcheck // a Builder does not fail
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// The program that README shows is a part of a compiled example.
func TestReadmeProgram(t *testing.T) {
	_, blocks := readme(t, "go")
	require.Len(t, blocks, 1)
	src, err := os.ReadFile("../../autocontinue/example_host_test.go")
	require.NoError(t, err)
	var body strings.Builder
	for line := range strings.Lines(blocks[0]) {
		if strings.TrimSpace(line) != "" {
			body.WriteByte('\t')
		}
		body.WriteString(line)
	}
	assert.Contains(t, strings.ReplaceAll(string(src), "\r\n", "\n"), body.String())
}

// README's links lead somewhere, and it stays short.
func TestReadmeLinks(t *testing.T) {
	text, _ := readme(t, "go")
	assert.LessOrEqual(t, strings.Count(text, "\n"), 120)
	for _, part := range strings.Split(text, "](")[1:] {
		link, _, _ := strings.Cut(part, ")")
		link, _, _ = strings.Cut(link, "#")
		_, err := os.Stat(filepath.Join("../..", link))
		assert.NoError(t, err)
	}
}

// Each of the outputs that ship gets the decision that its name promises.
func TestExampleOutputs(t *testing.T) {
	want := map[string]string{
		"answer":               "deliver · completion",
		"api-error":            "deliver · error · crash guard",
		"approval":             "deliver · question",
		"bare-tests":           "continue · rejected completion",
		"blank":                "continue · empty output",
		"blocker":              "deliver · blocker",
		"empty-promise":        "continue · rejected completion",
		"evidenced-completion": "deliver · completion",
		"fenced-error":         "deliver · completion",
		"forged-coach":         "continue · rejected completion",
		"hollow-completion":    "continue · rejected completion",
		"honest-progress":      "continue · status",
		"no-tests-ran":         "continue · rejected completion",
		"partial-work":         "continue · rejected completion",
		"question":             "deliver · question",
		"rhetorical-question":  "deliver · completion",
		"stack-trace":          "deliver · error · crash guard",
	}
	paths, err := filepath.Glob("../../examples/outputs/*.txt")
	require.NoError(t, err)
	assert.Len(t, paths, len(want))
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		var stdout, stderr bytes.Buffer
		require.Zero(t, run(context.Background(), []string{path}, strings.NewReader(""), &stdout, &stderr), stderr.String())
		assert.True(t, strings.HasPrefix(stdout.String(), want[name]), "%s: %s", name, stdout.String())
	}
}
