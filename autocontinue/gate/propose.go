package gate

import (
	"cmp"
	"encoding/json"
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
func (s *Session) Propose(now time.Time, sub Subject) (Item, error) {
	if err := sub.check(); err != nil {
		return Item{}, err
	}
	body, v, err := s.readBody(sub.Kind, sub.Body)
	if err != nil {
		return Item{}, err
	}
	sub.Body = body
	if err := s.schema(sub); err != nil {
		return Item{}, err
	}
	var item Item
	dig := digest(sub)
	err = s.judgedOp(now, sub, v, func(now time.Time, v verdict) error {
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

// readBody is readBody within Options.MaxBody.
func (s *Session) readBody(k Kind, data []byte) (json.RawMessage, value, error) {
	if err := s.fits(data); err != nil {
		return nil, value{}, err
	}
	body, v, err := readBody(k, data)
	if err == nil {
		err = s.fits(body) // control characters become escapes
	}
	return body, v, err
}

func (s *Session) readResult(data []byte) (json.RawMessage, error) {
	if err := s.fits(data); err != nil {
		return nil, err
	}
	v, err := readJSON(data)
	if err != nil {
		return nil, err
	}
	return compact(v.raw), nil
}

func (s *Session) fits(data []byte) error {
	if len(data) > s.options.MaxBody {
		return fmt.Errorf("%w: the body has %d bytes; the limit is %d", ErrInput, len(data), s.options.MaxBody)
	}
	return nil
}

// earlier returns the item of the same proposal made before, or nil.
func (s *Session) earlier(sub Subject, dig string) (*item, error) {
	r := s.st.runs[sub.Run]
	if r == nil {
		if s.st.gone[sub.Run] != noRun {
			return nil, fmt.Errorf("%w: the run ended long ago: give every run its own ID", ErrIllegal)
		}
		return nil, nil
	}
	if r.Thread != sub.Thread {
		return nil, fmt.Errorf("%w: the run belongs to another thread", ErrIllegal)
	}
	it := r.items[0]
	switch sub.Kind {
	case Tool:
		it = r.calls[sub.Call]
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

func (s *Session) proposeNew(now time.Time, sub Subject, dig string, v verdict) (*item, error) {
	r := s.st.runs[sub.Run]
	p := r.phase()
	fits := sub.Kind == Context
	if r != nil {
		fits = sub.Kind != Context && p == running || sub.Kind == Tool && (p == toolProposed || p == toolExecuting)
	} else if sub.Kind == Tool {
		fits = s.options.ToolsOnly
	}
	switch {
	case !fits && r == nil:
		return nil, fmt.Errorf("%w: its run is unknown: propose its context first, or set Options.ToolsOnly", ErrIllegal)
	case !fits:
		return nil, fmt.Errorf("%w: a %s cannot be proposed while the run is %s", ErrIllegal, sub.Kind, p)
	case s.st.open >= s.st.limits.open:
		return nil, fmt.Errorf("%w: %d items are open: answer some, or redeem what is approved", ErrIllegal, s.st.open)
	case r != nil && len(r.items) >= s.st.limits.runItems:
		return nil, fmt.Errorf("%w: the run has had %d items: end it", ErrIllegal, len(r.items))
	}
	fresh := &item{Item: Item{ID: "i" + strconv.FormatUint(s.st.seq+1, 10), Subject: sub, Digest: dig}}
	events := append([]Event{s.proposal(now, fresh, v)}, s.decided(now, fresh, v)...)
	if err := s.write(now, events...); err != nil {
		return nil, err
	}
	return s.st.items[fresh.ID], nil
}

// proposal returns the event that proposes an item, with the time that its approver has.
func (s *Session) proposal(now time.Time, it *item, v verdict) Event {
	e := eventFor(it.Item, eventTypes[it.Kind][Pending])
	e.Label, e.Digest, e.Verdict, e.Rule = it.Label, it.Digest, v.then, v.rule
	within := cmp.Or(min(it.Within, v.within), it.Within, v.within, s.options.TTL)
	e.Expires, e.Escalate = now.Add(within), cmp.Or(it.Subject.Escalate, v.escalate)
	e.setBody(false, it.Body)
	return e
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

// decided returns the events that follow at once from what the policy says about a pending item; none if a person is
// asked.
func (s *Session) decided(now time.Time, it *item, v verdict) []Event {
	if v.then == Forbid {
		return s.policyDenial(it, v)
	}
	if v.then == Ask && s.st.audited {
		return nil
	}
	e := s.approval(now, it.Item, nil)
	if e.By, e.Rule = byPolicy, v.rule; v.then == Ask {
		e.By = byUnaudited
	}
	return []Event{e}
}

func (it *item) due(now time.Time) bool {
	return it.Status.open() && !it.Expires.IsZero() && !now.Before(it.Expires)
}

// Expire ends what was not answered, or not redeemed, in time: it denies it, or asks the next approver. It returns
// what it denied, oldest first. The host calls it now and then. The other operations see for themselves whether their
// own item is due. Expire writes each item by itself: it returns those before an error, too. Errors: ErrInput,
// ErrJournal.
func (s *Session) Expire(now time.Time) ([]Item, error) {
	var items []Item
	err := s.op(now, func(now time.Time) error {
		for _, it := range s.st.list(func(it *item) bool { return it.due(now) }) {
			if err := s.overdue(now, it); err != nil && !errors.Is(err, ErrExpired) {
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
func (s *Session) overdue(now time.Time, it *item) error {
	if !it.due(now) {
		return nil
	}
	e := eventFor(it.Item, itemExpired)
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
	return fmt.Errorf("%w: %s", ErrExpired, it.Reason)
}

// limit returns the event that stops an item's run if one more denial of it is too many.
func (s *Session) limit(it *item) []Event {
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

func (s *Session) policyDenial(it *item, v verdict) []Event {
	e := eventFor(it.Item, eventTypes[it.Kind][Denied])
	rule := plaintext.Cut(strings.TrimSuffix(v.rule, ": "+string(Forbid)), 55) // the agent needs no more
	e.By, e.Rule, e.Reason = byPolicy, v.rule, fmt.Sprintf("denied by the policy (%s): ask the human", rule)
	switch it.Kind {
	case Tool:
		e.Reason += " or choose another call"
	case Response:
		e.Reason += " or write another answer"
	}
	return append([]Event{e}, s.limit(it)...)
}

// denyByPolicy denies an open item and returns the error that says so.
func (s *Session) denyByPolicy(now time.Time, it *item, v verdict) error {
	if err := s.write(now, s.policyDenial(it, v)...); err != nil {
		return err
	}
	return it.policyError()
}

func (it *item) policyError() error { return fmt.Errorf("%w by the policy: %s", ErrDenied, it.Rule) }
