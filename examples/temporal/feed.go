package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/examples/temporal/session"
)

// memory is how many outputs ago one may have been that comes again: a session remembers 1,000, second IDs included.
const memory = 500

// reports returns what is reported to a session whose agent runs elsewhere, in order: outputs of several turns, of all
// kinds, each at least twice under its ID, now and then under a second ID too.
func reports(seed uint64, name string, n int) []autocontinue.Output {
	r := lots(seed, name)
	var queue, said []autocontinue.Output
	turn, left := 0, 0
	for i := range n {
		if left == 0 {
			turn++
			left = 1 + r.IntN(7)
		}
		left--
		out := autocontinue.Output{
			Session: name, Turn: fmt.Sprint("turn-", turn), Run: fmt.Sprint("run-", i), ID: fmt.Sprint("out-", i),
			Request: requests[r.IntN(len(requests))],
		}
		out.Text, out.Failed = text(r)
		said = append(said, out)
		for range 2 + r.IntN(2) {
			queue = append(queue, out)
		}
		if r.IntN(5) == 0 {
			second := out
			second.ID += "-callback"
			queue = append(queue, second)
		}
		if i > 0 && r.IntN(3) == 0 { // one that was dealt with long ago comes again
			queue = append(queue, said[max(0, i-r.IntN(memory))])
		}
	}
	return queue
}

var requests = []string{
	"fix the failing login redirect", "add pagination to the order list", "write a migration for the new column",
	"speed up the import",
}

// text is something that an agent says: claims without evidence, progress, evidence, questions, crashes.
func text(r *rand.Rand) (string, bool) {
	file := fmt.Sprintf("internal/part%d/file%d.go", r.IntN(9), r.IntN(9))
	switch r.IntN(10) {
	case 0, 1, 2:
		return "Done! I've updated " + file + " and everything should work now.", false
	case 3:
		return "All tests pass now.", false
	case 4, 5:
		return "I've read " + file + " and found where the value gets lost. Next I'll change it and run the tests.", false
	case 6, 7:
		return "Fixed in " + file + ".\n\n```\n$ go test ./...\nok  \texample.com/shop/orders\t0.41s\n```\n\nAll 42 " +
			"tests pass, committed as 4f2a91c.", false
	case 8:
		return "There are two ways to do this in " + file + ": keep the old column, or drop it. Which one do you want?", false
	}
	return "API Error: 529 overloaded", true
}

func lots(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// actor is the scripted agent. What it says depends on its run alone, so that a run that is begun again says the same;
// every eighth run is a process.
type actor uint64

func (a actor) Run(ctx context.Context, p session.Prompt) (session.Reply, error) {
	name := p.Session + "/" + p.Turn + "/" + p.Run
	if lots(uint64(a), name).IntN(8) == 0 {
		self, err := os.Executable()
		if err != nil {
			return session.Reply{}, err
		}
		command := []string{self, "play", strconv.FormatUint(uint64(a), 10), name}
		return session.Process{Command: command, Env: append(os.Environ(), roleEnv+"=play")}.Run(ctx, p)
	}
	r := lots(uint64(a), name)
	r.IntN(8)
	text, failed := text(r)
	select {
	case <-time.After(time.Duration(r.IntN(300)) * time.Millisecond):
		return session.Reply{Text: text, Failed: failed}, nil
	case <-ctx.Done():
		return session.Reply{Text: "Interrupted."}, nil
	}
}

// play is the scripted agent as a process.
func play(args []string, stdout io.Writer) error {
	if len(args) < 2 {
		return usage{fmt.Errorf("play: it is for the demonstration itself")}
	}
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return usage{err}
	}
	r := lots(seed, args[1])
	r.IntN(8)
	text, failed := text(r)
	time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
	fmt.Fprintln(stdout, text)
	if failed {
		return fmt.Errorf("crashed")
	}
	return nil
}

// roleEnv tells a test binary that it is to be this program.
const roleEnv = "SIDECOACH_TEMPORAL_ROLE"

// self is this program, or the test of it, as a process with the arguments.
func self(args ...string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+args[0])
	cmd.Stderr = os.Stderr
	return cmd, nil
}
