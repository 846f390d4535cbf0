package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// handle decides about an output and does what was decided.
func (s *session) handle(p Pause) {
	out := p.Output
	out.Session = s.Name
	if s.handled(out) {
		s.Counts.Outputs++
		s.Counts.Replayed++
		return
	}
	over := s.isOver(p)
	s.hold(&out)
	policy := s.Config.policy()
	d, next, ok := autocontinue.Known(s.State, out)
	if over {
		// Its turn is not the current one, whatever Known makes of it.
		d, next = autocontinue.Decide(policy, s.State, autocontinue.Facts{Output: out, Resets: s.resets() + 1})
	} else if !ok {
		s.State = next // with the turn that out may have opened, which a word may end while out is judged
		facts := s.judge(out)
		facts.Resets = p.Resets
		if facts.Result.Fallback != "" {
			s.Counts.Fallbacks++
		}
		s.hear() // who spoke meanwhile has ended the turn
		s.hold(&facts.Output)
		d, next = autocontinue.Decide(policy, s.State, facts)
	}
	s.State = next
	s.Counts.Outputs++
	s.Counts.Reasons[string(d.Reason)]++
	switch {
	case d.Action == autocontinue.Suppress:
		s.Counts.Suppressed++
	case d.Action == autocontinue.Continue && s.Config.Agent:
		s.Counts.Continued++
		st := s.step("coach", d.Message, d.ID)
		st.Turn, st.Request, st.Plan = orElse(out.Turn, st.Turn), orElse(out.Request, st.Request), orElse(out.PlanFile,
			st.Plan)
		s.Steps = append(s.Steps, st)
	case d.Action == autocontinue.Continue:
		s.Counts.Continued++
		s.act(out, d, d.Message)
	default:
		s.Counts.Delivered++
		s.act(out, d, out.Text)
	}
}

// handled reports whether an output with that ID was handled before, and notes it down. The state knows by itself, of
// the last 8 decisions and 9 turns; a queue may deliver again what is older.
func (s *session) handled(out autocontinue.Output) bool {
	key := keyOf(out.ID)
	if slices.Contains(s.Done, key) {
		return true
	}
	s.Done = remember(s.Done, key, maxDone)
	return false
}

// isOver reports whether the turn of p is over, also one that is too long ago for the state to know. If the workflow
// runs the agent, it has heard every turn: an unknown one is long over. A new turn is remembered.
func (s *session) isOver(p Pause) bool {
	known := slices.Contains(s.Turns, p.Turn)
	switch {
	case p.Resets != 0 && p.Resets != s.resets():
		return true
	case p.Turn == "": // the current turn
	case s.past(p.Turn), s.Config.Agent && !known:
		return true
	case !known && !plaintext.IsOurs(p.Request):
		s.Turns = remember(s.Turns, p.Turn, maxTurns)
	}
	return false
}

// past reports whether a turn is one of those remembered, and over.
func (s *session) past(turn string) bool {
	i := slices.Index(s.Turns, turn)
	return i >= 0 && i < len(s.Turns)-1
}

// hold lets nothing be continued once the session is cancelled.
func (s *session) hold(out *autocontinue.Output) {
	if s.ctx.Err() != nil && out.Hold == "" {
		out.Hold = "the session was cancelled"
	}
}

// judge returns the facts about out: the model's or, when it fails for good, the heuristic's, which say so. When not
// even the heuristic answers they are empty, which Decide delivers.
func (s *session) judge(out autocontinue.Output) autocontinue.Facts {
	defer s.busy("judging")()
	in := Question{State: s.State, Output: out}
	var (
		facts autocontinue.Facts
		why   string
	)
	if s.Config.Model {
		asked := workflow.ExecuteActivity(workflow.WithActivityOptions(s.firm, askOptions), ActivityAskModel, in)
		err := s.await(asked).Get(s.firm, &facts)
		if err == nil {
			facts.Output = out
			return facts
		}
		why = reason(err)
		facts = autocontinue.Facts{}
	}
	ctx := workflow.WithLocalActivityOptions(s.firm, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3},
	})
	if err := workflow.ExecuteLocalActivity(ctx, ActivityJudge, in).Get(s.firm, &facts); err != nil {
		workflow.GetLogger(s.firm).Error("not judged", "output", out.ID, "err", err)
		return autocontinue.Facts{Output: out}
	}
	facts.Output = out
	if facts.Result.Fallback == "" && why != "" {
		facts.Result.Fallback = "llm: " + why
	}
	return facts
}

// askOptions let the engine do what classify/llm would do by itself: try again, but not what will never succeed.
var askOptions = workflow.ActivityOptions{
	StartToCloseTimeout:    20 * time.Second,
	ScheduleToCloseTimeout: 2 * time.Minute,
	RetryPolicy: &temporal.RetryPolicy{
		InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 20 * time.Second, MaximumAttempts: 5,
		NonRetryableErrorTypes: Final,
	},
}

// act does what was decided about out, however often it has to be tried.
func (s *session) act(out autocontinue.Output, d autocontinue.Decision, text string) {
	defer s.busy("acting")()
	effect := Effect{
		Key: d.ID, Session: s.Name, Turn: out.Turn, Run: out.Run, Action: d.Action, Reason: d.Reason, Text: text,
		Note: d.Note,
	}
	s.last = &effect
	ctx := workflow.WithActivityOptions(s.firm, workflow.ActivityOptions{
		StartToCloseTimeout: s.Config.actLimit(),
		RetryPolicy: &temporal.RetryPolicy{ // without an end: sooner or later the human sees it
			InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: time.Minute,
			NonRetryableErrorTypes: []string{ErrRefused},
		},
	})
	if err := s.await(workflow.ExecuteActivity(ctx, ActivityAct, effect)).Get(s.firm, nil); err != nil {
		s.Counts.Undone++
		workflow.GetLogger(s.firm).Error("not done", "decision", d.ID, "err", err)
	}
}

// reason is what an activity's error says, without the engine's words around it.
func reason(err error) string {
	var (
		app     *temporal.ApplicationError
		timeout *temporal.TimeoutError
	)
	switch {
	case errors.As(err, &app):
		return app.Message()
	case errors.As(err, &timeout):
		return fmt.Sprintf("no answer in time (%s)", timeout.TimeoutType())
	}
	return err.Error()
}
