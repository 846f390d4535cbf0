// Command runner is a host in miniature: it runs a real process as its agent, hands each output to sidecoach, and does
// what the decision says.
//
//	go run ./examples/runner                                               # a scripted agent plays four turns
//	go run ./examples/runner -prompt "Fix the build" -- my-agent --print   # your own: each message is its last argument
//
// Each pause is reported twice, as in hosts that have a callback and a return value. The second report is suppressed.
//
// The scripted agent is this program, started again with the turn's name. It fixes a bug without showing it and is
// asked for evidence (fix), repeats its claim until the loop stalls (insist), asks something (ask), or crashes (crash).
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "runner:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("runner", flag.ContinueOnError)
	prompt := fs.String("prompt", "Go on.", "what your own agent is asked first")
	play := fs.String("play", "", "be the scripted agent of this turn (used by the demonstration itself)")
	fs.Usage = func() {
		fmt.Fprintln(fs.Output(), "usage: runner [-prompt TEXT -- AGENT ARG...]")
		fs.PrintDefaults()
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	if *play != "" {
		return act(*play, fs.Arg(0), out)
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic})
	if err != nil {
		return err
	}
	h := host{ac: ac, out: out}
	if fs.NArg() > 0 {
		return h.turn(ctx, "yours", *prompt, fs.Args())
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, t := range turns {
		if err := h.turn(ctx, t.name, t.request, []string{self, "-play", t.name}); err != nil {
			return err
		}
	}
	return nil
}

// host runs agents and shows what sidecoach decides.
type host struct {
	ac  *autocontinue.AutoContinue
	out io.Writer
}

// turn runs the agent until a decision says that the human is next. That is after three continuations at the latest.
func (h *host) turn(ctx context.Context, name, request string, command []string) error {
	fmt.Fprintf(h.out, "\n=== turn %q\nhuman     %s\n", name, request)
	message := request
	for n := 1; ; n++ {
		text, failed, err := agent(ctx, command, message)
		if err != nil {
			return err
		}
		fmt.Fprintf(h.out, "agent     %s\n", indent(text))
		run := fmt.Sprintf("%s-%d", name, n) // a new name for every run of the agent, continued or not
		output := autocontinue.Output{
			Session: "demo", Turn: name, Run: run, ID: run + "/return", Text: text, Request: request, Failed: failed,
		}
		d := h.decide(ctx, output)
		// Many hosts hear of a pause twice, from a return value and from a callback. The second is the same pause.
		output.ID = run + "/callback"
		fmt.Fprint(h.out, "again     ")
		h.decide(ctx, output)
		if d.Action != autocontinue.Continue {
			return nil
		}
		message = d.Message
	}
}

// decide asks sidecoach and shows what it says. On an error d says Deliver: the human sees the output, and the turn
// ends.
func (h *host) decide(ctx context.Context, o autocontinue.Output) autocontinue.Decision {
	d, err := h.ac.Handle(ctx, o)
	if err != nil {
		fmt.Fprintf(h.out, "sidecoach failed: %v\n", err)
	}
	fmt.Fprintf(h.out, "sidecoach %s · %s · %s", d.Action, d.Outcome, d.Reason)
	if d.Note != "" {
		fmt.Fprintf(h.out, " · %s", d.Note)
	}
	fmt.Fprintln(h.out)
	if d.Action == autocontinue.Continue {
		fmt.Fprintf(h.out, "coach     %s\n", indent(d.Message))
	}
	return d
}

// agent runs the command with the message as its last argument and returns what it printed. If it failed, its standard
// error follows the text.
func agent(ctx context.Context, command []string, message string) (text string, failed bool, err error) {
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], message)...)
	cmd.WaitDelay = 5 * time.Second // for what the agent started and left running
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	switch err := cmd.Run(); {
	case err == nil:
		return stdout.String(), false, nil
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case errors.As(err, new(*exec.ExitError)):
		return stdout.String() + stderr.String(), true, nil
	default:
		return "", false, fmt.Errorf("start the agent: %w", err)
	}
}

func indent(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n          ") }
