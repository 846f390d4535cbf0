package gate

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Session holds the items of one journal. Make one with [New] or [Replay]. It is safe for concurrent use.
//
// Every method that takes now is an operation: it checks, writes the lines of its events to the journal, changes the state,
// lets go of the lock, and tells the watchers. now is the host's clock; it should not run backwards by much, and nothing
// breaks if it does.
type Session struct {
	mu      sync.Mutex
	options Options
	st      *state
	events  feed
	broken  error // lines may have been written that the state did not take

	watchers   []*watcher
	delivered  uint64
	delivering bool
}

// New returns a session without history. The error is about the options.
func New(p Policy, o Options) (*Session, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	s := &Session{options: o, st: newState(p, o)}
	s.events = feed{most: o.MaxEvents, room: o.EventBytes}
	return s, nil
}

// Replay returns the session that wrote journal, as it was after the last whole line. The policy and whether the session is
// audited are those that the journal set last; p and o.Audited hold where it set none. Items that were pending still are, to
// the same digest; approved ones are in [Session.Unspent], calls that were executing in [Session.Executing]. Nothing
// resumes by itself, and nothing is journaled.
//
// A last line without its newline was never written wholly and is left out. Before anything is appended, the host truncates
// the file to [Session.Journaled] bytes, or the next line is joined to it.
//
// A line that was changed, left out, added or moved is a [*JournalError] that names it. Lines missing at the end leave a
// shorter journal that is whole: a host that must see that too keeps [Session.Head] elsewhere and demands it by
// Options.Head. The hashes need no key, so they show accidents and careless changes; against somebody who writes a whole new
// journal only a Head kept out of their reach helps.
func Replay(p Policy, o Options, journal io.Reader) (*Session, error) {
	s, err := New(p, o)
	if err != nil {
		return nil, err
	}
	if err := s.replay(journal); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	s.delivered = s.st.seq
	return s, nil
}

// op runs one operation under the lock and tells the watchers afterwards. Whatever it returned is wrapped once.
func (s *Session) op(now time.Time, do func(now time.Time) error) error {
	now, err := instant(now)
	if err == nil {
		err = func() error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.broken != nil {
				return s.broken
			}
			return do(now)
		}()
		s.deliver()
	}
	if err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	return nil
}

// instant returns a time as lines hold it.
func instant(now time.Time) (time.Time, error) {
	now = now.UTC().Round(0)
	if now.Year() < 1970 || now.Year() > 9000 {
		return now, fmt.Errorf("%w: the time is not one of a clock", ErrInput)
	}
	return now, nil
}

// write makes lines of events, journals them, and applies them: all or none.
func (s *Session) write(now time.Time, events ...Event) error {
	seq, sum := s.st.seq, s.st.sum
	var block []byte
	sizes := make([]int, len(events))
	for i := range events {
		e := &events[i]
		seq++
		e.Seq, e.Prev, e.At = seq, sum, now
		line, err := encode(e)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrInput, err)
		}
		sum, sizes[i] = e.Sum, len(line)
		block = append(block, line...)
	}
	if s.options.Journal != nil {
		s.broken = errPanicked // unless it returns
		err := s.options.Journal(block)
		s.broken = nil
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
	}
	for i, e := range events {
		if err := s.st.apply(e, sizes[i]); err != nil {
			s.broken = fmt.Errorf("the session wrote a line that it does not take itself, and stands still: %w", err)
			return s.broken
		}
		s.events.add(e, sizes[i])
	}
	return nil
}

var errPanicked = fmt.Errorf("%w: it panicked, so what it wrote is not known: replay the journal", ErrJournal)

// next is the sequence number of the next line.
func (s *Session) next() uint64 { return s.st.seq + 1 }

// expires returns when what begins to wait now expires.
func (s *Session) expires(now time.Time) time.Time {
	if s.options.TTL == Never {
		return time.Time{}
	}
	return now.Add(s.options.TTL)
}

func due(it *item, now time.Time) bool {
	return it.Status.open() && !it.Expires.IsZero() && !now.Before(it.Expires)
}

