package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Propose puts a subject before its gate and returns its item: pending, or approved or denied if the rules decide.
//
// A run begins with its context, or with a tool call if Options.ToolsOnly says so. The context is redeemed before
// tools and a response can be proposed. Several tool calls of a run may be open at once. A response waits until no
// call is open or executes.
//
// The same subject again, whatever its label, returns the same item, also after it was decided. While the item is
// pending, the policy is asked again. A call ID or run ID with other contents is [ErrIllegal]. A response has no ID:
// the same text again, after it was denied, is a new item.
//
// Errors: ErrInput, ErrIllegal, ErrJournal.
func (s *Session) Propose(now time.Time, sub Subject) (item Item, err error) {
	if err := sub.check(); err != nil {
		return item, err
	}
	var v any
	if sub.Body, v, err = readBody(sub.Kind, sub.Body, s.options.MaxBody); err == nil {
		err = s.schema(sub)
	}
	if err != nil {
		return item, err
	}
	dig := digest(sub)
	err = s.op(now, sub, v, func(now time.Time, v verdict) error {
		it, err := s.earlier(sub, dig)
		switch {
		case err != nil:
			return err
		case it == nil:
			it, err = s.proposeNew(now, sub, dig, v)
		case it.due(now):
			if err = s.overdue(now, it); it.Status == Expired {
				err = nil // the item says so
			}
		case it.Status == Pending:
			if events := s.decided(now, it, v); len(events) > 0 {
				err = s.write(now, events...)
			}
		}
		if err == nil {
			item = it.copied()
		}
		return err
	})
	return item, err
}

func (s *Session) schema(sub Subject) error {
	if s.options.Schema == nil {
		return nil
	}
	sub.Body = slices.Clone(sub.Body)
	if err := s.options.Schema(sub); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return nil
}

// earlier returns the item of the same proposal made before, or nil.
func (s *Session) earlier(sub Subject, dig string) (*Item, error) {
	r := s.st.runs[sub.Run]
	switch {
	case r == nil && s.st.gone[sub.Run] != noRun:
		return nil, fmt.Errorf("%w: the run ended long ago: give every run its own ID", ErrIllegal)
	case r == nil:
		return nil, nil
	case r.Thread != sub.Thread:
		return nil, fmt.Errorf("%w: the run belongs to another thread", ErrIllegal)
	}
	it := r.items[0]
	switch sub.Kind {
	case Tool:
		it = nil
		if i := slices.IndexFunc(r.items, func(it *Item) bool { return it.Kind == Tool && it.Call == sub.Call }); i >= 0 {
			it = r.items[i]
		}
	case Response:
		// Another draft, or the same after it was denied, is a new item if the phase allows it.
		it = r.latest()
		if it.Digest != dig || !r.over() && (it.Status == Denied || it.Status == Expired) {
			it = nil
		}
	}
	if it != nil && it.Digest != dig {
		return nil, fmt.Errorf("%w: the %s was proposed with another body", ErrIllegal, sub.Kind)
	}
	return it, nil
}

func (s *Session) proposeNew(now time.Time, sub Subject, dig string, v verdict) (*Item, error) {
	r := s.st.runs[sub.Run]
	p := r.phase()
	fits := sub.Kind == Context || sub.Kind == Tool && s.options.ToolsOnly
	if r != nil {
		fits = sub.Kind != Context && p == running || sub.Kind == Tool && (p == toolProposed || p == toolExecuting)
	}
	switch {
	case !fits && r == nil:
		return nil, fmt.Errorf("%w: its run is unknown: propose its context first, or set Options.ToolsOnly", ErrIllegal)
	case !fits:
		return nil, fmt.Errorf("%w: a %s cannot be proposed while the run is %s", ErrIllegal, sub.Kind, p)
	case len(s.st.list((*Item).isOpen)) >= s.st.limits.open:
		return nil, fmt.Errorf("%w: too many items are open: answer some, or redeem what is approved", ErrIllegal)
	case r != nil && len(r.items) >= s.st.limits.runItems:
		return nil, fmt.Errorf("%w: the run has had %d items: end it", ErrIllegal, len(r.items))
	}
	fresh := &Item{ID: "i" + strconv.FormatUint(s.st.seq+1, 10), Subject: sub, Digest: dig}
	events := append([]Event{s.proposal(now, fresh, v)}, s.decided(now, fresh, v)...)
	if err := s.write(now, events...); err != nil {
		return nil, err
	}
	return s.st.items[fresh.ID], nil
}

