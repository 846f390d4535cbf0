package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// Help is read in terminals of 80 columns, which break what is wider in the middle of a word.
func TestHelpFitsATerminal(t *testing.T) {
	for _, name := range []string{"", "completion", "eval", "help", "hook", "hook claude", "hook codex", "hook gemini", "hook install", "hook uninstall", "log", "prompt", "verify", "verify agent", "verify begin", "verify record"} {
		help, errs, status := sidecoach(t, strings.NewReader(""), append([]string{"help"}, strings.Fields(name)...)...)
		require.Zero(t, status, errs)
		require.NotEmpty(t, help, name)
		for line := range strings.Lines(help) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, "%s: %s", name, line)
		}
	}
}

func TestEvalHelpExplainsEachFigure(t *testing.T) {
	help, errs, status := sidecoach(t, strings.NewReader(""), "eval", "--help")
	require.Zero(t, status, errs)
	for _, name := range evaluate.FigureNames() {
		assert.Regexp(t, `(?m)^  `+name+` +\w`, help)
	}
}
