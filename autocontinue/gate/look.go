package gate

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Pending returns the items that wait for a human, oldest first.
func (s *Session) Pending() []Item {
	return s.collect(openOf, func(it *item) bool { return it.Status == Pending })
}

// Unspent returns the items that are approved and not redeemed, oldest first. After a restart a host looks at them, at
// [Session.Executing], and at the [Session.Runs] that are neither finished nor denied: nothing resumes by itself.
func (s *Session) Unspent() []Item {
	return s.collect(openOf, func(it *item) bool { return it.Status == Approved })
}

// Executing returns the tool calls that were redeemed and have no result, oldest first.
func (s *Session) Executing() []Item {
	return s.collect(busyOf, func(*item) bool { return true })
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

// Items returns the items of a run, oldest first; none when the run is unknown or no longer kept.
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

// Runs returns the runs whose items are kept, in the order in which they were staged.
func (s *Session) Runs() []Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*run, 0, len(s.st.runs))
	for _, r := range s.st.runs {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *run) int {
		return cmp.Compare(s.st.items[a.items[0]].seq, s.st.items[b.items[0]].seq)
	})
	runs := make([]Run, len(list))
	for i, r := range list {
		runs[i] = r.Run
		runs[i].Phase = s.st.phase(r)
	}
	return runs
}

// Phase returns where a run stands, also one that is no longer kept; [NoRun] for an unknown one.
func (s *Session) Phase(run string) Phase {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.st.runs[run]; r != nil {
		return s.st.phase(r)
	}
	switch finished, gone := s.st.gone[run]; {
	case gone && finished:
		return Finished
	case gone:
		return Refused
	}
	return NoRun
}

// Head returns the sequence number and the hash of the last line; 0 and zeros before the first.
func (s *Session) Head() (seq uint64, sum string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.seq, s.st.sum
}

// Journaled returns the bytes of all lines, written and replayed: how long the journal is when its last line is whole.
// Options.Journal must not call it; it may be called between.
func (s *Session) Journaled() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.bytes
}

// SetPolicy replaces the policy, journaled in by's name. Pending items stay pending: the new policy is asked about them when
// they are approved, redeemed, or proposed again.
//
// Errors: ErrInput, ErrJournal.
func (s *Session) SetPolicy(now time.Time, by string, p Policy) error {
	if err := checkBy(by); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	return s.op(now, func(now time.Time) error {
		return s.write(now, Event{Type: PolicyChanged, By: by, Policy: &p})
	})
}

// Policy returns the policy that holds.
func (s *Session) Policy() Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.policy
}

// SetAudited says whether humans are asked from now on, journaled in by's name. Pending items stay pending.
//
// Errors: ErrInput, ErrJournal.
func (s *Session) SetAudited(now time.Time, by string, on bool) error {
	if err := checkBy(by); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	return s.op(now, func(now time.Time) error {
		return s.write(now, Event{Type: AuditChanged, By: by, Audited: &on})
	})
}

// Audited reports whether humans are asked.
func (s *Session) Audited() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.audited
}
