package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/examples/temporal/session"
)

var serverFlag = flag.String("server", "", "`path` of the server in server, when it is built already")

// TestMain lets the test binary be a worker, or an agent, as a process.
func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	flag.Parse()
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// serverPath builds the server, once for all tests.
func serverPath(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("building a whole Temporal server takes minutes the first time: not with -short")
	}
	built.once.Do(func() {
		if built.path = *serverFlag; built.path != "" {
			built.path, built.err = filepath.Abs(built.path)
			return
		}
		if built.dir, built.err = os.MkdirTemp("", "sidecoach-temporal-server-"); built.err == nil {
			built.path, built.err = buildServer(context.Background(), built.dir)
		}
	})
	require.NoError(t, built.err)
	return built.path
}

// newServer starts a server for one test.
func newServer(t *testing.T) where {
	t.Helper()
	s, err := serve(serverPath(t))
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s.where
}

func TestWorkersAreKilled(t *testing.T) {
	d := demonstration{
		server: serverPath(
			t,
		), reported: 6, outputs: 12, agents: 4, words: 4, events: 120, workers: 3, seed: 7, kill: 700 * time.Millisecond,
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	p, err := d.pass(ctx)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, p.report(&out))
	t.Log(out.String())
	assert.Positive(t, p.killed)
	assert.Less(t, p.longest(), 3*120, "a run ends soon after -events")
	runs := 0
	for _, s := range p.scenarios {
		runs += len(s.events)
	}
	assert.Greater(t, runs, len(p.scenarios), "no run continued as new")

	// Every fault is found.
	broken := func(name, want string, change func(p *pass)) {
		t.Helper()
		other := *p
		other.effects, other.scenarios = slices.Clone(p.effects), slices.Clone(p.scenarios)
		for i, s := range other.scenarios {
			other.scenarios[i].effects, other.scenarios[i].prompts = slices.Clone(s.effects), slices.Clone(s.prompts)
			other.scenarios[i].signals = map[string]int{session.SignalOutput: s.signals[session.SignalOutput]}
		}
		change(&other)
		assert.ErrorContains(t, other.verdict(), want, name)
	}
	reported := slices.IndexFunc(p.scenarios, func(s scenario) bool {
		return p.queues[s.name] != nil && len(s.effects) > 0
	})
	talked := slices.IndexFunc(p.scenarios, func(s scenario) bool { return p.queues[s.name] == nil })
	coached := slices.IndexFunc(p.scenarios, func(s scenario) bool {
		return slices.ContainsFunc(s.prompts, func(p session.Prompt) bool { return p.From == "coach" })
	})
	require.GreaterOrEqual(t, coached, 0)
	broken("done twice", "was done twice", func(p *pass) { p.effects = append(p.effects, p.effects[0]) })
	broken("not done", "never done", func(p *pass) { p.effects = p.effects[1:] })
	broken("done without a decision", "were to be done",
		func(p *pass) { p.effects = append(p.effects, session.Effect{Key: "invented"}) })
	broken("done otherwise", "otherwise than decided", func(p *pass) { p.effects[0].Text += "!" })
	broken("planned twice", "to be done twice", func(p *pass) {
		s := &p.scenarios[reported]
		s.effects = append(s.effects, s.effects[0])
	})
	broken("other words", "but one process decides", func(p *pass) { p.scenarios[reported].effects[0].Reason = "other" })
	broken("lost", "in the history", func(p *pass) { p.scenarios[reported].signals[session.SignalOutput]-- })
	broken("not handled", "outputs, but", func(p *pass) { p.scenarios[reported].counts.Outputs-- })
	broken("too long", "events and", func(p *pass) { p.scenarios[reported].events = []int{60_000} })
	broken("changed code", "does not fit", func(p *pass) { p.scenarios[reported].broken = []string{"why"} })
	broken("a word not heard", "were heard", func(p *pass) { p.scenarios[talked].counts.Words-- })
	broken("a pause not handled", "the agent paused", func(p *pass) { p.scenarios[talked].replies++ })
	broken("a run begun twice", "begun twice", func(p *pass) {
		s := &p.scenarios[talked]
		s.prompts = append(s.prompts, s.prompts[0])
	})
	coach := func(p *pass) (*scenario, session.Prompt) {
		s := &p.scenarios[coached]
		return s, s.prompts[slices.IndexFunc(s.prompts, func(p session.Prompt) bool { return p.From == "coach" })]
	}
	broken("continued twice", "acted on twice", func(p *pass) {
		s, prompt := coach(p)
		prompt.Run = "other"
		s.prompts = append(s.prompts, prompt)
	})
	broken("the cap", "4 continuations", func(p *pass) {
		s, prompt := coach(p)
		for i := range 4 {
			prompt.Turn, prompt.Run, prompt.Decision = "t", fmt.Sprint("r", i), fmt.Sprint("d", i)
			s.prompts = append(s.prompts, prompt)
		}
	})
}

