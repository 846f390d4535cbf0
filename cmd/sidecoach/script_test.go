package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sidecoach": main})
}

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
