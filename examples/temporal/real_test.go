package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/examples/temporal/session"
)

// eventually waits for something that another process does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, time.Minute, 20*time.Millisecond, what)
}

// hire starts a worker of this process, with an agent that is a shell script.
func hire(t *testing.T, w where, script string) (client.Client, session.Folder) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the agent is a shell script")
	}
	box := session.Folder(t.TempDir())
	c, err := w.dial(t.Context(), os.Stderr)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	a, err := workerConfig{outbox: string(box), dir: t.TempDir()}.activities([]string{"/bin/sh", "-c", script, "agent"})
	require.NoError(t, err)
	a.Tools["deploy"] = func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil }
	pool := worker.New(c, w.queue, worker.Options{})
	require.NoError(t, session.Register(pool, a))
	require.NoError(t, pool.Start())
	t.Cleanup(pool.Stop)
	return c, box
}

// command runs a command of the program against the server.
func command(t *testing.T, w where, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	full := append([]string{args[0]}, w.args()...)
	require.Zero(t, run(t.Context(), append(full, args[1:]...), &out, &errs), errs.String())
	return out.String()
}

// TestProcessIsKilled speaks while a real agent works: it and what it started are gone before the next one begins, and
// what it had printed is shown as superseded.
func TestProcessIsKilled(t *testing.T) {
	w := newServer(t)
	dir := t.TempDir()
	// The first run never ends by itself, nor does the process it starts.
	c, box := hire(t, w, `
		if [ "$1" = "fix the cart" ]; then
			echo "I have begun to read the cart."
			while :; do : > '`+dir+`/child'; sleep 0.05; done &
			trap '' TERM # it does not want to end
			while :; do : > '`+dir+`/parent'; sleep 0.05; done
		fi
		rm '`+dir+`/parent' '`+dir+`/child'
		sleep 0.5
		for name in parent child; do test -e '`+dir+`'/$name && echo "$name still runs"; done
		echo "Which wishlist do you mean?"`)
	cfg := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(cfg, []byte(`{"heartbeat_ns": 1000000000}`), 0o600))
	command(t, w, "start", "s", cfg)
	command(t, w, "say", "-id", "w1", "s", "fix the cart")
	eventually(t, "the agent runs", func() bool {
		_, err := os.Stat(filepath.Join(dir, "parent"))
		return err == nil
	})
	assert.Contains(t, command(t, w, "state", "s"), `"doing": "agent"`)
	command(t, w, "say", "-id", "w2", "s", "no,", "the", "wishlist")
	command(t, w, "end", "s")
	var counts session.Counts
	require.NoError(t, c.GetWorkflow(t.Context(), workflowID("s"), "").Get(t.Context(), &counts))
	effects, err := box.Effects()
	require.NoError(t, err)
	texts := make(map[string]string)
	for _, d := range effects {
		texts[string(d.Reason)] = strings.TrimSpace(d.Text)
	}
	assert.Equal(t,
		map[string]string{"superseded": "I have begun to read the cart.", "question": "Which wishlist do you mean?"},
		texts)
	assert.Equal(t, 2, counts.Agents)
}

// TestCancelledForReal kills the agent and shows what it had printed.
func TestCancelledForReal(t *testing.T) {
	w := newServer(t)
	dir := t.TempDir()
	c, box := hire(t, w, `echo "I have begun."; : > '`+dir+`/begun'; exec sleep 1000`)
	run, err := w.begin(t.Context(), c, "s", session.Config{Agent: true, Heartbeat: time.Second}, 0)
	require.NoError(t, err)
	command(t, w, "say", "s", "fix the cart")
	eventually(t, "the agent runs", func() bool {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return err == nil
	})
	require.NoError(t, c.CancelWorkflow(t.Context(), run.GetID(), ""))
	err = run.Get(t.Context(), nil)
	assert.True(t, temporal.IsCanceledError(err), err)
	effects, err := box.Effects()
	require.NoError(t, err)
	require.Len(t, effects, 1)
	assert.Equal(t, "I have begun.", strings.TrimSpace(effects[0].Text))
	assert.Contains(t, effects[0].Note, "the session was cancelled")
}

