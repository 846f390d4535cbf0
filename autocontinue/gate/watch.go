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
	// clear frees what the events hold. append later moves the rest to a new array.
	clear(f.list[:drop])
	f.list, f.sizes = f.list[drop:], f.sizes[drop:]
}

// after returns the kept events above a sequence number, and whether these are all there were. last is the newest number.
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

// Watch calls f with every later event, in order and one at a time, after the state has changed and with the session
// unlocked. f may call the session: the events of that call come after f has returned, on the same goroutine. While one
// caller delivers events, other operations return without waiting.
//
// f must not block: later events wait for it. The session keeps no events for f except those of [Session.Events]. If a Seq
// does not follow the last one, events were dropped. A panic of f goes to the caller of the session, and the event is not
// delivered again. cancel does not wait: f may be running, and one more event may come.
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

// deliver hands events to the watchers until there are none left, unless another caller does so already.
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

// call calls one watcher with the session unlocked. It locks the session again, whatever f did.
func (s *Session) call(w *watcher, e Event) {
	if w.gone || e.Seq <= w.after {
		return
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	w.f(e.clone())
}

// Events returns the kept events with a sequence number above after, oldest first. all is false if some of them are no
// longer kept, or if after is above the last one, of another journal. Then show the state anew and go on from the last
// event. A reader that follows calls [Session.Watch] first and then Events, and skips by Seq what comes twice.
func (s *Session) Events(after uint64) (events []Event, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, all := s.events.after(after, s.st.seq)
	for _, e := range list {
		events = append(events, e.clone())
	}
	return events, all
}
