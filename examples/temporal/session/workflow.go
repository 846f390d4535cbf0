package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// WorkflowName is the type under which [Register] registers [Workflow].
const WorkflowName = "sidecoach-session"

// Workflow is one session, over all the runs of the workflow it takes. It ends after [SignalEnd], or when it is
// cancelled: then the agent is killed, and what nobody has seen yet is delivered.
func Workflow(ctx workflow.Context, in Session) (Counts, error) {
	s, err := begin(ctx, in)
	if err != nil {
		return Counts{}, temporal.NewNonRetryableApplicationError(err.Error(), "config", err)
	}
	for {
		s.receive()
		s.land()
		s.expire()
		over := s.due() && s.fits() // begin nothing more in this run
		switch {
		case over && s.flight == nil:
			// What came until now was received above, and nothing has been waited for since: no signal is left behind. Should
			// one come before the server has taken this, the server does not take it, and this task is done again.
			s.Counts.Runs++
			return Counts{}, workflow.NewContinueAsNewError(ctx, WorkflowName, s.Session)
		case len(s.Outputs) > 0 && !over:
			out := s.Outputs[0]
			s.Outputs = s.Outputs[1:]
			s.handle(out)
			continue
		}
		if !over && s.advance() {
			continue
		}
		if s.finished() {
			s.Counts.Runs++
			if s.cancelled {
				return s.Counts, temporal.NewCanceledError(s.Counts)
			}
			return s.Counts, nil
		}
		s.wait()
	}
}

// session is a run of the workflow.
type session struct {
	Session
	ctx  workflow.Context // of what the human, or the end of the session, breaks off
	firm workflow.Context // of what is never broken off: judging and acting

	words, outputs, answers, end workflow.ReceiveChannel

	runGate   *runGate
	flight    *flight
	cancelled bool
	doing     string
	last      *Effect
}

func begin(ctx workflow.Context, in Session) (*session, error) {
	if in.Name == "" {
		return nil, autocontinue.ErrNoSession
	}
	if err := in.Config.Check(); err != nil {
		return nil, err
	}
	s := &session{
		Session: in, ctx: ctx, doing: "waiting",
		words: workflow.GetSignalChannel(ctx, SignalWord), outputs: workflow.GetSignalChannel(ctx, SignalOutput),
		answers: workflow.GetSignalChannel(ctx, SignalAnswer), end: workflow.GetSignalChannel(ctx, SignalEnd),
	}
	if s.Counts.Reasons = maps.Clone(s.Counts.Reasons); s.Counts.Reasons == nil {
		s.Counts.Reasons = make(map[string]int)
	}
	s.firm, _ = workflow.NewDisconnectedContext(ctx)
	if err := workflow.SetQueryHandler(ctx, QueryState, func() (View, error) { return s.view(), nil }); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	if len(s.RunGate) > 0 {
		var err error
		if s.runGate, err = openRunGate(in.Config, s.RunGate); err != nil {
			return nil, fmt.Errorf("approvals: %w", err)
		}
		s.RunGate = nil
	}
	return s, nil
}

// receive takes what has come, without waiting.
func (s *session) receive() {
	s.hear()
	for {
		var d gate.Decision
		if !s.answers.ReceiveAsync(&d) {
			break
		}
		s.answer(d)
	}
	for s.end.ReceiveAsync(nil) {
		s.Ending = true
	}
}

// hear takes what breaks off what goes on: the human's words, and that the session was cancelled. The reports that have
// come are taken down before: one that came before a word, and was not looked at yet, belongs to the turn that the word
// ends.
func (s *session) hear() {
	for {
		var out autocontinue.Output
		if !s.outputs.ReceiveAsync(&out) {
			break
		}
		s.report(out)
	}
	for {
		var w Word
		if !s.words.ReceiveAsync(&w) {
			break
		}
		s.word(w)
	}
	if s.ctx.Err() != nil && !s.cancelled {
		s.cancelled, s.Ending = true, true
		s.stop("the session was cancelled")
	}
}

// await returns when f is ready. Meanwhile only the human is heard: a effect that has to be tried for hours keeps
// nobody from stopping the agent.
func (s *session) await(f workflow.Future) workflow.Future {
	for !f.IsReady() {
		sel := workflow.NewSelector(s.firm)
		sel.AddFuture(f, func(workflow.Future) {})
		s.listen(sel, s.words)
		sel.Select(s.firm)
		s.hear()
	}
	return f
}

// listen lets channels, and a cancellation, wake a selector up; what they hold is received elsewhere.
func (s *session) listen(sel workflow.Selector, channels ...workflow.ReceiveChannel) {
	if !s.cancelled {
		channels = append(channels, s.ctx.Done())
	}
	for _, ch := range channels {
		sel.AddReceive(ch, func(workflow.ReceiveChannel, bool) {})
	}
}