// TestApproveAndDeny answers approvals from the command line.
func TestApproveAndDeny(t *testing.T) {
	w := newServer(t)
	c, box := hire(t, w, `case "$1" in
		*Coach*) echo "$ go test ./..."; echo "ok  	example.com/cart	0.2s"; echo "All 42 tests pass, committed as 4f2a91c.";;
		*) echo "Done! I've updated cart.go and everything should work now.";;
	esac`)
	cfg := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(cfg, []byte(`{"gate": [{"gate": "context", "then": "allow"},
		{"gate": "context", "when": [{"at": "/from", "equals": "coach"}], "then": "ask"}]}`), 0o600))
	command(t, w, "start", "s", cfg)
	asked := func() (items []gate.Item) {
		eventually(t, "an approval is asked for", func() bool {
			view, err := state(t.Context(), c, "s")
			items = view.Asked
			return err == nil && len(items) == 1
		})
		return items
	}
	command(t, w, "say", "s", "fix the cart")
	first := asked()
	command(t, w, "deny", "s", first[0].ID, "not", "now")
	eventually(t, "the denial is delivered",
		func() bool { effects, err := box.Effects(); return err == nil && len(effects) == 1 })
	command(t, w, "say", "s", "fix the cart")
	command(t, w, "approve", "s", asked()[0].ID)
	command(t, w, "end", "s")
	var counts session.Counts
	require.NoError(t, c.GetWorkflow(t.Context(), workflowID("s"), "").Get(t.Context(), &counts))
	effects, err := box.Effects()
	require.NoError(t, err)
	var reasons []string
	for _, d := range effects {
		reasons = append(reasons, string(d.Reason))
	}
	assert.ElementsMatch(t, []string{"hold", "completion"}, reasons)

	var errs strings.Builder
	assert.Equal(t, 1, fails(t, w, &errs, "approve", "s", "9"))
	assert.Contains(t, errs.String(), "nothing is asked")
	assert.Equal(t, 1, fails(t, w, &errs, "say", "nobody", "hello"))
	assert.Contains(t, errs.String(), "say nobody")
	command(t, w, "start", "t", cfg)
	assert.Equal(t, 1, fails(t, w, &errs, "start", "t", cfg))
	assert.Contains(t, errs.String(), "start t")
}

func fails(t *testing.T, w where, errs *strings.Builder, args ...string) int {
	t.Helper()
	return run(t.Context(), append(append([]string{args[0]}, w.args()...), args[1:]...), &strings.Builder{}, errs)
}

// TestEveryTaskIsReplayed forgets every session after each of its tasks, so that all that the workflow does is checked
// against its history again and again.
func TestEveryTaskIsReplayed(t *testing.T) {
	w := newServer(t)
	worker.SetStickyWorkflowCacheSize(0)
	t.Cleanup(func() { worker.SetStickyWorkflowCacheSize(1000) })
	c, box := hire(t, w, `echo "Done! I've updated cart.go and everything should work now."`)
	queue := reports(5, "s", 20)
	run, err := w.begin(t.Context(), c, "s", session.Config{Events: 100}, 0)
	require.NoError(t, err)
	first := map[string]string{"s": run.GetRunID()}
	require.NoError(t, tell(t.Context(), c, "s", queue))
	talk, err := w.begin(t.Context(), c, "talk", session.Config{Agent: true, Events: 100}, 0)
	require.NoError(t, err)
	first["talk"] = talk.GetRunID()
	for i := range 5 {
		command(t, w, "say", "talk", fmt.Sprint("fix part ", i))
		eventually(t, "the agent has paused for good", func() bool {
			v, err := state(t.Context(), c, "talk")
			return err == nil && v.Doing == "waiting" && v.Handed && v.Counts.Words == i+1
		})
	}
	require.NoError(t, finish(t.Context(), c, "talk"))
	p := &pass{queues: map[string][]autocontinue.Output{"s": queue}, words: 5, workers: 1, took: time.Second}
	for name, r := range map[string]client.WorkflowRun{"s": run, "talk": talk} {
		var counts session.Counts
		require.NoError(t, r.Get(t.Context(), &counts))
		s, err := read(t.Context(), c, name, first[name])
		require.NoError(t, err)
		s.counts = counts
		assert.Equal(t, s.unended, s.kinds[enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED])
		p.scenarios = append(p.scenarios, *s)
	}
	p.effects, err = box.Effects()
	require.NoError(t, err)
	require.NoError(t, p.report(&strings.Builder{}))
}
