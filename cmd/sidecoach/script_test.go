package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestMain(m *testing.M) {
	testscript.Main(cleanUp{m}, map[string]func(){"sidecoach": main})
}

// cleanUp removes what the tests built.
type cleanUp struct{ *testing.M }

func (c cleanUp) Run() int {
	status := c.M.Run()
	if dir, err := plainProgram(); raceDetector && err == nil {
		os.RemoveAll(dir)
	}
	return status
}

// raceDetector says that this test binary has the race detector.
var raceDetector bool

// raced are the scripts whose programs have the race detector, where the tests have it: between them they start each
// command. The others start a program without it, which is ten times as fast.
var raced = []string{"session", "hook", "log", "eval", "replay", "verify"}

// plainProgram builds the program without the race detector and returns its folder.
var plainProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sidecoach")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

// TestScripts runs testdata/script. Beside the usual commands a script has
//
//	exits STATUS program [args...]
//
// which runs a program as exec does and wants that exit status.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			cache, err := exec.Command("go", "env", "GOCACHE").Output() // a cache of its own would build the standard library
			if err == nil {
				env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			}
			name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
			if raceDetector && !slices.Contains(raced, name) {
				dir, err := plainProgram()
				if err != nil {
					return err
				}
				env.Setenv("PATH", dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
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
