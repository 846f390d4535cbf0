package main

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/loop"
)

// verifySeconds is what a host waits for a hook that verifies, beyond what it waits for any. The command has most of
// it; looking at the repository, before and after, has the rest.
const (
	verifySeconds = 300
	verifyCommand = (verifySeconds - 30) * time.Second
)

// commandFlag is a flag that takes a command line which needs no shell. Empty is none.
type commandFlag struct {
	line  string
	words []string
}

func (c *commandFlag) String() string { return c.line }
func (c *commandFlag) Type() string   { return "COMMAND" }

func (c *commandFlag) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		*c = commandFlag{}
		return nil
	}
	words, err := cmdwitness.Split(s)
	if err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "cmdwitness: "))
	}
	*c = commandFlag{s, words}
	return nil
}

// verifier returns what looks at a claim of completion in a folder, nil without a command.
func (c *commandFlag) verifier(dir string, plans fs.FS) (autocontinue.Verifier, error) {
	if c.words == nil {
		return nil, nil
	}
	ws, err := lookFrom(dir, verifyCommand)
	if err != nil {
		return nil, err
	}
	v, err := loop.New(loop.Config{Witnesses: ws.list, Commands: [][]string{c.words}, Plans: plans})
	if err != nil {
		return nil, err
	}
	return patientVerifier{v}, nil
}

// patientVerifier gives up before the host does. What it did not see then is unverified.
type patientVerifier struct{ autocontinue.Verifier }

func (p patientVerifier) Verify(ctx context.Context, out autocontinue.Output, r classify.Result) (autocontinue.Verification, error) {
	ctx, cancel := context.WithTimeout(ctx, verifySeconds*time.Second)
	defer cancel()
	return p.Verifier.Verify(ctx, out, r)
}
