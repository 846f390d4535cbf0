package gate

import (
	"cmp"
	"slices"
)

// Pending returns the items that wait for a person, oldest first.
func (s *Session) Pending() []Item {
	return s.collect(openOf, func(it *item) bool { return it.Status == Pending })
}

// Unfinished returns the items that are approved and not redeemed, and then the calls that execute: redeemed and without a
// result. After a restart a host looks at them, and at the [Session.Runs] that go on.
func (s *Session) Unfinished() []Item {
	approved := s.collect(openOf, func(it *item) bool { return it.Status == Approved })
	return append(approved, s.collect(busyOf, func(*item) bool { return true })...)
}

func (s *Session) collect(of func(*run) map[string]struct{}, ok func(*item) bool) []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.st.list(of, ok)
	items := make([]Item, len(list))
	for i, it := range list {
		items[i] = it.copied()
	}
	return items
}

// Item returns one item.
func (s *Session) Item(id string) (Item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.st.items[id]
	if it == nil {
		return Item{}, false
	}
	return it.copied(), true
}

// Items returns the items of a run, oldest first; none if the run is unknown or no longer kept.
func (s *Session) Items(run string) []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.st.runs[run]
	if r == nil {
		return nil
	}
	items := make([]Item, len(r.items))
	for i, id := range r.items {
		items[i] = s.st.items[id].copied()
	}
	return items
}

// Runs returns the runs whose items are kept, in the order in which they began.
func (s *Session) Runs() []Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*run, 0, len(s.st.runs))
	for _, r := range s.st.runs {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *run) int {
		return cmp.Compare(s.st.items[a.items[0]].Seq, s.st.items[b.items[0]].Seq)
	})
	runs := make([]Run, len(list))
	for i, r := range list {
		runs[i] = r.Run
		runs[i].Phase = s.st.phase(r)
	}
	return runs
}

// Phase returns where a run stands, also one that is no longer kept.
func (s *Session) Phase(run string) Phase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.phaseOf(run)
}

// Head returns the sequence number and the hash of the last line, 0 and zeros before the first, and the bytes of all whole
// lines, also replayed ones. Options.Journal must not call it.
func (s *Session) Head() (seq uint64, sum string, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.seq, s.st.sum, s.st.bytes
}
