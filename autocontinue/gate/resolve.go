package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Resolve answers a pending item and returns it.
//
// The first decision wins. The same one again (action, digest and body, by anybody) returns the item as it is now.
// Another one is [ErrDecided], and the item comes with the error. It also comes with [ErrDenied].
//
// An approval asks the policy again. If the policy denies now, the item is denied, and that is [ErrDenied]. An edit
// is a new proposal: its body is read as strictly, and goes to Options.Schema and the policy. If they refuse it, the
// item stays pending. An edit must change the value of the body, and cannot change anything else.
//
// Errors: ErrInput, ErrIllegal (an unknown item, or respond to something that is not a tool call), ErrStale,
// ErrDecided, ErrDenied (also of an item that expired), ErrJournal.
func (s *Session) Resolve(now time.Time, d Decision) (Item, error) {
	if err := d.check(); err != nil {
		return Item{}, err
	}
	it, err := s.peek(d.Item)
	if err == nil && d.Digest != it.Digest {
		err = fmt.Errorf("%w: this is not the item that was shown: look at it again", ErrStale)
	}
	if err != nil {
		return Item{}, err
	}
	var judged Subject // what the policy is asked about
	var v any
	switch d.Action {
	case Approve:
		d.Body, judged = nil, it.Subject // not an empty body
		_, v, err = readBody(it.Kind, it.Body, maxMaxBody)
	case Edit:
		judged = it.Subject
		d.Body, v, err = readBody(it.Kind, d.Body, s.options.MaxBody)
		if old, e := readJSON(it.Body); err == nil && e == nil && sum(v, asIs) == sum(old, asIs) {
			err = fmt.Errorf("%w: the edit changes nothing: approve the item instead", ErrInput)
		}
		if judged.Body = d.Body; err == nil {
			err = s.schema(judged)
		}
	case Respond:
		if d.Body, _, err = readBody("", d.Body, s.options.MaxBody); err == nil && it.Kind != Tool {
			err = fmt.Errorf("%w: only a tool call can be answered in the tool's place: edit the %s", ErrIllegal, it.Kind)
		}
	}
	if err != nil {
		return Item{}, err
	}
	return s.step(now, d.Item, judged, v, func(now time.Time, it *Item, v verdict) error {
		return s.resolve(now, it, d, v)
	})
}

// step runs an operation about one item, and asks the policy about a subject that is not empty. It returns the item,
// also with an error that the item explains.
func (s *Session) step(
	now time.Time, id string, sub Subject, body any, do func(time.Time, *Item, verdict) error,
) (got Item, err error) {
	err = s.op(now, sub, body, func(now time.Time, v verdict) error {
		it, err := s.st.item(id)
		if err == nil {
			err = do(now, it, v)
		}
		if err == nil || errors.Is(err, ErrDecided) || errors.Is(err, ErrDenied) {
			got = it.copied()
		}
		return err
	})
	return got, err
}

// peek returns an item. Its bodies never change, so that they can be read with the session unlocked.
func (s *Session) peek(id string) (Item, error) {
	s.lock()
	defer s.mu.Unlock()
	it, err := s.st.item(id)
	if err != nil {
		return Item{}, err
	}
	return *it, nil
}

func (d Decision) check() error {
	needsBody, ok := map[Action]bool{Approve: false, Edit: true, Deny: false, Respond: true, Stop: false}[d.Action]
	if !ok || needsBody != (len(d.Body) > 0) {
		return fmt.Errorf("%w: the action must be edit or respond, with a body, or approve, deny or stop, without one",
			ErrInput)
	}
	return cmp.Or(checkBy(d.By), checkText("reason", d.Reason, maxReason))
}

func (s *Session) resolve(now time.Time, it *Item, d Decision, v verdict) error {
	if it.Status != Pending {
		return it.again(d)
	}
	if err := s.overdue(now, it); err != nil {
		return err
	}
	var e Event
	switch d.Action {
	case Approve, Edit:
		if v.then == forbid && d.Action == Approve {
			return s.denyByPolicy(now, it, v)
		} else if v.then == forbid {
			return fmt.Errorf("%w by the policy: the edit is refused and the item is still pending: %s", ErrDenied, v.rule)
		}
		e = s.approval(now, it, d.Body)
	case Respond:
		e = it.event(toolCallResult)
		e.Result = d.Body
	default:
		if plaintext.IsBlank(d.Reason) {
			d.Reason = map[Action]string{
				Deny: "a person denied it and gave no reason", Stop: "a person stopped the run and gave no reason",
			}[d.Action]
		}
		e = it.event(eventTypes[it.Kind][Denied])
	}
	e.Action, e.By, e.Reason = d.Action, d.By, d.Reason
	events := []Event{e}
	switch {
	case d.Action == Stop && it.Kind != Context:
		events = append(events, ending(it.Thread, it.Run, stopped, d.By, d.Reason))
	case d.Action == Deny:
		events = append(events, s.limit(it)...)
	}
	return s.write(now, events...)
}

