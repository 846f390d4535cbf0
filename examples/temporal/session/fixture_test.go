package session

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// What agents say, and what the heuristic makes of it.
const (
	claim    = "Done! I've updated internal/cart/cart.go and everything should work now."
	progress = "I've read internal/cart/cart.go and found where the value gets lost. Next I'll change it and run " +
		"the tests."
	shown = "Fixed in internal/cart/cart.go.\n\n```\n$ go test ./...\nok  \texample.com/shop/cart\t0." +
		"41s\n```\n\nAll 42 tests pass, committed as 4f2a91c."
	question = "There are two ways to do this: keep the old column, or drop it. Which one do you want?"
)

// outbox keeps effects, as they come.
type outbox struct {
	mu      sync.Mutex
	tries   []Effect
	effects []Effect
	fail    func(try int) error
}

func (o *outbox) Do(_ context.Context, d Effect) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tries = append(o.tries, d)
	if o.fail != nil {
		if err := o.fail(len(o.tries)); err != nil {
			return err
		}
	}
	for _, done := range o.effects {
		if done.Key == d.Key {
			return nil
		}
	}
	o.effects = append(o.effects, d)
	return nil
}

// said is the effects in short.
func (o *outbox) said() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var list []string
	for _, d := range o.effects {
		list = append(list, fmt.Sprintf("%s %s %s", d.Run, d.Action, d.Reason))
	}
	return list
}

// script is an agent that says one text after another, and keeps what it was told.
type script struct {
	mu      sync.Mutex
	says    []Reply
	prompts []Prompt
	run     func(ctx context.Context, n int, p Prompt) (Reply, error) // instead of says
}

func (a *script) Run(ctx context.Context, p Prompt) (Reply, error) {
	a.mu.Lock()
	a.prompts = append(a.prompts, p)
	n := len(a.prompts)
	a.mu.Unlock()
	if a.run != nil {
		return a.run(ctx, n, p)
	}
	if n > len(a.says) {
		return Reply{Text: shown}, nil
	}
	return a.says[n-1], nil
}

func (a *script) told() []Prompt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Prompt(nil), a.prompts...)
}

func says(texts ...string) *script {
	a := &script{}
	for _, text := range texts {
		a.says = append(a.says, Reply{Text: text})
	}
	return a
}

func heuristic(t testing.TB) *autocontinue.AutoContinue {
	t.Helper()
	h, err := classify.NewHeuristic()
	require.NoError(t, err)
	a, err := autocontinue.New(autocontinue.Config{Classifier: h})
	require.NoError(t, err)
	return a
}

// world is a session in the SDK's test environment, in which time is skipped while nothing runs.
type world struct {
	*testsuite.TestWorkflowEnvironment
	t      *testing.T
	box    *outbox
	start  time.Time
	config Config
}

func newWorld(t *testing.T, c Config, a Activities) *world {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	if !testing.Verbose() {
		suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	}
	w := &world{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t, box: &outbox{}, config: c}
	w.SetTestTimeout(time.Minute)
	w.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
	if a.Judge == nil {
		a.Judge = heuristic(t)
	}
	if box, ok := a.Outbox.(*outbox); ok {
		w.box = box
	} else {
		a.Outbox = w.box
	}
	require.NoError(t, Register(registry{w.TestWorkflowEnvironment}, a))
	w.start = w.Now()
	return w
}

// registry is the part of a worker that Register uses.
type registry struct {
	*testsuite.TestWorkflowEnvironment
}

func (registry) RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions) {}

var _ worker.Registry = registry{}

// at does something when so much time of the session has passed.
func (w *world) at(d time.Duration, do func()) { w.RegisterDelayedCallback(do, d) }

func (w *world) say(d time.Duration, id, text string) {
	w.at(d, func() { w.SignalWorkflow(SignalWord, Word{ID: id, Text: text}) })
}

func (w *world) report(d time.Duration, out autocontinue.Output) {
	w.at(d, func() { w.SignalWorkflow(SignalOutput, out) })
}

func (w *world) end(d time.Duration) { w.at(d, func() { w.SignalWorkflow(SignalEnd, nil) }) }

// play runs the session to its end.
func (w *world) play() Counts {
	w.t.Helper()
	w.ExecuteWorkflow(WorkflowName, Session{Name: "s", Config: w.config})
	require.True(w.t, w.IsWorkflowCompleted())
	require.NoError(w.t, w.GetWorkflowError())
	var c Counts
	require.NoError(w.t, w.GetWorkflowResult(&c))
	return c
}

func (w *world) view() View {
	w.t.Helper()
	value, err := w.QueryWorkflow(QueryState)
	require.NoError(w.t, err)
	var v View
	require.NoError(w.t, value.Get(&v))
	return v
}
