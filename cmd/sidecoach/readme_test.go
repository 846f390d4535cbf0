package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// What README shows as the command's output is what it prints.
func TestReadmeTranscript(t *testing.T) {
	_, blocks := readme(t, "console")
	require.NotEmpty(t, blocks)
	command, want, _ := strings.Cut(blocks[0], "\n")
	args, ok := strings.CutPrefix(command, "$ go run ./cmd/sidecoach ")
	require.True(t, ok, command)
	t.Chdir("../..")
	var stdout, stderr bytes.Buffer
	require.Zero(
		t,
		run(context.Background(), strings.Fields(args), strings.NewReader(""), &stdout, &stderr),
		stderr.String(),
	)
	assert.Equal(t, want, stdout.String())
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
	assert.Less(t, strings.Count(text, "\n"), 180)
	for _, part := range strings.Split(text, "](")[1:] {
		link, _, _ := strings.Cut(part, ")")
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
