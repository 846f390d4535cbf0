package main

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/examples/temporal/session"
)

var update = flag.Bool("update", false,
	"record the histories in session/testdata anew, which makes the workflow of today the one that must not change")

// recorded is an agent that asks for a tool, claims, shows, and is interrupted.
type recorded struct{}

func (recorded) Run(ctx context.Context, p session.Prompt) (session.Reply, error) {
	switch {
	case p.Message == "wait":
		<-ctx.Done()
		return session.Reply{Text: "I have begun to wait."}, nil
	case p.From == "coach":
		return session.Reply{
			Text: "Fixed.\n\n```\n$ go test ./...\nok  \texample.com/cart\t0.2s\n```\n\nAll 42 tests pass, committed as " +
				"4f2a91c.",
		}, nil
	case len(p.Answers) == 0:
		return session.Reply{Text: "I need to look.", Calls: []session.Call{
			{
				ID:   "c1",
				Tool: "read",
				Args: json.RawMessage(`{"file":"cart.go"}`),
			}, {ID: "c2", Tool: "deploy", Args: json.RawMessage(`{}`)},
		}}, nil
	}
	return session.Reply{Text: "Done! I've updated cart.go and everything should work now."}, nil
}

// TestRecord plays sessions on a real server, and with -update keeps their histories for the replay tests of package
// session.
func TestRecord(t *testing.T) {
	w := newServer(t)
	c, err := client.Dial(client.Options{HostPort: w.address, Namespace: w.namespace, Identity: "recorder"})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	a, err := workerConfig{outbox: t.TempDir()}.activities(nil)
	require.NoError(t, err)
	a.Agent = recorded{}
	a.Tools["read"] = func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil }
	pool := worker.New(c, w.queue, worker.Options{})
	require.NoError(t, session.Register(pool, a))
	require.NoError(t, pool.Start())
	t.Cleanup(pool.Stop)

	policy, err := gate.ParsePolicy([]byte(`[{"gate": "context", "then": "allow"},
		{"gate": "context", "when": [{"at": "/from", "equals": "coach"}], "then": "ask"},
		{"tool": "read", "then": "allow"}, {"tool": "deploy", "then": "ask"}]`))
	require.NoError(t, err)
	agent, err := w.begin(t.Context(), c, "agent",
		session.Config{Agent: true, Model: true, Gate: &policy, ApprovalTTL: 5 * time.Second, Heartbeat: time.Second},
		0)
	require.NoError(t, err)
	agentRun := agent.GetRunID()
	doing := func(what string) (v session.View) {
		eventually(t, what, func() bool {
			var err error
			v, err = state(t.Context(), c, "agent")
			return err == nil && v.Doing == what
		})
		return v
	}
	command(t, w, "say", "-id", "w1", "agent", "fix the cart") // a tool is allowed, one is not answered in time
	eventually(t, "the coach's message is asked for", func() bool {
		v, err := state(t.Context(), c, "agent")
		if err != nil || len(v.Asked) != 1 || v.Asked[0].Kind != gate.Context {
			return false
		}
		command(t, w, "approve", "agent", v.Asked[0].ID)
		return true
	})
	eventually(t, "a completion", func() bool {
		v, err := state(t.Context(), c, "agent")
		return err == nil && v.Counts.Reasons["completion"] == 1
	})
	command(t, w, "say", "-id", "w2", "agent", "wait")
	doing("agent")
	command(t, w, "say", "-id", "w3", "agent", "wait")
	eventually(t, "the first is superseded", func() bool {
		v, err := state(t.Context(), c, "agent")
		return err == nil && v.Counts.Reasons["superseded"] == 1 && v.Doing == "agent"
	})
	require.NoError(t, c.CancelWorkflow(t.Context(), workflowID("agent"), ""))
	require.Error(t, agent.Get(t.Context(), nil))

	queue := reports(11, "reported", 12)
	reported, err := w.begin(t.Context(), c, "reported", session.Config{Events: 120}, 0)
	require.NoError(t, err)
	reportedRun := reported.GetRunID()
	require.NoError(
		t,
		c.SignalWorkflow(t.Context(), workflowID("reported"), "", session.SignalWord, session.Word{ID: "turn-0", Text: "go"}),
	)
	for _, out := range queue {
		require.NoError(t, c.SignalWorkflow(t.Context(), workflowID("reported"), "", session.SignalOutput, out))
		// One after another, so that a run is long enough to continue as new.
		eventually(t, "it is handled", func() bool {
			v, err := state(t.Context(), c, "reported")
			return err == nil && v.Backlog == 0 && v.Doing == "waiting"
		})
	}
	require.NoError(t, finish(t.Context(), c, "reported"))
	require.NoError(t, reported.Get(t.Context(), nil))

	scenario, err := read(t.Context(), c, "agent", agentRun)
	require.NoError(t, err)
	require.Empty(t, scenario.broken)
	save(t, c, "agent", agentRun, "agent.json")
	scenario, err = read(t.Context(), c, "reported", reportedRun)
	require.NoError(t, err)
	require.Empty(t, scenario.broken)
	require.Greater(t, len(scenario.events), 1)
	save(t, c, "reported", reportedRun, "reported.json")
	save(t, c, "reported", "", "continued.json") // its last run
}

func save(t *testing.T, c client.Client, name, run, file string) {
	t.Helper()
	if !*update {
		return
	}
	var h historypb.History
	events := c.GetWorkflowHistory(t.Context(), workflowID(name), run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)
		h.Events = append(h.Events, e)
	}
	data, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(&h)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join("session", "testdata"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join("session", "testdata", file), append(data, '\n'), 0o666))
}
