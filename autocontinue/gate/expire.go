package gate

import (
	"fmt"
	"time"
)

// expires returns when an item expires that begins to wait now, for within or, if that is 0, for Options.TTL.
func (s *Session) expires(now time.Time, within time.Duration) time.Time {
	if within == 0 {
		within = s.options.TTL
	}
	if within == Never {
		return time.Time{}
	}
	return now.Add(within)
}

func (it *item) due(now time.Time) bool {
	return it.Status.open() && !it.Expires.IsZero() && !now.Before(it.Expires)
}

// Expire ends what was not answered, or not redeemed, in time: it denies it, or asks the next approver. It returns what it
// denied, oldest first. The host calls it now and then. The other operations see for themselves whether their own item is
// due. Errors: ErrInput, ErrJournal.
func (s *Session) Expire(now time.Time) ([]Item, error) {
	var items []Item
	err := s.op(now, func(now time.Time) error {
		due := s.st.list(openOf, func(it *item) bool { return it.due(now) })
		var events []Event
		over := make(map[string]bool)
		more := make(map[string]denials)
		for _, it := range due {
			if over[it.Run] {
				continue // its run ends by an item before it
			}
			if more[it.Run] == nil {
				more[it.Run] = make(denials)
			}
			var add []Event
			add, over[it.Run] = s.expiry(now, it, more[it.Run])
			events = append(events, add...)
		}
		if len(events) == 0 {
			return nil
		}
		if err := s.write(now, events...); err != nil {
			return err
		}
		for _, it := range due {
			if it.Status == Expired {
				items = append(items, it.copied())
			}
		}
		return nil
	})
	return items, err
}

// denials counts the denials of a run, by likeness.
type denials map[likenessSum]int

// expiry returns the events of an item that is due, and whether they end its run. more are denials of the run that are
// about to be written; expiry adds the item's own.
func (s *Session) expiry(now time.Time, it *item, more denials) (events []Event, over bool) {
	if it.Status == Pending && it.Escalate != "" {
		e := eventFor(it.Item, itemEscalated)
		e.Expires = now.Add(it.Expires.Sub(it.asked)) // as long as the first one had
		e.Reason = "nobody answered in time; it now waits for " + it.Escalate
		return []Event{e}, false
	}
	e := eventFor(it.Item, itemExpired)
	e.Reason = "nobody answered in time"
	if it.Status == Approved {
		e.Reason = "it was approved, but not redeemed in time"
	}
	stop := s.limit(it, more)
	return append([]Event{e}, stop...), it.Kind == Context || len(stop) > 0
}

// overdue ends an item that is due. It returns an error if the item expired, and nil if it waits for somebody else now.
func (s *Session) overdue(now time.Time, it *item) error {
	if !it.due(now) {
		return nil
	}
	events, _ := s.expiry(now, it, make(denials))
	if err := s.write(now, events...); err != nil || it.Status == Pending {
		return err
	}
	return fmt.Errorf("%w: %s", ErrExpired, it.Reason)
}

// limit returns the event that stops an item's run if one more denial of it reaches Options.DenyLimit.
func (s *Session) limit(it *item, more denials) []Event {
	if it.Kind == Context || s.options.DenyLimit == Never {
		return nil
	}
	like := likeness(it.Subject)
	more[like]++
	n := more[like]
	if r := s.st.runs[it.Run]; r != nil { // it is nil for the first call of a run
		n += r.denials[like]
	}
	if n < s.options.DenyLimit {
		return nil
	}
	return []Event{ending(it.Thread, it.Run, Refused, fmt.Sprintf("the same %s was denied %d times", it.Kind, n))}
}

// policyDenial returns the events by which the policy denies an open item.
func (s *Session) policyDenial(it *item, v Verdict) []Event {
	e := eventFor(it.Item, eventOf(it.Kind, "denied"))
	e.By, e.Rule, e.Reason = ByPolicy, v.Rule, "denied by the policy: "+v.Rule
	return append([]Event{e}, s.limit(it, make(denials))...)
}

// denyByPolicy denies an open item and returns the error that says so.
func (s *Session) denyByPolicy(now time.Time, it *item, v Verdict) error {
	if err := s.write(now, s.policyDenial(it, v)...); err != nil {
		return err
	}
	return it.policyError()
}

func (it *item) policyError() error { return fmt.Errorf("%w by the policy: %s", ErrDenied, it.Rule) }
