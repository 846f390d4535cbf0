package autocontinue

import (
	"context"
	"errors"
	"fmt"

	"github.com/sidecoach/sidecoach/classify"
)

// ErrNoSession is the error for an output, or a Reset, without a session ID: sessions are never shared.
var ErrNoSession = errors.New("autocontinue: empty session ID: set Output.Session to the conversation's ID")

// errUndecided is for a store that says it has stored what nobody has decided.
var errUndecided = errors.New("the store did not use what the update's function returned")

// errUnjudged ends an update that finds a state in which the output is to be classified after all.
var errUnjudged = errors.New("not classified yet")

// Handle decides about one output and takes the decision into the session's state. Outputs of one session are handled one
// after another, in the order in which they joined its queue; different sessions at the same time. The classifier, the verifier and
// the plan are asked only when [Known] does not decide, while no lock of the store is held. What they say counts for the
// state as it is when the decision is stored: a [AutoContinue.Reset] meanwhile means that the output's turn is over.
//
// A plan that cannot be read, a verifier that fails and a message that cannot be used never fail a decision;
// Decision.Degraded names them. With an error the decision is [Deliver], needs_human, [ReasonError], and nothing was recorded,
// unless the store wrote and could not say so: show the output, or hand the same output in again, not both. The errors are
// [ErrNoSession] and those of the classifier, the store and ctx, wrapped. How long a store that hangs is waited for is up to
// ctx and the store.
//
// It sets out.Resets itself. It does not keep out.
func (a *AutoContinue) Handle(ctx context.Context, out Output) (Decision, error) {
	start := a.cfg.Now()
	if s, ok := a.cfg.Observer.(Starter); ok {
		ctx = s.Start(ctx)
	}
	var d Decision
	err := a.enter(ctx, &out)
	if err == nil {
		defer a.queue.leave(out.Session)
		d, err = a.decide(ctx, out)
	} else {
		d = failure(out, State{}.used(out), classify.Result{})
	}
	if a.cfg.Observer != nil {
		e := newEvent(out, d, err)
		e.Time, e.Took = start, a.cfg.Now().Sub(start)
		if err := a.cfg.Observer.Observe(context.WithoutCancel(ctx), e); err != nil {
			a.cfg.Logger.WarnContext(ctx, "decision not observed", "session", out.Session, "decision", d.ID, "err", err)
		}
	}
	return d, err
}

// Reset says that the human spoke: it opens a turn, for hosts without turn IDs. It does not wait for a Handle in progress,
// whose output is delivered as superseded if it was not decided about before. Its errors are [ErrNoSession] and those of
// the store, wrapped.
func (a *AutoContinue) Reset(ctx context.Context, session string) error {
	if session == "" {
		return ErrNoSession
	}
	reset := false
	err := a.cfg.Store.Update(ctx, session, func(s State) (State, error) {
		reset = true
		return s.Reset(), nil
	})
	if err == nil && !reset {
		err = errUndecided
	}
	if err != nil {
		return fmt.Errorf("autocontinue: reset: %w", err)
	}
	return nil
}

// enter waits until out is the only output of its session that is handled. When there is none to wait for, Resets is left
// to decide, which reads the state at once.
func (a *AutoContinue) enter(ctx context.Context, out *Output) error {
	if out.Session == "" {
		return ErrNoSession
	}
	out.Resets = 0
	if a.queue.tryEnter(out.Session) {
		return nil
	}
	s, err := a.cfg.Store.Load(ctx, out.Session)
	if err != nil {
		return fmt.Errorf("autocontinue: load: %w", err)
	}
	out.Resets = s.resets()
	if err := a.queue.enter(ctx, out.Session); err != nil {
		return fmt.Errorf("autocontinue: waiting for the session: %w", err)
	}
	return nil
}

func (a *AutoContinue) decide(ctx context.Context, out Output) (Decision, error) {
	s, err := a.cfg.Store.Load(ctx, out.Session)
	if err != nil {
		return failure(out, s.used(out), classify.Result{}), fmt.Errorf("autocontinue: load: %w", err)
	}
	if out.Resets == 0 {
		out.Resets = s.resets()
	}

	w := way{policy: a.cfg.Policy, state: s, facts: Facts{Output: out}}
	update := w.update
	used, unread := s.unread(out)
	for {
		if unread {
			if w.facts, err = a.judge(ctx, w.state, used, out); err != nil {
				return failure(out, used, w.facts.Result), err
			}
			w.judged = true
		}
		err = a.cfg.Store.Update(ctx, out.Session, update)
		if err == nil && w.decided {
			return w.decision, nil
		}
		if err == nil {
			err = errUndecided
		}
		used, _ = w.state.unread(out)
		if !errors.Is(err, errUnjudged) {
			return failure(out, used, w.facts.Result), fmt.Errorf("autocontinue: update: %w", err)
		}
		unread = true
	}
}

// way is the way of one output to its decision.
type way struct {
	policy   Policy
	state    State // as it was seen last
	judged   bool  // facts are complete
	facts    Facts
	decided  bool // there is a decision
	decision Decision
}

// update is for [Store.Update].
func (w *way) update(now State) (next State, err error) {
	if w.judged {
		w.decision, next = Decide(w.policy, now, w.facts)
		w.decided = true
		return next, nil
	}
	if w.decision, next, w.decided = Known(w.policy, now, w.facts.Output); !w.decided {
		w.state = now
		return State{}, errUnjudged
	}
	return next, nil
}
