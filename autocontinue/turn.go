package autocontinue

import "slices"

// enter returns the state in which o is judged, with a turn opened if o begins one, and whether o's turn is over.
func (s State) enter(o Output) (_ State, over bool) {
	if o.Resets != 0 && o.Resets != s.resets() {
		return s, true
	}
	if o.Turn == "" {
		return s, false
	}
	id := keyOf(turnKey, o.Turn)
	for i, t := range s.turns {
		if t.ID == id {
			return s, i < len(s.turns)-1
		}
	}
	if s.ours(o.Request) {
		return s, false
	}
	s.open(id)
	return s, false
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
	turns := s.turns
	if n := len(turns); n > 0 && turns[n-1] == (turn{}) {
		turns = turns[:n-1] // without a name or a run there is nothing of it to remember
	}
	if len(turns) >= maxTurns {
		oldest := turns[0]
		turns = turns[1:]
		s.closed = slices.Clone(s.closed[oldest.Closed:])
		s.shown = slices.Clone(s.shown[oldest.Shown:])
	}
	s.turns = with(turns, turn{ID: id})
	s.Continues, s.HandedOver, s.gaps = 0, false, nil

	records := slices.Clone(s.records)
	for i, r := range records {
		records[i] = r.superseded()
	}
	s.records = records
}

func (s State) current() turn {
	if len(s.turns) == 0 {
		return turn{}
	}
	return s.turns[len(s.turns)-1]
}

func (s *State) setCurrent(t turn) {
	if len(s.turns) == 0 {
		s.turns = []turn{t}
		return
	}
	s.turns = slices.Clone(s.turns)
	s.turns[len(s.turns)-1] = t
}
