package gate

import (
	"fmt"
	"time"
)

// Propose puts a subject before its gate and returns its item: pending, or approved or denied when nobody is to be asked.
//
// A run begins with its context, whose item is redeemed before tools and a response can be proposed; see [Phase] for what may
// come when. Several tool calls of a run may be open at once; a response waits until none is, nor executes.
//
// The same subject again, whatever its label, returns the same item, also after it was decided. While that is pending the
// policy is asked again, so that a proposal whose lines were written by half is completed. A call ID or run ID with other
// contents is [ErrReused]. A response has no ID: the same text again, after it was denied, is a new item.
//
// Errors: ErrInput, ErrBody, ErrSchema, ErrReused, ErrIllegal, ErrFull, ErrJournal.
func (s *Session) Propose(now time.Time, sub Subject) (Item, error) {
	sub, err := s.read(sub)
	if err != nil {
		return Item{}, fmt.Errorf("gate: %w", err)
	}
	dig := digest(sub)
	var item Item
	err = s.op(now, func(now time.Time) error {
		it, err := s.earlier(sub, dig)
		if err != nil {
			return err
		}
		if it == nil {
			it, err = s.proposeNew(now, sub, dig)
		} else if due(it, now) {
			events, _ := s.expiry(it, make(map[likenessSum]int))
			err = s.write(now, events...)
		} else if it.Status == Pending {
			err = s.settle(now, it)
		}
		if err == nil {
			item = it.copied()
		}
		return err
	})
	return item, err
}

// read checks a subject and returns it with its body as it is kept. It needs no lock: a long body keeps nobody waiting.
func (s *Session) read(sub Subject) (Subject, error) {
	if err := sub.check(); err != nil {
		return sub, err
	}
	body, err := s.readBody(sub.Kind, sub.Body)
	sub.Body = body
	return sub, err
}

// readBody is readBody within the session's bounds.
func (s *Session) readBody(k Kind, data []byte) ([]byte, error) {
	if err := s.fits(data); err != nil {
		return nil, err
	}
	body, err := readBody(k, data)
	if err == nil {
		err = s.fits(body) // control characters are written as escapes
	}
	return body, err
}

func (s *Session) fits(data []byte) error {
	if len(data) > s.options.MaxBody {
		return fmt.Errorf("%w: it has %d bytes, at most %d are taken", ErrBody, len(data), s.options.MaxBody)
	}
	return nil
}

// earlier returns the item of the same proposal made before, or nil.
func (s *Session) earlier(sub Subject, dig string) (*item, error) {
	r := s.st.runs[sub.Run]
	if r == nil {
		if _, gone := s.st.gone[sub.Run]; gone {
			return nil, fmt.Errorf("%w: the run ended long ago: give every run an ID of its own", ErrReused)
		}
		return nil, nil
	}
	if r.Thread != sub.Thread {
		return nil, fmt.Errorf("%w: the run belongs to another thread", ErrReused)
	}
	var it *item
	switch sub.Kind {
	case Context:
		it = s.st.items[r.items[0]]
	case Tool:
		it = s.st.items[r.calls[sub.Call]]
	case Response:
		// Another draft, and the same one after it was denied, is a new item if the phase has room for it.
		last := s.st.items[r.items[len(r.items)-1]]
		if last.Digest == dig && (r.over() || last.Status != Denied && last.Status != Expired) {
			it = last
		}
	}
	if it != nil && it.Digest != dig {
		return nil, fmt.Errorf("%w: the %s was proposed with another body: what was approved is what runs", ErrReused, sub.Kind)
	}
	return it, nil
}

func (s *Session) proposeNew(now time.Time, sub Subject, dig string) (*item, error) {
	if r := s.st.runs[sub.Run]; sub.Kind != Context {
		if r == nil {
			return nil, fmt.Errorf("%w: %w: propose its context first", ErrIllegal, errNoRun)
		}
		if !s.st.may(r, sub.Kind) {
			return nil, fmt.Errorf("%w: a %s cannot be proposed while the run is %s", ErrIllegal, sub.Kind, s.st.phase(r))
		}
	}
	if err := s.schema(sub); err != nil {
		return nil, err
	}
	if s.st.open >= s.options.MaxPending {
		return nil, fmt.Errorf("%w: %d wait already: answer some, or redeem what is approved", ErrFull, s.st.open)
	}
	if r := s.st.runs[sub.Run]; r != nil && len(r.items) >= s.options.RunItems {
		return nil, fmt.Errorf("%w: the run has had %d: end it", ErrFull, len(r.items))
	}
	v := s.st.policy.judge(sub.Kind, sub.Tool, sub.Body)
	proposed := proposal(sub, dig, v)
	proposed.Item, proposed.Expires = itemID(s.next()), s.expires(now)
	fresh := &item{Item: Item{ID: proposed.Item, Subject: sub, Digest: dig}}
	events := append([]Event{proposed}, s.verdict(now, fresh, v)...)
	if err := s.write(now, events...); err != nil {
		return nil, err
	}
	return s.st.items[fresh.ID], nil
}

func (s *Session) schema(sub Subject) error {
	if s.options.Schema == nil {
		return nil
	}
	sub.Body = clone(sub.Body)
	if err := s.options.Schema(sub); err != nil {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	return nil
}

// verdict returns the events that follow at once from what the policy says about a pending item; none when a human is asked.
func (s *Session) verdict(now time.Time, it *item, v Verdict) []Event {
	if v.Then == Forbid {
		e := about(it.Item, eventOf(it.Kind, "denied"))
		e.By, e.Rule, e.Reason = ByPolicy, v.Rule, "denied by the policy: "+v.Rule
		if it.Kind == Context {
			return []Event{e}
		}
		return append([]Event{e}, s.limit(it, make(map[likenessSum]int))...)
	}
	if v.Then == Ask && s.st.audited {
		return nil
	}
	e := approval(it.Item, nil)
	e.By, e.Rule, e.Expires = ByPolicy, v.Rule, s.expires(now)
	if v.Then == Ask {
		e.By = ByUnaudited
	}
	return []Event{e}
}

// settle asks the policy again about a pending item that is proposed again.
func (s *Session) settle(now time.Time, it *item) error {
	v := s.st.policy.judge(it.Kind, it.Tool, it.Body)
	if events := s.verdict(now, it, v); len(events) > 0 {
		return s.write(now, events...)
	}
	return nil
}
