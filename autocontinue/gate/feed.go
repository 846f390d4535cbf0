package gate

import "slices"

// feed keeps the last events for those who come later.
type feed struct {
	list  []Event
	sizes []int
	bytes int
	most  int // events
	room  int // bytes
}

func (f *feed) add(e Event, size int) {
	f.list, f.sizes, f.bytes = append(f.list, e), append(f.sizes, size), f.bytes+size
	drop := 0
	for len(f.list)-drop > 1 && (len(f.list)-drop > f.most || f.bytes > f.room) {
		f.bytes -= f.sizes[drop]
		drop++
	}
	// Delete clears what it frees; append moves the rest to a new array before the old one has grown twice as long.
	f.list, f.sizes = trim(f.list, drop), trim(f.sizes, drop)
}

// trim drops the first n elements and lets go of what they held.
func trim[T any](list []T, n int) []T {
	clear(list[:n])
	return list[n:]
}

// after returns the kept events above a sequence number, and whether these are all there were; last is the newest number.
func (f *feed) after(seq, last uint64) ([]Event, bool) {
	if seq >= last {
		return nil, seq == last
	}
	first := last - uint64(len(f.list)) + 1
	if seq+1 < first {
		return f.list, false
	}
	return f.list[seq+1-first:], true
}

// watcher is one function that wants the events after a number.
type watcher struct {
	f     func(Event)
	after uint64
	gone  bool
}

// Watch calls f with every later event, in order and one at a time, after the state has changed and without a lock: f may
// call the session, and an answer that it gives at once is not lost. The events of that answer come after f has returned, on
// the same goroutine. While one caller delivers, others return without waiting: an operation may return before its event
// was seen.
//
// Who waits for one item looks at [Session.Item] after every event, of whatever type: an item leaves Pending by expiry, by a
// stand-in result and with its run, too.
//
// f must not block: later events wait for it. The session keeps none for f beyond those of [Session.Events], so a Seq that
// is not one above the last says that events were dropped meanwhile. A panic of f goes to whoever called the session, and
// the event is not delivered again. cancel does not wait: f may be running when it returns, and one event that another
// goroutine is just handing over may still come.
func (s *Session) Watch(f func(Event)) (cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &watcher{f: f, after: s.st.seq}
	s.watchers = append(slices.Clone(s.watchers), w)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.gone = true
		s.watchers = slices.DeleteFunc(slices.Clone(s.watchers), func(o *watcher) bool { return o == w })
	}
}

// deliver hands events to the watchers until there are none left, unless another caller is at it. It is called without the
// lock.
func (s *Session) deliver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.delivering {
		return
	}
	s.delivering = true
	defer func() { s.delivering = false }()
	for s.delivered < s.st.seq {
		next, _ := s.events.after(s.delivered, s.st.seq)
		e := next[0]
		s.delivered = e.Seq
		for _, w := range s.watchers {
			s.call(w, e)
		}
	}
}

// call calls one watcher without the lock, and has the lock again afterwards whatever f did.
func (s *Session) call(w *watcher, e Event) {
	if w.gone || e.Seq <= w.after {
		return
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	w.f(e.clone())
}

// Events returns the kept events with a sequence number above after, oldest first. all is false when some between are no
// longer kept, or when after is above the last one, of another journal: show [Session.Runs], [Session.Items] and
// [Session.Pending] anew and go on from the last event.
//
// A reader that follows calls [Session.Watch] first and Events then, and passes over what it has twice by Seq.
func (s *Session) Events(after uint64) (events []Event, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, all := s.events.after(after, s.st.seq)
	for _, e := range list {
		events = append(events, e.clone())
	}
	return events, all
}
