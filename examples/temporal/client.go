package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/examples/temporal/session"
)

// dial connects to the server; what the SDK has to say from warnings on goes to stderr.
func (w where) dial(ctx context.Context, stderr io.Writer) (client.Client, error) {
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	c, err := client.DialContext(ctx, client.Options{
		HostPort: w.address, Namespace: w.namespace, Logger: sdklog.NewStructuredLogger(logger),
		Identity: fmt.Sprintf("sidecoach %d", os.Getpid()),
	})
	if err != nil {
		return nil, fmt.Errorf(
			"no Temporal server at %s: start one with \"temporal server start-dev\", or name another by -address: %w",
			w.address,
			err,
		)
	}
	return c, nil
}

func workflowID(name string) string { return "sidecoach/" + name }

// begin starts a session. One of that name that goes on already is an error.
func (w where) begin(ctx context.Context, c client.Client, name string, cfg session.Config,
	task time.Duration) (client.WorkflowRun, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	options := client.StartWorkflowOptions{
		ID: workflowID(name), TaskQueue: w.queue, WorkflowTaskTimeout: task, WorkflowExecutionErrorWhenAlreadyStarted: true,
	}
	run, err := c.ExecuteWorkflow(ctx, options, session.WorkflowName, session.Session{Name: name, Config: cfg})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return run, nil
}

// commands is what there is besides the demonstration.
const commands = `  worker -outbox DIR -- AGENT ARG…      do the work of sessions; each message is the agent's last argument
  start NAME [CONFIG.json]              begin a session
  say NAME TEXT                         speak to its agent; -id ID before NAME names the message
  state NAME                            what it does, and which approvals wait
  approve|deny NAME ITEM [REASON]       answer one
  end NAME                              let it finish
The flags of a command come before its arguments: temporal state -address localhost:7233 NAME
`

// ask does one of the commands that speak to a session.
func ask(ctx context.Context, command string, args []string, stdout, stderr io.Writer) error {
	var w where
	fs := newFlags("temporal "+command, stderr)
	w.flags(fs)
	id := fs.String("id", "", "with say: `ID` of the message; the same again is not heard twice")
	if err := parse(fs, args); err != nil {
		return err
	}
	args = fs.Args()
	least := map[string]int{"start": 1, "say": 2, "state": 1, "approve": 2, "deny": 2, "end": 1}[command]
	if len(args) < least {
		return usage{fmt.Errorf("%s: %d arguments are needed:\n%s", command, least, commands)}
	}
	name, args := args[0], args[1:]
	var cfg session.Config
	if command == "start" {
		var err error
		if cfg, err = config(args); err != nil {
			return err
		}
	}
	c, err := w.dial(ctx, stderr)
	if err != nil {
		return err
	}
	defer c.Close()
	send := func(signal string, v any) error {
		if err := c.SignalWorkflow(ctx, workflowID(name), "", signal, v); err != nil {
			return fmt.Errorf("%s %s: %w", command, name, err)
		}
		return nil
	}
	switch command {
	case "start":
		_, err := w.begin(ctx, c, name, cfg, 0)
		return err
	case "say":
		return send(session.SignalWord, session.Word{ID: *id, Text: strings.Join(args, " ")})
	case "end":
		return send(session.SignalEnd, nil)
	}
	view, err := state(ctx, c, name)
	if err != nil {
		return err
	}
	if command == "state" {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(view)
	}
	for _, it := range view.Asked {
		if it.ID == args[0] {
			d := gate.Decision{Item: it.ID, Digest: it.Digest, Action: gate.Approve, By: whoami()}
			if command == "deny" {
				d.Action, d.Reason = gate.Deny, strings.Join(args[1:], " ")
			}
			return send(session.SignalAnswer, d)
		}
	}
	return fmt.Errorf("%s %s: nothing is asked under %q: see \"temporal state %s\"", command, name, args[0], name)
}

// state asks a session what it does.
func state(ctx context.Context, c client.Client, name string) (session.View, error) {
	var v session.View
	value, err := c.QueryWorkflow(ctx, workflowID(name), "", session.QueryState)
	if err == nil {
		err = value.Get(&v)
	}
	if err != nil {
		return v, fmt.Errorf("state of %s: %w", name, err)
	}
	return v, nil
}

// config reads a session's configuration; without a file it is one whose agent the workflow runs.
func config(args []string) (session.Config, error) {
	c := session.Config{Agent: true}
	if len(args) == 0 {
		return c, nil
	}
	f, err := os.Open(args[0])
	if err != nil {
		return c, err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w", args[0], err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("%s: there is more in it than one configuration: one JSON object, see session.Config", args[0])
	}
	return c, c.Check()
}

func whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody at a terminal"
}
