package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// TestMain lets the test binary be a worker or the server.
func TestMain(m *testing.M) {
	if os.Getenv(processEnv) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func demo() demonstration {
	return demonstration{
		sessions: 20,
		outputs:  12,
		workers:  3,
		seed:     7,
		kill:     80 * time.Millisecond,
		ackWait:  500 * time.Millisecond,
		limit:    time.Minute,
		down:     time.Second,
	}
}

func TestWorkersAreKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	d := demo()
	p, err := d.pass(ctx, d.workers, partitions)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, p.report(&out))
	t.Log(out.String())
	assert.Positive(t, p.killed)
	assert.GreaterOrEqual(t, p.deliveries, 2*20*12)
	assert.Zero(t, p.ended, "by themselves")
}

// Whatever goes wrong, alone or all together, the same checker finds nothing wrong.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	for _, c := range []struct {
		list   string
		change func(d *demonstration)
	}{
		{"freeze,late", func(d *demonstration) { d.kill = 2 * time.Second }},
		{"crowd,late", func(d *demonstration) { d.kill = time.Second }},
		{"server", func(d *demonstration) { d.kill = time.Second }},
		{"slow", func(d *demonstration) { d.kill = 2 * time.Second }},
		{"full", func(d *demonstration) { d.kill = time.Second }},
		{"newer", func(d *demonstration) { d.kill = time.Second }},
	} {
		t.Run(c.list, func(t *testing.T) {
			d := demo()
			d.sessions, d.down = 20, 700*time.Millisecond
			c.change(&d)
			var err error
			d.faults, err = chosenFaults(c.list)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), d.limit)
			defer cancel()
			p, err := d.pass(ctx, d.workers, partitions)
			require.NoError(t, err)
			var out strings.Builder
			err = p.report(&out)
			t.Log(out.String())
			if err != nil && !strings.Contains(err.Error(), "never came") { // the machine may be too fast
				t.Error(err)
			}
			assert.Zero(t, p.ended)
		})
	}
}

func TestFeed(t *testing.T) {
	d := demo()
	seen := make(map[autocontinue.Reason]bool)
	for i := range 200 {
		name := string(rune('a'+i%26)) + strings.Repeat("x", i)
		queue := session(d.seed, name, 20, 20)
		assert.Equal(t, queue, session(d.seed, name, 20, 20))
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
		"rejected_completion", "progress", "completion",
		"question", "crash_guard", "cap", "run_closed",
		"same_text", "waiting",
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
		{[]string{"-h"}, 0, "is gone for -down"},
		{[]string{"-fault", "slow,quake"}, 2, `no "quake"`},
		{[]string{"-down", "1ms"}, 2, "-down"},
		{[]string{"-fault", "crowd", "-outputs", "61"}, 2, "-outputs"},
		{[]string{"-throughput", "-fault", "slow"}, 2, "without -fault"},
		{[]string{"-with", "/no/such/program", "-sessions", "1", "-outputs", "1"}, 1, "/no/such/program"},
		{[]string{"-sessions", "x"}, 2, "invalid value"},
		{[]string{"-sessions", "2", "-outputs", "2", "-kill", "0", "-limit", "1ms"}, 1, "-limit"},
	} {
		var out, errs strings.Builder
		assert.Equal(t, c.code, run(t.Context(), c.args, &out, &errs), c.args)
		assert.Contains(t, errs.String(), c.want, c.args)
	}
}
