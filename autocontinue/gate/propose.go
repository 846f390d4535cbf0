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
	dig := digest(sub)
	known, err := s.knows(sub, dig)
	if err == nil && !known {
		err = s.schema(sub)
	}
	if err != nil {
		return Item{}, err
	}
	var item Item
	err = s.judgedOp(now, sub, v, func(now time.Time, v Verdict) error {
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
			if events := s.verdict(now, it, v); len(events) > 0 {
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

func (s *Session) knows(sub Subject, dig string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, err := s.earlier(sub, dig)
	return it != nil, err
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
	var it *item
	switch sub.Kind {
	case Context:
		it = s.st.items[r.items[0]]
	case Tool:
		it = s.st.items[r.calls[sub.Call]]
	case Response:
		// Another draft, or the same after it was denied, is a new item if the phase allows it.
		last := s.st.items[r.items[len(r.items)-1]]
		if last.Digest == dig && (r.over() || last.Status != Denied && last.Status != Expired) {
			it = last
		}
	}
	if it != nil && it.Digest != dig {
		return nil, fmt.Errorf("%w: the %s was proposed with another body", ErrIllegal, sub.Kind)
	}
	return it, nil
}

func (s *Session) proposeNew(now time.Time, sub Subject, dig string, v Verdict) (*item, error) {
	r := s.st.runs[sub.Run]
	switch {
	case !s.st.may(r, sub.Kind) && r == nil:
		return nil, fmt.Errorf("%w: its run is unknown: propose its context first, or set Options.ToolsOnly", ErrIllegal)
	case !s.st.may(r, sub.Kind):
		return nil, fmt.Errorf("%w: a %s cannot be proposed while the run is %s", ErrIllegal, sub.Kind, s.st.phase(r))
	case s.st.open >= s.options.MaxPending:
		return nil, fmt.Errorf("%w: %d items are open: answer some, or redeem what is approved", ErrIllegal, s.st.open)
	case r != nil && len(r.items) >= s.options.RunItems:
		return nil, fmt.Errorf("%w: the run has had %d items: end it", ErrIllegal, len(r.items))
	}
	e := s.proposal(now, sub, dig, v)
	e.Item = "i" + strconv.FormatUint(s.st.seq+1, 10)
	fresh := &item{Item: Item{ID: e.Item, Subject: sub, Digest: dig}}
	if err := s.write(now, append([]Event{e}, s.verdict(now, fresh, v)...)...); err != nil {
		return nil, err
	}
	return s.st.items[fresh.ID], nil
}

// proposal returns the event that proposes a subject, with the time that its approver has.
func (s *Session) proposal(now time.Time, sub Subject, dig string, v Verdict) Event {
	e := proposal(sub, dig, v)
	within := cmp.Or(min(sub.Within, v.Within), sub.Within, v.Within)
	e.Expires, e.Escalate = s.expires(now, within), cmp.Or(sub.Escalate, v.Escalate)
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

// verdict returns the events that follow at once from what the policy says about a pending item; none if a person is
// asked.
func (s *Session) verdict(now time.Time, it *item, v Verdict) []Event {
	if v.Then == Forbid {
		return s.policyDenial(it, v)
	}
	if v.Then == Ask && s.st.audited {
		return nil
	}
	e := approval(it.Item, nil)
	e.By, e.Rule, e.Expires = ByPolicy, v.Rule, s.expires(now, 0)
	if v.Then == Ask {
		e.By = ByUnaudited
	}
	return []Event{e}
}

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

// limit returns the event that stops an item's run if one more denial of it reaches Options.DenyLimit.
func (s *Session) limit(it *item) []Event {
	if it.Kind == Context || s.options.DenyLimit == Never {
		return nil
	}
	n := 1
	if r := s.st.runs[it.Run]; r != nil { // it is nil for the first call of a run
		n += r.denials[it.likeness()]
	}
	if n < s.options.DenyLimit {
		return nil
	}
	return []Event{ending(it.Thread, it.Run, Refused, fmt.Sprintf("the same %s was denied %d times", it.Kind, n))}
}

func (s *Session) policyDenial(it *item, v Verdict) []Event {
	e := eventFor(it.Item, eventTypes[it.Kind][Denied])
	rule := plaintext.Cut(strings.TrimSuffix(v.Rule, ": "+string(Forbid)), 55) // the agent needs no more
	e.By, e.Rule, e.Reason = ByPolicy, v.Rule, fmt.Sprintf("denied by the policy (%s): ask the human", rule)
	switch it.Kind {
	case Tool:
		e.Reason += " or choose another call"
	case Response:
		e.Reason += " or write another answer"
	}
	return append([]Event{e}, s.limit(it)...)
}

// denyByPolicy denies an open item and returns the error that says so.
func (s *Session) denyByPolicy(now time.Time, it *item, v Verdict) error {
	if err := s.write(now, s.policyDenial(it, v)...); err != nil {
		return err
	}
	return it.policyError()
}

func (it *item) policyError() error { return fmt.Errorf("%w by the policy: %s", ErrDenied, it.Rule) }
