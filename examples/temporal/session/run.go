package session

import (
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// flight is an agent, or a tool, that runs.
type flight struct {
	kind   string // "agent" or "tool"
	step   Step
	item   string // of a tool's call
	over   bool   // nobody waits for it any more
	future workflow.Future
	cancel workflow.CancelFunc
}

// step is a message for the agent, in the turn that is the current one.
func (s *session) step(from, message, decision string) Step {
	return Step{
		From: from, Message: message, Decision: decision,
		Turn: s.Turn, Request: s.Request, Plan: s.Plan, Resets: s.resets(),
	}
}

// stop ends the run that goes on, and forgets what was to be sent.
func (s *session) stop(why string) {
	if s.flight != nil && !s.flight.over {
		s.flight.over = true
		s.flight.cancel()
	}
	if len(s.Steps) > 0 && s.Steps[0].Run != "" {
		s.runGate.close(workflow.Now(s.ctx), s.Steps[0].Run, why)
	}
	s.runGate, s.Steps = nil, nil
}

// advance takes the agent's runs on as far as it goes without waiting. It reports whether an output came of it: a run
// that was not approved.
func (s *session) advance() bool {
	before := len(s.Outputs)
	for s.flight == nil && len(s.Steps) > 0 {
		st := &s.Steps[0]
		if st.Run == "" && !s.stage(st) {
			continue
		}
		if !s.pass(st) {
			break
		}
	}
	return len(s.Outputs) > before
}

// stage begins a run of the agent: its message is before the gate.
func (s *session) stage(st *Step) bool {
	s.Counts.Agents++
	st.Run = fmt.Sprintf("run-%d", s.Counts.Agents)
	var err error
	if s.runGate, err = openRunGate(s.Config, nil); err == nil {
		st.Item, err = s.runGate.stage(workflow.Now(s.ctx), s.Name, st)
	}
	if err != nil {
		s.drop(*st, err.Error())
		return false
	}
	return true
}

// pass looks at what the first step waits for. It reports whether there is more to look at.
func (s *session) pass(st *Step) bool {
	now := workflow.Now(s.ctx)
	if reason, ended := s.runGate.ended(st.Run); ended {
		s.drop(*st, reason)
		return true
	}
	if st.Item != "" {
		message, reason, open := s.runGate.message(now, st.Item)
		switch {
		case open:
			return false
		case reason != "":
			s.drop(*st, reason)
			return true
		}
		st.Item, st.Message = "", message
		s.runAgent(*st, nil)
		return false
	}
	for _, id := range st.Calls {
		grant, open := s.runGate.call(now, id)
		if grant != nil {
			s.runTool(*st, id, *grant)
		}
		if open {
			return false
		}
	}
	answers := s.runGate.answers(st.Calls)
	st.Calls = nil
	s.runAgent(*st, answers)
	return false
}

// drop gives a run up that the gate did not let go on. The human hears of it; nothing is continued.
func (s *session) drop(st Step, why string) {
	s.runGate, s.Steps = nil, s.Steps[1:]
	s.Outputs = append(s.Outputs, st.output("/denied", Reply{Text: why}, "not approved"))
}

// output is what a run of st ended in.
func (st Step) output(id string, r Reply, hold string) Pause {
	return Pause{Resets: st.Resets, Output: bounded(autocontinue.Output{
		Turn: st.Turn, Run: st.Run, ID: st.Run + id, Text: r.Text, Request: st.Request, PlanFile: st.Plan,
		Failed: r.Failed, Hold: hold, Evidence: r.Evidence,
	})}
}

func (s *session) runAgent(st Step, answers []Answer) {
	p := Prompt{
		Session: s.Name, Turn: st.Turn, Run: st.Run, From: st.From, Message: st.Message, Decision: st.Decision,
		Answers: answers,
	}
	s.launch("agent", st, "", s.Config.runAttempts(), ActivityRunAgent, p)
}

func (s *session) runTool(st Step, item string, g gate.Subject) {
	// A tool whose worker was lost is not called again: whether it was done is for a human to find out.
	s.launch("tool", st, item, 1, ActivityRunTool, Call{ID: g.Call, Tool: g.Tool, Args: g.Body})
}

// launch starts an activity that takes long. It is waited for even after it was cancelled: before the next run begins,
// the process of this one is gone.
func (s *session) launch(kind string, st Step, item string, attempts int32, activity string, arg any) {
	ctx, cancel := workflow.WithCancel(s.ctx)
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: s.Config.runLimit() + time.Minute, // the activity itself keeps the limit
		HeartbeatTimeout:    s.Config.heartbeat(),
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: attempts,
			NonRetryableErrorTypes: []string{ErrRefused},
		},
	})
	s.flight = &flight{kind: kind, step: st, item: item, cancel: cancel}
	s.flight.future = workflow.ExecuteActivity(ctx, activity, arg)
}

// land takes what came back.
func (s *session) land() {
	f := s.flight
	if f == nil || !f.future.IsReady() {
		return
	}
	s.flight = nil
	if f.kind == "tool" {
		var result json.RawMessage
		err := f.future.Get(s.firm, &result)
		if !f.over {
			s.runGate.done(workflow.Now(s.ctx), f.item, result, err)
		}
		return
	}
	var r Reply
	err := f.future.Get(s.firm, &r)
	switch {
	case temporal.IsCanceledError(err):
		r = Reply{Stopped: true} // before it had begun
	case err != nil:
		r = Reply{Text: "The run of the agent was lost: " + reason(err), Failed: true}
	}
	if f.over || s.ctx.Err() != nil {
		if r.Text != "" {
			s.Outputs = append(s.Outputs, f.step.output("/stopped", r, ""))
		}
		return
	}
	st := &s.Steps[0]
	if len(r.Calls) > 0 && !r.Failed {
		err := s.ask(st, r.Calls)
		if err == nil {
			return
		}
		r = Reply{Text: r.Text + "\nA call of a tool could not be taken: " + err.Error(), Failed: true}
	}
	s.runGate.close(workflow.Now(s.ctx), st.Run, "")
	s.Outputs = append(s.Outputs, st.output("/return", r, ""))
	s.runGate, s.Steps = nil, s.Steps[1:]
}
