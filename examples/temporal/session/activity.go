package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// The names under which [Register] registers the activities.
const (
	ActivityRunAgent = "RunAgent"
	ActivityRunTool  = "RunTool"
	ActivityJudge    = "Judge"
	ActivityAskModel = "AskModel"
	ActivityAct      = "Act"
)

// The types of errors that the retry policies know.
const (
	ErrRefused   = "refused"          // a effect, a run or a call that will never succeed
	ErrModel     = "model"            // no answer, or one that says to come again: worth another try
	ErrRejected  = "model-rejected"   // the endpoint does not take the call: key, address, model
	ErrNoVerdict = "model-no-verdict" // it answered, and the answer is none: refused, filtered, cut off, unparseable
)

// Final are the types of errors of AskModel after which the heuristic judges at once.
var Final = []string{ErrRejected, ErrNoVerdict}

// Question is what the judges are asked.
type Question struct {
	State  autocontinue.State  `json:"state"`
	Output autocontinue.Output `json:"output"`
}

// Outbox does effects. It must do a effect once, however often it is given one with the same key: an activity that was
// done is repeated when its worker dies before the server knows.
type Outbox interface {
	Do(ctx context.Context, d Effect) error
}

// Agent runs an agent until it pauses. When ctx is done it stops the agent before it returns, and returns what it had
// printed. An error is one of ours and is tried again; an agent that fails is a Reply that says so.
type Agent interface {
	Run(ctx context.Context, p Prompt) (Reply, error)
}

// Tool is what a call of an agent does, once it is approved. It is called at most once for a call.
type Tool func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)

// Activities are what a worker does for sessions. Judge and Outbox are required; without Model no session may ask for
// one, and without an Agent none may run it.
type Activities struct {
	Judge  *autocontinue.AutoContinue // with the heuristic
	Model  *autocontinue.AutoContinue // with a classify/llm classifier whose client has Retries -1: the engine tries again
	Agent  Agent
	Tools  map[string]Tool
	Outbox Outbox
}

// Register registers the workflow and a's activities. The error says what a lacks.
func Register(r worker.Registry, a Activities) error {
	if a.Judge == nil || a.Outbox == nil {
		return errors.New("session: Activities.Judge and Activities.Outbox are required")
	}
	r.RegisterWorkflowWithOptions(Workflow, workflow.RegisterOptions{Name: WorkflowName})
	for name, fn := range map[string]any{
		ActivityJudge: a.judge, ActivityAskModel: a.askModel, ActivityAct: a.act, ActivityRunAgent: a.runAgent,
		ActivityRunTool: a.runTool,
	} {
		r.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
	}
	return nil
}

func (a Activities) judge(ctx context.Context, q Question) (autocontinue.Facts, error) {
	return facts(a.Judge.Judge(ctx, q.Output, q.State))
}

func (a Activities) askModel(ctx context.Context, q Question) (autocontinue.Facts, error) {
	if a.Model == nil {
		return autocontinue.Facts{}, temporal.NewApplicationError("this worker has no model", ErrRejected)
	}
	f, err := facts(a.Model.Judge(ctx, q.Output, q.State))
	return f, modelError(err)
}

// facts leaves out of f what the workflow has already.
func facts(f autocontinue.Facts, err error) (autocontinue.Facts, error) {
	f.Output = autocontinue.Output{}
	return f, err
}

// modelError gives an error of classify/llm the type that the retry policy knows, and what the endpoint said about when
// to come again. Its text is the library's, which never holds a key or an agent's words.
func modelError(err error) error {
	if err == nil {
		return nil
	}
	kind, delay := ErrModel, time.Duration(0)
	var failure *llm.Error
	switch {
	case errors.Is(err, llm.ErrOpen):
		delay = 30 * time.Second // that long the breaker stays open
	case !errors.As(err, &failure) || failure.Temporary():
		if failure != nil {
			delay = failure.RetryAfter
		}
	case failure.Answered:
		kind = ErrNoVerdict
	default:
		kind = ErrRejected
	}
	return temporal.NewApplicationErrorWithOptions(err.Error(), kind, temporal.ApplicationErrorOptions{
		NonRetryable: kind != ErrModel, NextRetryDelay: delay,
	})
}

func (a Activities) act(ctx context.Context, d Effect) error { return a.Outbox.Do(ctx, d) }

func (a Activities) runAgent(ctx context.Context, p Prompt) (Reply, error) {
	if a.Agent == nil {
		return Reply{}, temporal.NewApplicationError("this worker runs no agent", ErrRefused)
	}
	ctx, stop := beating(ctx)
	defer stop()
	r, err := a.Agent.Run(ctx, p)
	if err := leaving(ctx); err != nil {
		return Reply{}, err
	}
	r.Text = clip(r.Text)
	switch {
	case err != nil && ctx.Err() == nil:
		return Reply{}, err
	case errors.Is(context.Cause(ctx), errLimit):
		r.Failed, r.Text = true, r.Text+"\n[stopped: the run took longer than its limit]"
	case ctx.Err() != nil:
		r.Stopped = true
	}
	return r, nil
}

func (a Activities) runTool(ctx context.Context, c Call) (json.RawMessage, error) {
	tool, ok := a.Tools[c.Tool]
	if !ok {
		return nil, temporal.NewApplicationError(fmt.Sprintf("this worker has no tool %q", c.Tool), ErrRefused)
	}
	ctx, stop := beating(ctx)
	defer stop()
	return tool(ctx, c.Args)
}

var errLimit = errors.New("the run's limit is reached")

// beating beats the activity's heart until stop is called, also while an agent that was cancelled takes its time to
// end: that is how the server learns that the worker lives, and the worker that the activity was cancelled. The
// returned context is done a minute before the server gives the activity up.
func beating(ctx context.Context) (_ context.Context, stop func()) {
	info := activity.GetInfo(ctx)
	limited, cancel := context.WithDeadlineCause(ctx, info.Deadline.Add(-time.Minute), errLimit)
	quit, alive := make(chan struct{}), context.WithoutCancel(ctx) // with a context that is done no beat is sent
	go func() {
		tick := time.NewTicker(max(info.HeartbeatTimeout/3, 100*time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				activity.RecordHeartbeat(alive)
			}
		}
	}()
	return limited, func() {
		close(quit)
		cancel()
	}
}

// leaving is the error of an activity whose worker is told to stop: another one is to begin it again.
func leaving(ctx context.Context) error {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		if ctx.Err() != nil {
			return errors.New("the worker was stopped")
		}
	default:
	}
	return nil
}
