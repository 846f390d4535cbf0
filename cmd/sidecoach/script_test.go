package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sidecoach": main})
}

// raceDetector says that this test binary has the race detector.
var raceDetector bool

// raced are the scripts that run under the race detector too: between them they start each kind of process.
var raced = []string{"example_shell", "allow", "eval", "secrets", "hook_verify"}

// TestScripts runs testdata/script. Beside the usual commands a script has
//
//	exits STATUS program [args...]
//
// which runs a program as exec does and wants that exit status.
func TestScripts(t *testing.T) {
	cache, _ := exec.Command("go", "env", "GOCACHE").Output() // a cache of its own would build the standard library
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			env.Setenv("GIT_TEMPLATE_DIR", "")         // a dozen examples of hooks
			env.Setenv("GORACE", "atexit_sleep_ms=20") // not a second for each process
			name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
			if raceDetector && !slices.Contains(raced, name) {
				env.T().Skip("the scripts that run start each command")
			}
			// example_shell runs it
			script, err := os.ReadFile("../../examples/shell/loop.sh")
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "shell-loop.sh"), script, 0o777)
		},
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exits STATUS program [args...]")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				if err := ts.Exec(args[1], args[2:]...); err != nil {
					e, ok := errors.AsType[*exec.ExitError](err)
					if !ok {
						ts.Fatalf("cannot run %s: %v", args[1], err)
					}
					got = e.ExitCode()
				}
				if got != want {
					ts.Fatalf("exit status %d, want %d", got, want)
				}
			},
		},
	})
}

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
