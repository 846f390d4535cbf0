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
// Another one is [ErrDecided], and the item comes with the error. It also comes with [ErrExpired] and [ErrDenied].
//
// An approval asks the policy again. If the policy denies now, the item is denied, and that is [ErrDenied]. An edit
// is a new proposal: its body is read as strictly, and goes to Options.Schema and the policy. If they refuse it, the
// item stays pending. An edit must change the value of the body, and cannot change anything else.
//
// Errors: ErrInput, ErrUnknown, ErrStale, ErrDecided, ErrExpired, ErrDenied, ErrIllegal (respond to something that is
// not a tool call), ErrJournal.
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
	var v value
	switch d.Action {
	case Approve:
		d.Body, judged = nil, it.Subject // not an empty body
		_, v, err = readBody(it.Kind, it.Body)
	case Edit:
		judged = it.Subject
		judged.Body, v, err = s.readEdit(judged, d.Body)
		d.Body = judged.Body
	case Respond:
		if d.Body, err = s.readResult(d.Body); err == nil && it.Kind != Tool {
			err = fmt.Errorf("%w: only a tool call can be answered in the tool's place: edit the %s", ErrIllegal, it.Kind)
		}
	}
	if err != nil {
		return Item{}, err
	}
	return s.step(now, d.Item, judged, v, func(now time.Time, it *item, v verdict) error {
		return s.resolve(now, it, d, v)
	})
}

// step runs an operation about one item, and asks the policy about a subject that is not empty. It returns the item,
// also with an error that the item explains.
func (s *Session) step(
	now time.Time, id string, sub Subject, body value, do func(time.Time, *item, verdict) error,
) (got Item, err error) {
	err = s.judgedOp(now, sub, body, func(now time.Time, v verdict) error {
		it, err := s.item(id)
		if err == nil {
			err = do(now, it, v)
		}
		if err == nil || errors.Is(err, ErrDecided) || errors.Is(err, ErrExpired) || errors.Is(err, ErrDenied) {
			got = it.copied()
		}
		return err
	})
	return got, err
}

// peek returns an item. Its bodies never change, so that they can be read with the session unlocked.
func (s *Session) peek(id string) (Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, err := s.item(id)
	if err != nil {
		return Item{}, err
	}
	return it.Item, nil
}

func (s *Session) readEdit(sub Subject, data []byte) (json.RawMessage, value, error) {
	body, v, err := s.readBody(sub.Kind, data)
	if err != nil {
		return nil, v, err
	}
	old, err := readJSON(sub.Body)
	if err == nil && v.equal(old, false) {
		err = fmt.Errorf("%w: the edit changes nothing: approve the item instead", ErrInput)
	}
	if sub.Body = body; err == nil {
		err = s.schema(sub)
	}
	return body, v, err
}

func (d Decision) check() error {
	if err := checkBy(d.By); err != nil {
		return err
	}
	if err := checkText("reason", d.Reason, maxReason); err != nil {
		return err
	}
	switch d.Action {
	case Approve, Deny, Stop:
		if len(d.Body) > 0 {
			return fmt.Errorf("%w: %s has no body: use edit to change one", ErrInput, d.Action)
		}
	case Edit, Respond:
		if len(d.Body) == 0 {
			return fmt.Errorf("%w: %s needs a body", ErrInput, d.Action)
		}
	default:
		return fmt.Errorf("%w: the action must be approve, edit, deny, respond or stop", ErrInput)
	}
	return nil
}

