package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the agent, as the program itself is: turns start os.Executable.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-play" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTurns(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), nil, &out))
	scenes := strings.Split(out.String(), "=== turn ")
	require.Len(t, scenes, 5)
	for i, want := range []struct {
		decisions []string
		runs      int
	}{
		{[]string{"continue · continuing · rejected_completion", "suppress · duplicate · run_closed",
			"deliver · completed · completion"}, 2},
		{[]string{"continue · continuing · rejected_completion", "deliver · stalled · repeat"}, 3},
		{[]string{"deliver · needs_human · question"}, 1},
		{[]string{"deliver · failed · crash_guard"}, 1},
	} {
		scene := scenes[i+1]
		for _, d := range want.decisions {
			assert.Contains(t, scene, d)
		}
		assert.Equal(t, want.runs, strings.Count(scene, "agent     "), scene)
	}
	coaching := strings.Split(scenes[2], "coach     ")
	require.Len(t, coaching, 3, "an insisting agent is coached twice")
	assert.NotEqual(t, coaching[1], coaching[2], "and firmer the second time")
}

func TestOwnAgent(t *testing.T) {
	if _, err := exec.LookPath("echo"); err != nil {
		t.Skip("there is no echo command to be the agent")
	}
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), []string{"--", "echo", "Which of the two do you want?"}, &out))
	assert.Contains(t, out.String(), "deliver · needs_human · question")

	err := run(context.Background(), []string{"--", "./no-such-agent"}, &out)
	assert.ErrorContains(t, err, "start the agent")
}
