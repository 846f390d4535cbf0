package autocontinue

import "strings"

// Known decides about an output whose text need not be read: rows 1 to 6 of the table, see [Decide]. The bool says
// whether one of them held. If so, keep the returned state and act on the decision, whose Result is zero. If not, there
// is no decision yet: classify the output and call [Decide], with the returned state or the one given here. The
// returned state then differs from s only in the turn that o may have opened or named.
//
// It is pure: s is not changed, and the same arguments give the same result.
//
// A replay (row 1) leaves the state as it is. Only one whose unknown turn ends that of a recorded continuation opens
// this turn: the human has spoken.
func Known(s State, o Output) (Decision, State, bool) { return s.known(o, 0) }

// known is [Known] with Facts.Resets.
func (s State) known(o Output, resets int) (Decision, State, bool) {
	before := s
	s = s.copied()
	over := s.enter(o, resets)

	// Row 1.
	if r, ok := s.recorded(o.ID); ok {
		if over {
			return r.superseded().replay(o), before, true
		}
		if was, _ := before.recorded(o.ID); was.Reason != r.Reason {
			return r.replay(o), s, true // opening the turn superseded it
		}
		return r.replay(o), before, true
	}

	d := Decision{Continues: s.used(o)}
	closed, reported := s.isClosed(o.Run, o.Text)
	switch {
	case closed && !o.Failed && reported:
		d.Reason = "run_closed" // row 2
	case closed && !o.Failed:
		d.Reason = "run_reused" // row 2a
		d.degrade("run: it is closed and reported another text, which was not read; give every run its own Output.Run")
	case s.wasShown(o.Run, o.Text):
		d.Reason = "same_text" // row 3
	case over:
		d.Reason = "superseded" // row 4
	case o.Failed:
		d.Reason = "crash_guard" // row 5
		s.HandedOver = true
	case o.Hold != "":
		d.Reason = "hold" // row 6
		if why := shown(o.Hold, maxHold); why != "" {
			d.Note = "The agent must not be continued now: " + why + "."
		}
	default:
		return Decision{}, s, false
	}
	return s.settle(o, d), s, true
}

// settle completes d, which has a reason, and takes it into the state.
func (s *State) settle(o Output, d Decision) Decision {
	s.Seq++
	v := verdicts[d.Reason]
	d.ID, d.Action, d.Outcome = decisionID(o, s.Seq), v.action, v.outcome
	if d.Note == "" {
		d.Note = v.note
	}
	switch d.Action {
	case Suppress:
		return d
	case Continue:
		s.Continues = d.Continues
		s.history.Sent = digestOf("message", strings.TrimSpace(d.Message))
		s.closeRun(o)
	case Deliver:
		s.show(o)
		if d.Reason == "completion" {
			s.closeRun(o)
		}
	}
	if o.ID != "" {
		s.record(o, d)
	}
	return d
}