// checkBy refuses a name that is missing or that means that nobody decided.
func checkBy(by string) error {
	if strings.TrimSpace(by) == "" {
		return fmt.Errorf("%w: it does not say who decides", ErrInput)
	}
	if strings.ContainsFunc(by, hidden) {
		return fmt.Errorf("%w: the name of who decides holds a character that nobody would see", ErrInput)
	}
	for _, taken := range []string{ByPolicy, ByUnaudited} {
		if strings.EqualFold(strings.TrimSpace(by), taken) {
			return fmt.Errorf("%w: no human can be called %q: it means that none decided", ErrInput, taken)
		}
	}
	return checkText("name of who decides", by, maxName)
}

// item returns an item by its ID.
func (s *Session) item(id string) (*item, error) {
	if it := s.st.items[id]; it != nil {
		return it, nil
	}
	return nil, fmt.Errorf("%w item: it was never proposed here, or its run ended too long ago", ErrUnknown)
}

// Expire denies what was not answered or not redeemed in time and returns it, oldest first. The host calls it now and then;
// the other operations see for themselves whether their own item is due. Expiry is nobody's decision.
func (s *Session) Expire(now time.Time) ([]Item, error) {
	var items []Item
	err := s.op(now, func(now time.Time) error {
		list := s.st.list(openOf, func(it *item) bool { return due(it, now) })
		var events []Event
		var gone []*item
		over := make(map[string]bool)
		more := make(map[string]map[likenessSum]int)
		for _, it := range list {
			if over[it.Run] {
				continue // withdrawn, a moment before it would expire
			}
			counts := more[it.Run]
			if counts == nil {
				counts = make(map[likenessSum]int)
				more[it.Run] = counts
			}
			var add []Event
			add, over[it.Run] = s.expiry(it, counts)
			events, gone = append(events, add...), append(gone, it)
		}
		if len(events) == 0 {
			return nil
		}
		if err := s.write(now, events...); err != nil {
			return err
		}
		for _, it := range gone {
			items = append(items, it.copied())
		}
		return nil
	})
	return items, err
}

// expiry returns the events of an item that is due, and whether they end its run. more are denials of the run that are about
// to be written; the item's own is added.
func (s *Session) expiry(it *item, more map[likenessSum]int) (events []Event, over bool) {
	e := about(it.Item, ItemExpired)
	e.Reason = "nobody answered in time"
	if it.Status == Approved {
		e.Reason = "it was approved, but not redeemed in time"
	}
	stop := s.limit(it, more)
	return append([]Event{e}, stop...), it.Kind == Context || len(stop) > 0
}

// limit returns the event that stops an item's run when one more denial of it reaches the limit, or none.
func (s *Session) limit(it *item, more map[likenessSum]int) []Event {
	if it.Kind == Context || s.options.DenyLimit == Never {
		return nil
	}
	like := likeness(it.Subject)
	more[like]++
	n := s.st.runs[it.Run].denials[like] + more[like]
	if n < s.options.DenyLimit {
		return nil
	}
	return []Event{ending(it.Thread, it.Run, Refused, fmt.Sprintf("the same %s was denied %d times", it.Kind, n))}
}

func ending(thread, run string, p Phase, reason string) Event {
	return Event{Type: RunFinished, Thread: thread, Run: run, Phase: p, Reason: reason}
}

// expireNow expires an item that is due, and says so.
func (s *Session) expireNow(now time.Time, it *item) error {
	events, _ := s.expiry(it, make(map[likenessSum]int))
	if err := s.write(now, events...); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", ErrExpired, it.Reason)
}

// denyByPolicy denies an open item because the policy says so now.
func (s *Session) denyByPolicy(now time.Time, it *item, v Verdict) error {
	e := about(it.Item, eventOf(it.Kind, "denied"))
	e.By, e.Rule, e.Reason = ByPolicy, v.Rule, "denied by the policy: "+v.Rule
	return s.write(now, append([]Event{e}, s.limit(it, make(map[likenessSum]int))...)...)
}

var errNoRun = errors.New("no run of that ID was staged")