// denyByPolicy denies an open item and returns the error that says so.
func (s *Session) denyByPolicy(now time.Time, it *Item, v verdict) error {
	return cmp.Or(s.write(now, s.policyDenial(it, v)...), it.denial())
}

// again answers a decision about an item that is not pending any more.
func (it *Item) again(d Decision) error {
	same := map[Action][]byte{Edit: it.Edited, Respond: it.Result}[d.Action] // what the first decision brought
	switch {
	case it.Action == d.Action && bytes.Equal(same, d.Body):
		return nil
	case it.Status == Expired, it.Status == Denied && it.By == byPolicy && (d.Action == Approve || d.Action == Edit):
		return it.denial()
	}
	return fmt.Errorf("%w: it is %s", ErrDecided, it.Status)
}

// denial says why an item may not go on.
func (it *Item) denial() error {
	why := map[Status]string{
		Expired: it.Reason, Withdrawn: "its run ended", Done: "a person gave its result: use the item's",
	}[it.Status]
	if it.By == byPolicy {
		return fmt.Errorf("%w by the policy: %s", ErrDenied, it.Rule)
	}
	return fmt.Errorf("%w: %s", ErrDenied, cmp.Or(why, "the item has the reason"))
}

// Redeem hands out what was approved, exactly once: the subject with the approved body, byte for byte. The host does it
// then, and at no other time. For a context the run starts. A tool call executes until [Session.Done]. For a response
// the run is finished.
//
// Redeem asks the policy again, about the approved body. If the policy denies now, the item is denied: [ErrDenied]. If
// it asks now, and no person has approved the item, the item is pending again: [ErrPending].
//
// A crash after Redeem may lose what it handed out: only the host can find out whether the tool did its work. Until the
// host says so with Done, the call is in [Session.Unfinished].
//
// Errors: ErrIllegal, ErrPending, ErrDenied, ErrDecided (it was redeemed before), ErrJournal.
func (s *Session) Redeem(now time.Time, id string) (Subject, error) {
	it, err := s.peek(id)
	if err != nil {
		return Subject{}, err
	}
	approved := it.Subject
	approved.Body = it.ApprovedBody()
	_, body, err := readBody(approved.Kind, approved.Body, maxMaxBody)
	if err != nil {
		return Subject{}, err
	}
	_, err = s.step(now, id, approved, body, func(now time.Time, it *Item, v verdict) error {
		if err := s.overdue(now, it); err != nil {
			return err
		}
		switch {
		case it.Status == Pending:
			return fmt.Errorf("%w: it waits for a person", ErrPending)
		case it.Status == Redeemed, it.Status == Done && it.Action != Respond:
			return fmt.Errorf("%w: what was approved is done once", ErrDecided)
		case it.Status != Approved:
			return it.denial()
		case v.then == forbid:
			return s.denyByPolicy(now, it, v)
		case v.then == ask && s.st.audited && it.Action == "":
			if err := s.write(now, s.proposal(now, it, v)); err != nil {
				return err
			}
			return fmt.Errorf("%w: it passed without a person before, and now a person is asked", ErrPending)
		}
		redeemed := it.event(itemRedeemed)
		redeemed.Digest, redeemed.By = it.Final, it.By
		follow := ending(it.Thread, it.Run, finished, "", "")
		if it.Kind != Response {
			follow = it.event(eventTypes[it.Kind][""])
		}
		return s.write(now, redeemed, follow)
	})
	if err != nil {
		return Subject{}, err
	}
	approved.Body = slices.Clone(approved.Body)
	return approved, nil
}

// Done records what a redeemed tool call returned, any JSON value. A call that failed has a result too. It may come
// after the run ended. The same result again returns the item; another one is [ErrDecided].
//
// Errors: ErrInput, ErrIllegal (not a tool call that was redeemed), ErrDecided, ErrJournal.
func (s *Session) Done(now time.Time, id string, result json.RawMessage) (Item, error) {
	result, _, err := readBody("", result, s.options.MaxBody)
	if err != nil {
		return Item{}, err
	}
	return s.step(now, id, Subject{}, nil, func(now time.Time, it *Item, _ verdict) error {
		switch {
		case it.executes():
			e := it.event(toolCallResult)
			e.Result = result
			return s.write(now, e)
		case it.Status != Done:
			return fmt.Errorf("%w: this is not a call that was redeemed: it is a %s, %s", ErrIllegal, it.Kind, it.Status)
		case !bytes.Equal(it.Result, result):
			return fmt.Errorf("%w: the call has another result", ErrDecided)
		}
		return nil
	})
}
