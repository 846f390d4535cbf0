package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
)

// Process is an agent that is a program: it gets the message as its last argument, and what it prints is its output.
type Process struct {
	Command []string      // program and arguments
	Dir     string        // where it works; empty is the worker's own
	Env     []string      // its whole environment, "NAME=value"; nothing is inherited
	Grace   time.Duration // between being asked to end and being killed; 0 is 5 s
}

// maxPrinted is kept of what a process prints on either stream, from its end.
const maxPrinted = 1 << 20

// Run starts the program and waits for it. A program that cannot be started is an error that is not worth another try;
// one that ends with a status other than 0 is a reply that failed. When ctx is done, the program and what it started
// are told to end and then killed, where the system has process groups. On Linux they do not outlive a worker that is
// killed either, but for what the program itself has started.
func (a Process) Run(ctx context.Context, p Prompt) (Reply, error) {
	if len(a.Command) == 0 {
		return Reply{}, temporal.NewApplicationError("the agent has no command", ErrRefused)
	}
	message := p.Message
	if len(p.Answers) > 0 {
		data, err := json.Marshal(p.Answers)
		if err != nil {
			return Reply{}, fmt.Errorf("answers: %w", err)
		}
		message = "What became of the calls: " + string(data)
	}
	// The signal that Linux sends a child whose parent dies is sent when the parent's thread does.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, a.Command[0], append(slices.Clone(a.Command[1:]), message)...)
	cmd.Dir, cmd.Env = a.Dir, append([]string{}, a.Env...)
	cmd.WaitDelay = orElse(a.Grace, 5*time.Second)
	group(cmd)
	var stdout, stderr tail
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	leftovers(cmd)
	r := Reply{Text: stdout.String()}
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
	case ctx.Err() != nil:
	case errors.As(err, new(*exec.ExitError)):
		r.Failed, r.Text = true, strings.TrimSpace(r.Text+"\n"+stderr.String())
	default:
		return Reply{}, temporal.NewApplicationError("start the agent: "+err.Error(), ErrRefused)
	}
	return r, nil
}

// tail keeps the end of what is written.
type tail struct{ buf bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - maxPrinted; over > maxPrinted {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string {
	b := t.buf.Bytes()
	return strings.ToValidUTF8(string(b[max(0, len(b)-maxPrinted):]), "\uFFFD")
}
