package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// TestMain lets the test binary be an agent.
func TestMain(m *testing.M) {
	switch what := os.Getenv("SIDECOACH_AGENT"); what {
	case "":
		os.Exit(m.Run())
	case "echo":
		dir, err := os.Getwd()
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(strings.Join(os.Args[1:], "|") + "\n" + filepath.Base(dir) + "\n" + os.Getenv("PATH"))
	case "fail":
		os.Stdout.WriteString("half done")
		os.Stderr.WriteString("API Error: 529 overloaded")
		os.Exit(3)
	case "long":
		os.Stdout.WriteString("begin" + strings.Repeat("x", 3*maxPrinted) + "end")
	case "hang":
		os.Stdout.WriteString("I have begun.")
		os.Stdout.Close()
		select {}
	}
}

func program(t *testing.T, what string) Process {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	return Process{Command: []string{exe, "first"}, Dir: t.TempDir(), Env: []string{"SIDECOACH_AGENT=" + what}}
}

func TestProcess(t *testing.T) {
	a := program(t, "echo")
	r, err := a.Run(t.Context(), Prompt{Message: "fix the cart; rm -rf /"})
	require.NoError(t, err)
	assert.Equal(t, Reply{Text: "first|fix the cart; rm -rf /\n" + filepath.Base(a.Dir) + "\n"}, r,
		"nothing of the environment is inherited")

	r, err = a.Run(t.Context(),
		Prompt{Message: "x", Answers: []Answer{{Call: "c1", Tool: "read", Status: "denied", Reason: "no"}}})
	require.NoError(t, err)
	assert.Contains(t, r.Text, `{"call":"c1","tool":"read","status":"denied","reason":"no"}`)

	r, err = program(t, "fail").Run(t.Context(), Prompt{})
	require.NoError(t, err)
	assert.Equal(t, Reply{Text: "half done\nAPI Error: 529 overloaded", Failed: true}, r)

	r, err = program(t, "long").Run(t.Context(), Prompt{})
	require.NoError(t, err)
	assert.Len(t, r.Text, maxPrinted)
	assert.True(t, strings.HasSuffix(r.Text, "xend"))
}

func TestProcessIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := program(t, "hang")
	done := make(chan Reply)
	go func() {
		r, err := a.Run(ctx, Prompt{})
		assert.NoError(t, err)
		done <- r
	}()
	cancel()
	r := <-done // whether it had begun by then or not
	assert.False(t, r.Failed)
}

func TestProcessCannotStart(t *testing.T) {
	for _, a := range []Process{{}, {Command: []string{filepath.Join(t.TempDir(), "nothing")}},
		{Command: []string{os.Args[0]}, Dir: "nowhere"}} {
		_, err := a.Run(t.Context(), Prompt{})
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		assert.Equal(t, ErrRefused, app.Type(), "another try would not help")
	}
}

func TestFolder(t *testing.T) {
	f := Folder(t.TempDir())
	first := Effect{Key: "k", Session: "s", Action: autocontinue.Continue, Text: "go on"}
	again := first
	again.Text = "something else"
	other := first
	other.Session = "s2"
	for _, d := range []Effect{first, again, other, first} {
		require.NoError(t, f.Do(t.Context(), d))
	}
	effects, err := f.Effects()
	require.NoError(t, err)
	assert.ElementsMatch(t, []Effect{first, other}, effects)
	entries, err := os.ReadDir(string(f))
	require.NoError(t, err)
	assert.Len(t, entries, 2, "no half written file is left")

	require.Error(t, Folder(filepath.Join(t.TempDir(), "gone")).Do(t.Context(), first))
	require.NoError(t, os.WriteFile(filepath.Join(string(f), "x.json"), []byte("{"), 0o600))
	_, err = f.Effects()
	require.Error(t, err)
}

func TestRegisterLacks(t *testing.T) {
	require.ErrorContains(t, Register(nil, Activities{Judge: heuristic(t)}), "Outbox")
	require.ErrorContains(t, Register(nil, Activities{Outbox: &outbox{}}), "Judge")
}