// proposal returns the event that proposes an item, with the time that its approver has.
func (s *Session) proposal(now time.Time, it *Item, v verdict) Event {
	e := it.event(eventTypes[it.Kind][Pending])
	e.Label, e.Digest, e.Verdict, e.Rule = it.Label, it.Digest, string(v.then), v.rule
	within := cmp.Or(min(it.Within, v.within), it.Within, v.within, s.options.TTL)
	e.Expires, e.Escalate = now.Add(within), cmp.Or(it.Subject.Escalate, v.escalate)
	e.setBody(false, it.Body)
	return e
}

// decided returns the events that follow at once from what the policy says about a pending item; none if a person is
// asked.
func (s *Session) decided(now time.Time, it *Item, v verdict) []Event {
	switch {
	case v.then == forbid:
		return s.policyDenial(it, v)
	case v.then == ask && s.st.audited:
		return nil
	}
	e := s.approval(now, it, nil)
	if e.By, e.Rule = byPolicy, v.rule; v.then == ask {
		e.By = byUnaudited
	}
	return []Event{e}
}

// approval returns the event that approves an item. edited is nil, or the body that replaces the proposed one.
func (s *Session) approval(now time.Time, it *Item, edited []byte) Event {
	e := it.event(eventTypes[it.Kind][Approved])
	final := it.Subject
	if edited != nil {
		final.Body = edited
	}
	e.Digest, e.Expires = digest(final), now.Add(s.options.TTL)
	if edited != nil || it.Kind == Response { // the text of a response is there, edited or not
		e.setBody(true, final.Body)
	}
	return e
}

func (s *Session) policyDenial(it *Item, v verdict) []Event {
	e := it.event(eventTypes[it.Kind][Denied])
	rule := plaintext.Cut(strings.TrimSuffix(v.rule, ": "+string(forbid)), 55) // the agent needs no more
	instead := map[Kind]string{Tool: " or choose another call", Response: " or write another answer"}
	e.By, e.Rule = byPolicy, v.rule
	e.Reason = fmt.Sprintf("denied by the policy (%s): ask the human%s", rule, instead[it.Kind])
	return append([]Event{e}, s.limit(it)...)
}

// limit returns the event that stops an item's run if one more denial of it is too many.
func (s *Session) limit(it *Item) []Event {
	n := 1
	if r := s.st.runs[it.Run]; r != nil { // it is nil for the first call of a run
		n += r.denials[it.likeness()]
	}
	if it.Kind == Context || n < s.st.limits.denials {
		return nil
	}
	reason := fmt.Sprintf("the same %s was denied %d times", it.Kind, n)
	return []Event{ending(it.Thread, it.Run, stopped, "", reason)}
}

// Expire ends what was not answered, or not redeemed, in time: it denies it, or asks the next approver. It returns
// what it denied, oldest first, also before an error. The host calls it now and then; other operations see for
// themselves whether their own item is due. Errors: ErrInput, ErrJournal.
func (s *Session) Expire(now time.Time) (items []Item, err error) {
	err = s.op(now, Subject{}, nil, func(now time.Time, _ verdict) error {
		for _, it := range s.st.list(func(it *Item) bool { return it.due(now) }) {
			if err := s.overdue(now, it); err != nil && !errors.Is(err, ErrDenied) {
				return err
			}
			if it.Status == Expired { // otherwise it escalated, or one before it ended its run
				items = append(items, it.copied())
			}
		}
		return nil
	})
	return items, err
}

// overdue ends an item that is due. It returns an error if the item expired, and nil if it waits for somebody else now.
func (s *Session) overdue(now time.Time, it *Item) error {
	if !it.due(now) {
		return nil
	}
	e := it.event(itemExpired)
	e.Reason = "nobody answered in time"
	if it.Status == Approved {
		e.Reason = "it was approved, but not redeemed in time"
	} else if it.Escalate != "" {
		e.Type, e.Reason = itemEscalated, "nobody answered in time; it now waits for "+it.Escalate
		e.Expires = now.Add(it.Expires.Sub(it.asked)) // as long as the first one had
		return s.write(now, e)
	}
	if err := s.write(now, append([]Event{e}, s.limit(it)...)...); err != nil {
		return err
	}
	return it.denial()
}
