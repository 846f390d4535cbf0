package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
)

// verifySeconds is how long a hook verifies, everything included: the command, its second run, and the baseline. A host
// waits so much longer for a hook that verifies.
const verifySeconds = 300

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
		return err
	}
	*c = commandFlag{s, words}
	return nil
}

// remember keeps the state of the project when the human speaks, as the baseline of the agent's work. If that fails,
// the verifier says so when the agent is done.
func remember(ctx context.Context, state, session, dir string) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_ = verifier.Remember(ctx, state, session, dir)
}

// verifier returns what checks a claim of completion, nil without a command.
func (c *commandFlag) verifier(state, session, dir string, plans fs.FS) (autocontinue.Verifier, error) {
	if c.words == nil {
		return nil, nil
	}
	s := verifier.Recall(state, session)
	if main, _, sub := strings.Cut(session, "/"); sub && s.Last == nil { // an agent of another one's
		s = verifier.Recall(state, main)
	}
	root := s.Root
	if root == "" {
		root = cmdwitness.Root(dir)
	}
	v, err := verifier.New(
		verifier.Config{Dir: root, Commands: [][]string{c.words}, Base: s.Last, First: s.First, Plans: plans,
			Timeout: verifySeconds * time.Second, Cache: filepath.Join(state, "verify")},
	)
	if err != nil {
		return nil, err
	}
	return timedVerifier{v, s.Why}, nil
}

// timedVerifier gives up before the host does. The result is then unverified.
type timedVerifier struct {
	autocontinue.Verifier
	why string // why there is no baseline
}

func (t timedVerifier) Verify(
	ctx context.Context,
	out autocontinue.Output,
	r classify.Result,
) (autocontinue.Verification, error) {
	limited, cancel := context.WithTimeout(ctx, verifySeconds*time.Second)
	defer cancel()
	v, err := t.Verifier.Verify(limited, out, r)
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return autocontinue.Verification{
			Status: autocontinue.Unverified,
			Note:   fmt.Sprintf("Verification took longer than %d seconds.", verifySeconds),
		}, nil
	}
	if v.Status == autocontinue.Unverified && t.why != "" {
		v.Note = strings.TrimSpace(v.Note + " There is no baseline: " + strings.TrimPrefix(t.why, "gitwitness: ") + ".")
	}
	return v, err
}

// try runs the command once, as install does: that it shows nothing must not stay unknown until the agent is done.
func (c *commandFlag) try(ctx context.Context, dir string) string {
	v, err := verifier.New(verifier.Config{Dir: cmdwitness.Root(dir), Commands: [][]string{c.words}, Timeout: time.Minute})
	if err != nil {
		return err.Error()
	}
	return v.Try(ctx)
}