func TestReports(t *testing.T) {
	seen := make(map[autocontinue.Reason]bool)
	for i := range 100 {
		name := fmt.Sprint("s", i)
		queue := reports(3, name, 20)
		assert.Equal(t, queue, reports(3, name, 20))
		times := make(map[string]int)
		for _, out := range queue {
			times[out.ID]++
		}
		for i := range 20 {
			assert.GreaterOrEqual(t, times[fmt.Sprint("out-", i)], 2)
		}
		effects, err := alone(queue)
		require.NoError(t, err)
		for _, d := range effects {
			seen[d.Reason] = true
		}
	}
	for _, reason := range []autocontinue.Reason{
		"rejected_completion", "progress", "completion",
		"question", "crash_guard", "cap", "waiting",
	} {
		assert.True(t, seen[reason], "no session meets %s: %v", reason, seen)
	}
}

// TestReportsComeAgainInTime: a session remembers the IDs of the last 1,000 outputs.
func TestReportsComeAgainInTime(t *testing.T) {
	first := make(map[string]int)
	oldest := 0
	for _, out := range reports(1, "demo-0", 10_000) {
		if _, ok := first[out.ID]; !ok {
			first[out.ID] = len(first)
		}
		oldest = max(oldest, len(first)-first[out.ID])
	}
	assert.Less(t, oldest, 1000)
	assert.Greater(t, oldest, 200)
}

func TestWorkersModel(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	_, err := workerConfig{model: "m"}.activities(nil)
	require.Error(t, err, "neither key nor address")
	t.Setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
	a, err := workerConfig{model: "m"}.activities([]string{"agent"})
	require.NoError(t, err)
	assert.NotNil(t, a.Model)
	assert.IsType(t, session.Process{}, a.Agent)
}

func TestCommandLine(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"max_continue": 2}`), 0o600))
	twice := filepath.Join(t.TempDir(), "twice.json")
	require.NoError(t, os.WriteFile(twice, []byte(`{"agent": true} {"model": true}`), 0o600))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-h"}, 0, "-reported"},
		{[]string{"-h"}, 0, "start NAME [CONFIG.json]"},
		{[]string{"approve", "name"}, 2, "approve|deny NAME ITEM"},
		{[]string{"start", "s", twice}, 1, "more in it than one"},
		{[]string{"worker", "-h"}, 0, "-outbox"},
		{[]string{"worker"}, 2, "-outbox is required"},
		{[]string{"-workers", "0"}, 2, "at least 1"},
		{[]string{"-events", "7"}, 2, "100 to 40000"},
		{[]string{"-kill", "-1s"}, 2, "-kill"},
		{[]string{"-seed", "x"}, 2, "invalid value"},
		{[]string{"dance"}, 2, `unknown command "dance"`},
		{[]string{"say", "name"}, 2, "2 arguments"},
		{[]string{"play"}, 2, "demonstration"},
		{[]string{"start", "s", bad}, 1, "max_continue"},
		{[]string{"start", "s", bad + "x"}, 1, "no such file"},
		{[]string{"state", "-address", "127.0.0.1:1", "s"}, 1, "temporal server start-dev"},
		{[]string{"-server", bad, "-limit", "1m"}, 1, "start the server"},
	} {
		var out, errs strings.Builder
		assert.Equal(t, c.code, run(t.Context(), c.args, &out, &errs), c.args)
		assert.Contains(t, errs.String(), c.want, c.args)
	}
}
