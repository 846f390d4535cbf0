package autocontinue

import "strings"

// Known decides about an output that needs no reading: rows 1 to 6 of the table, see [Decide]. The bool says whether one of
// them held. If so, keep the returned state and act on the decision, whose Result is zero. If not, there is no decision
// yet: classify the output and call [Decide], with the returned state or the one given here. The returned state then
// differs from s only in the turn that o may have opened, or named.
//
// It is pure: s is not changed, and the same arguments give the same result. It asks nothing of p today.
//
// A replay (row 1) leaves the state as it is: an output of a turn that is long forgotten opens none. Only one whose unknown
// turn ends that of a continuation opens it: the human has spoken.
func Known(p Policy, s State, o Output) (Decision, State, bool) {
	given := s
	at, id := s.place(o)
	switch {
	case at == opening:
		s.open(id)
	case id != key{}:
		s.turn.ID = id // else what comes next under this name would open it again
	}
	if r, ok := s.recorded(o.ID); ok {
		if at == over {
			r = r.superseded()
		}
		if live, _ := given.recorded(o.ID); at != over && live.Reason != r.Reason {
			return r.replay(), s, true
		}
		return r.replay(), given, true
	}
	d := Decision{Reason: s.known(o, at), Continues: s.used(o)}
	switch d.Reason {
	case "":
		return Decision{}, s, false
	case ReasonCrashGuard:
		s.HandedOver = true
	case ReasonHold:
		d.Note = holdNote(o.Hold)
	}
	return s.settle(o, d), s, true
}

// known returns the reason of the first of rows 2 to 6 that holds, or "".
func (s State) known(o Output, at place) Reason {
	switch {
	case s.isClosed(o.Run) && !o.Failed:
		return ReasonRunClosed
	case s.wasShown(o.Run, o.Text):
		return ReasonSameText
	case at == over:
		return ReasonSuperseded
	case o.Failed:
		return ReasonCrashGuard
	case o.Hold != "":
		return ReasonHold
	}
	return ""
}

// unread reports whether o probably has to be read: what [Known] finds, without the state that it returns. Used is how often
// o's turn was continued.
func (s State) unread(o Output) (used int, _ bool) {
	at, _ := s.place(o)
	if at == opening {
		s.Continues = 0
	}
	_, recorded := s.recorded(o.ID)
	return s.used(o), !recorded && s.known(o, at) == ""
}

// settle completes d, which has a reason, and takes it into the state.
func (s *State) settle(o Output, d Decision) Decision {
	s.Seq++
	id := newDecisionID(o, s.Seq)
	d.ID = id.String()
	d.Action, d.Outcome, _ = d.Reason.verdict()
	if d.Note == "" {
		d.Note = note(d.Reason)
	}
	switch d.Action {
	case Suppress:
		return d
	case Continue:
		s.Continues = d.Continues
		s.sent = keyOf(messageKey, strings.TrimSpace(d.Message))
		s.closeRun(o.Run)
	case Deliver:
		s.show(o.Run, o.Text)
		if d.Reason == ReasonCompletion {
			s.closeRun(o.Run)
		}
	}
	if o.ID != "" {
		s.record(o, id, d)
	}
	return d
}
