package autocontinue

import "slices"

// place is where the turn of an output stands among those of a state.
type place int

const (
	current place = iota
	opening       // it is a new one
	over
)

// place returns where o's turn stands, and the key of one that is opening, or that is the current one, which had none so far.
func (s State) place(o Output) (place, key) {
	if o.Resets != 0 && o.Resets != s.resets() {
		return over, key{}
	}
	if o.Turn == "" {
		return current, key{}
	}
	id := keyOf(turnKey, o.Turn)
	switch {
	case s.turn.ID == id:
		return current, key{}
	case slices.ContainsFunc(s.past, func(t turn) bool { return t.ID == id }):
		return over, key{}
	case s.ours(o.Request):
		if s.turn.ID == (key{}) {
			return current, id
		}
		return current, key{}
	}
	return opening, id
}

// Reset returns the state after the human spoke, for hosts without turn IDs that keep the state themselves; others call
// [AutoContinue.Reset]. It opens a turn and counts itself in Resets.
func (s State) Reset() State {
	s.Resets = s.resets() + 1
	s.open(key{})
	return s
}

// open makes a new turn the current one.
func (s *State) open(id key) {
	if s.turn != (turn{}) { // without a name or a run there is nothing of it to remember
		if len(s.past) == maxPast {
			// What is added next copies the rest: until then the memory of the oldest is kept.
			s.closed, s.shown = s.closed[s.past[0].Closed:], s.shown[s.past[0].Shown:]
			s.past = s.past[1:]
		}
		s.past = with(s.past, s.turn)
	}
	s.turn = turn{ID: id}
	s.Continues, s.HandedOver, s.gaps = 0, false, nil
	if slices.ContainsFunc(s.records, record.continues) {
		s.records = slices.Clone(s.records)
		for i, r := range s.records {
			s.records[i] = r.superseded()
		}
	}
}