func (s *Session) resolve(now time.Time, it *item, d Decision, v verdict) error {
	if it.Status != Pending {
		err := it.again(d)
		if r := s.st.runs[it.Run]; err == nil && d.Action == Stop && !r.over() { // a crash took the line that ends the run
			err = s.write(now, ending(it.Thread, it.Run, stopped, d.By, d.Reason))
		}
		return err
	}
	if err := s.overdue(now, it); err != nil {
		return err
	}
	var e Event
	switch d.Action {
	case Approve, Edit:
		if v.then == Forbid && d.Action == Approve {
			return s.denyByPolicy(now, it, v)
		} else if v.then == Forbid {
			return fmt.Errorf("%w by the policy: the edit is refused and the item is still pending: %s", ErrDenied, v.rule)
		}
		e = s.approval(now, it.Item, d.Body)
	case Respond:
		e = eventFor(it.Item, toolCallResult)
		e.Result = d.Body
	default:
		if plaintext.IsBlank(d.Reason) {
			d.Reason = map[Action]string{
				Deny: "a person denied it and gave no reason", Stop: "a person stopped the run and gave no reason",
			}[d.Action]
		}
		e = eventFor(it.Item, eventTypes[it.Kind][Denied])
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

// again answers a decision about an item that is not pending any more.
func (it *item) again(d Decision) error {
	switch {
	case it.Action == d.Action && (d.Action == Approve || d.Action == Deny || d.Action == Stop),
		it.Action == Edit && d.Action == Edit && bytes.Equal(it.Edited, d.Body),
		it.Action == Respond && d.Action == Respond && bytes.Equal(it.Result, d.Body):
		return nil
	case it.Status == Expired:
		return fmt.Errorf("%w: %s", ErrExpired, it.Reason)
	case it.Status == Denied && it.By == byPolicy && (d.Action == Approve || d.Action == Edit):
		return it.policyError()
	case it.Status == Withdrawn && it.Action == "":
		return fmt.Errorf("%w: its run has ended", ErrDecided)
	case it.Action == d.Action:
		return fmt.Errorf("%w: the first %s, with another body, holds", ErrDecided, it.Action)
	case it.Action == "":
		return fmt.Errorf("%w: nobody was asked", ErrDecided)
	}
	return fmt.Errorf("%w: the first answer, %s, holds", ErrDecided, it.Action)
}

// Redeem hands out what was approved, exactly once: the subject with the approved body, byte for byte. The host does it
// then, and at no other time. For a context the run starts. A tool call executes until [Session.Done]. For a response
// the run is finished.
//
// Redeem asks the policy again, about the approved body. If the policy denies now, the item is denied, and that is
// [ErrDenied]. If it asks now, and no person has approved the item, the item is pending again, and that is
// [ErrPending].
//
// A crash after Redeem may lose what it handed out. Redeem does not hand it out again: only the host can find out
// whether the tool did its work. Until the host says so with Done, the call is in [Session.Unfinished].
//
// Errors: ErrUnknown, ErrPending, ErrDenied, ErrExpired, ErrDecided (it was redeemed before), ErrJournal.
func (s *Session) Redeem(now time.Time, id string) (Subject, error) {
	it, err := s.peek(id)
	if err != nil {
		return Subject{}, err
	}
	approved := it.Subject
	approved.Body = it.ApprovedBody()
	_, body, err := readBody(approved.Kind, approved.Body)
	if err != nil {
		return Subject{}, err
	}
	_, err = s.step(now, id, approved, body, func(now time.Time, it *item, v verdict) error {
		if err := cmp.Or(s.overdue(now, it), it.redeemable()); err != nil {
			return err
		}
		switch {
		case v.then == Forbid:
			return s.denyByPolicy(now, it, v)
		case v.then == Ask && s.st.audited && it.Action == "":
			if err := s.write(now, s.proposal(now, it, v)); err != nil {
				return err
			}
			return fmt.Errorf("%w: it passed without a person before, and now a person is asked", ErrPending)
		}
		redeemed := eventFor(it.Item, itemRedeemed)
		redeemed.Digest, redeemed.By = it.Final, it.By
		follow := ending(it.Thread, it.Run, finished, "", "")
		if it.Kind != Response {
			follow = eventFor(it.Item, eventTypes[it.Kind][""])
		}
		return s.write(now, redeemed, follow)
	})
	if err != nil {
		return Subject{}, err
	}
	approved.Body = slices.Clone(approved.Body)
	return approved, nil
}

// redeemable refuses an item that cannot be redeemed, whatever the policy says.
func (it *item) redeemable() error {
	switch it.Status {
	case Approved:
		return nil
	case Pending:
		return fmt.Errorf("%w: it waits for a person", ErrPending)
	case Expired:
		return fmt.Errorf("%w: %s", ErrExpired, it.Reason)
	case Withdrawn:
		return fmt.Errorf("%w: its run ended before it was redeemed", ErrDenied)
	case Answered:
		return fmt.Errorf("%w: a person gave its result: use the item's", ErrDenied)
	case Redeemed, Done:
		return fmt.Errorf("%w: what was approved is done once", ErrDecided)
	}
	if it.By == byPolicy {
		return it.policyError()
	}
	return fmt.Errorf("%w: the item has the reason", ErrDenied)
}

// Done records what a redeemed tool call returned, any JSON value. A call that failed has a result too. It may come
// after the run ended. The same result again returns the item; another one is [ErrDecided].
//
// Errors: ErrInput, ErrUnknown, ErrIllegal (not a tool call that was redeemed), ErrDecided, ErrJournal.
func (s *Session) Done(now time.Time, id string, result json.RawMessage) (Item, error) {
	result, err := s.readResult(result)
	if err != nil {
		return Item{}, err
	}
	return s.step(now, id, Subject{}, value{}, func(now time.Time, it *item, _ verdict) error {
		switch {
		case it.Kind != Tool:
			return fmt.Errorf("%w: a %s has no result", ErrIllegal, it.Kind)
		case it.Status == Redeemed:
			e := eventFor(it.Item, toolCallResult)
			e.Result = result
			return s.write(now, e)
		case it.Status != Done:
			return fmt.Errorf("%w: the call was not redeemed: it is %s", ErrIllegal, it.Status)
		case !bytes.Equal(it.Result, result):
			return fmt.Errorf("%w: the call has another result", ErrDecided)
		}
		return nil
	})
}