// word opens a turn: the agent is stopped, and nothing that was on its way to it is sent any more.
func (s *session) word(w Word) {
	w.ID, w.PlanFile = short(w.ID, maxID), short(w.PlanFile, maxPath)
	switch {
	case s.Ending:
		s.refuse("word", errors.New("the session is ending"))
		return
	case w.Text == "":
		s.refuse("word", errors.New("empty: give it a text"))
		return
	case plaintext.IsOurs(w.Text):
		s.refuse("word", errors.New("it is a message of the coach, and not the human's"))
		return
	case w.ID != "" && slices.Contains(s.Heard, w.ID):
		return
	}
	if w.ID == "" {
		w.ID = fmt.Sprintf("word-%d", s.Counts.Words+1)
	}
	if s.past(w.ID) || !s.open(w.ID) {
		s.refuse("word", errors.New("its ID is that of a turn that is over"))
		return
	}
	s.Counts.Words++
	s.Heard = remember(s.Heard, w.ID, maxHeard)
	if !slices.Contains(s.Turns, w.ID) {
		s.Turns = remember(s.Turns, w.ID, maxTurns)
	}
	s.Turn, s.Request, s.Plan = w.ID, clip(w.Text), w.PlanFile
	s.stop("the human spoke")
	if s.Config.Agent {
		s.Steps = append(s.Steps, s.step("human", s.Request, ""))
	}
}

// open makes a turn the current one, so that reports of the one before are superseded, also if they come without a
// turn. It reports false for a turn that is over.
func (s *session) open(turn string) bool {
	first := autocontinue.Output{Session: s.Name, Turn: turn}
	_, next, ok := autocontinue.Known(s.State, first)
	switch {
	case ok:
		return false
	case !next.Equal(s.State): // else a report of this turn came before the word
		_, s.State, _ = autocontinue.Known(s.State.Reset(), first)
	}
	return true
}

// report takes an output that somebody else saw.
func (s *session) report(out autocontinue.Output) {
	switch {
	case out.Session != "" && out.Session != s.Name:
		s.refuse("output", errors.New("it is of another session"))
		return
	case out.ID == "":
		s.refuse("output", errors.New("without an ID: it could not be told from the same one delivered again"))
		return
	}
	p := Pause{Output: bounded(out)}
	if out.Turn == "" {
		p.Resets = s.resets() // if the human speaks before it is judged, its turn is over
	}
	s.Outputs = append(s.Outputs, p)
}

func (s *session) refuse(signal string, err error) {
	s.Refused = remember(s.Refused, plaintext.Line(signal+": "+err.Error(), 200), maxRefused)
	workflow.GetLogger(s.ctx).Warn("signal refused", "signal", signal, "err", err)
}

func (s *session) resets() int { return max(s.State.Resets, 1) }

func (s *session) finished() bool {
	return s.Ending && len(s.Outputs) == 0 && len(s.Steps) == 0 && s.flight == nil
}

// wait returns when something has happened.
func (s *session) wait() {
	defer s.busy(s.waitingFor())()
	sel := workflow.NewSelector(s.firm)
	s.listen(sel, s.words, s.outputs, s.answers, s.end)
	if s.flight != nil {
		sel.AddFuture(s.flight.future, func(workflow.Future) {})
	}
	if at, ok := s.runGate.deadline(); ok {
		ctx, cancel := workflow.WithCancel(s.firm)
		defer cancel()
		sel.AddFuture(workflow.NewTimer(ctx, at.Sub(workflow.Now(ctx))), func(workflow.Future) {})
	}
	sel.Select(s.firm)
}

func (s *session) waitingFor() string {
	switch {
	case s.flight != nil:
		return s.flight.kind
	case len(s.runGate.pending()) > 0:
		return "approval"
	}
	return "waiting"
}

// busy says what is going on, until the returned function is called.
func (s *session) busy(doing string) func() {
	s.doing = doing
	return func() { s.doing = "waiting" }
}

func (s *session) view() View {
	v := View{
		Session: s.Name, Turn: s.Turn, Doing: s.doing, Continues: s.State.Continues, Handed: s.State.HandedOver,
		Backlog: len(
			s.Outputs,
		), Ending: s.Ending, Asked: s.runGate.pending(), Last: s.last, Counts: s.Counts, Refused: s.Refused,
	}
	if s.flight != nil {
		v.Run = s.flight.step.Run
	} else if len(s.Steps) > 0 {
		v.Run = s.Steps[0].Run
	}
	return v
}
