package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// TestMain lets the test binary be a worker process.
func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func demo() demonstration {
	return demonstration{sessions: 20, outputs: 12, workers: 3, seed: 7, kill: 80 * time.Millisecond, ackWait: 500 * time.Millisecond, limit: time.Minute}
}

func TestWorkersAreKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	d := demo()
	p, err := d.pass(ctx, d.workers, d.kill)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, p.report(&out))
	t.Log(out.String())
	assert.Positive(t, p.killed)
	assert.GreaterOrEqual(t, p.deliveries, 2*20*12)

	// Every fault is found.
	broken := func(name, want string, change func(p *pass)) {
		t.Helper()
		other := *p
		other.journal, other.acts = slices.Clone(p.journal), slices.Clone(p.acts)
		change(&other)
		assert.ErrorContains(t, other.verdict(), want, name)
	}
	continued := func(e entry) bool { return e.Decision.Action == autocontinue.Continue }
	at := slices.IndexFunc(p.journal, continued)
	require.GreaterOrEqual(t, at, 0)
	broken("lost", "was lost", func(p *pass) {
		e := p.journal[0]
		p.journal = slices.DeleteFunc(p.journal, func(o entry) bool { return o.Session == e.Session && o.At == e.At })
	})
	broken("acted twice", "acted on twice", func(p *pass) { p.acts = append(p.acts, p.acts[0]) })
	broken("not acted", "never acted on", func(p *pass) { p.acts = p.acts[1:] })
	broken("acted without a decision", "decisions and", func(p *pass) { p.acts = append(p.acts, act{Decision: "invented"}) })
	broken("two decisions", "two decisions", func(p *pass) {
		e := p.journal[at]
		e.Decision.ID = "other"
		p.journal = append(p.journal, e)
		p.acts = append(p.acts, act{Decision: "other"})
	})
	broken("continued twice", "continued 2 times", func(p *pass) {
		e := p.journal[at]
		e.Decision.ID = "other"
		p.journal = append(p.journal, e)
	})
	broken("other words", "but one process decides", func(p *pass) {
		p.journal[at].Decision.Message += "!"
	})
}

func TestFeed(t *testing.T) {
	d := demo()
	seen := make(map[autocontinue.Reason]bool)
	for i := range 200 {
		name := string(rune('a'+i%26)) + strings.Repeat("x", i)
		queue := session(d.seed, name, 20)
		assert.Equal(t, queue, session(d.seed, name, 20))
		times := make(map[string]int)
		for _, out := range queue {
			times[out.ID]++
		}
		assert.Len(t, times, 20)
		for id, n := range times {
			assert.GreaterOrEqual(t, n, 2, id)
		}
		decisions, err := alone(queue)
		require.NoError(t, err)
		for _, d := range decisions {
			seen[d.Reason] = true
		}
	}
	for _, reason := range []autocontinue.Reason{
		autocontinue.ReasonRejectedCompletion, autocontinue.ReasonProgress, autocontinue.ReasonCompletion, autocontinue.ReasonQuestion,
		autocontinue.ReasonCrashGuard, autocontinue.ReasonCap, autocontinue.ReasonRunClosed, autocontinue.ReasonSameText, autocontinue.ReasonWaiting,
	} {
		assert.True(t, seen[reason], "no session meets %s: %v", reason, seen)
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-h"}, 0, "-sessions"},
		{[]string{"-workers", "0"}, 2, "at least 1"},
		{[]string{"-ack-wait", "1ms"}, 2, "-ack-wait"},
		{[]string{"extra"}, 2, "unexpected argument"},
		{[]string{"-sessions", "x"}, 2, "invalid value"},
		{[]string{"-sessions", "2", "-outputs", "2", "-kill", "0", "-limit", "1ms"}, 1, "-limit"},
	} {
		var out, errs strings.Builder
		assert.Equal(t, c.code, run(t.Context(), c.args, &out, &errs), c.args)
		assert.Contains(t, errs.String(), c.want, c.args)
	}
}
