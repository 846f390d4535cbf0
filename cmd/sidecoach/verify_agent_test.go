package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// The commands that a coach is told to call are there, with the flags that it is told to give.
func TestAgentsCommandsAreThere(t *testing.T) {
	var called []string
	for i, block := range strings.Split(verify.Agent(), "```") {
		code, ok := strings.CutPrefix(block, "sh\n")
		if i%2 == 0 || !ok {
			continue
		}
		for line := range strings.Lines(code) {
			line, _, _ = strings.Cut(line, " <")
			words := strings.Fields(line)
			require.Equal(t, []string{"sidecoach", "verify"}, words[:2])
			cmd, args, err := newVerify(terminal{}).Find(words[2:])
			require.NoError(t, err)
			require.NoError(t, cmd.ParseFlags(args))
			called = append(called, cmd.Name())
		}
	}
	require.Equal(t, []string{"begin", "record"}, called)
	require.Contains(t, verify.Agent(), "`verify begin`")
}
