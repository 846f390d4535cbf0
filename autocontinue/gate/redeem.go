package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Redeem hands out what was approved, exactly once. The host does it then, with the subject of the grant, and at no other
// time. For a context the run starts. A tool call executes until [Session.Done]. For a response the run is finished.
//
// Redeem asks the policy again, about the approved body. If the policy denies now, the item is denied, and that is
// [ErrDenied]. If it asks now, and no person has approved the item, the item is pending again, and that is [ErrPending].
//
// A crash after Redeem may lose the grant. Redeem does not hand it out again: only the host can find out whether the tool
// did its work. Until the host says so with Done, the call is in [Session.Unfinished].
//
// Errors: ErrUnknown, ErrPending, ErrDenied, ErrExpired, ErrSpent, ErrJournal.
func (s *Session) Redeem(now time.Time, id string) (Grant, error) {
	fail := func(err error) (Grant, error) { return Grant{}, fmt.Errorf("gate: %w", err) }
	s.mu.Lock()
	it, err := s.item(id)
	var sub Subject
	if err == nil {
		sub = it.Subject
		sub.Body = it.ApprovedBody()
	}
	s.mu.Unlock()
	if err != nil {
		return fail(err)
	}
	_, body, err := readBody(sub.Kind, sub.Body)
	if err != nil {
		return fail(err)
	}
	var grant Grant
	err = s.judgedOp(now, sub, body, func(now time.Time, v Verdict) error {
		it, err := s.item(id)
		if err == nil {
			err = s.overdue(now, it)
		}
		if err == nil {
			err = it.redeemable()
		}
		if err != nil {
			return err
		}
		switch {
		case v.Then == Forbid:
			return s.denyByPolicy(now, it, v)
		case v.Then == Ask && s.st.audited && it.Action == "":
			again := s.proposal(now, it.Subject, it.Digest, v)
			again.Item = it.ID
			if err := s.write(now, again); err != nil {
				return err
			}
			return fmt.Errorf("%w: it passed without a person before, and now a person is asked", ErrPending)
		}
		redeemed := eventFor(it.Item, itemRedeemed)
		redeemed.Digest, redeemed.By = it.Final, it.By
		follow := ending(it.Thread, it.Run, Finished, "")
		if it.Kind != Response {
			follow = eventFor(it.Item, eventOf(it.Kind, "started"))
		}
		if err := s.write(now, redeemed, follow); err != nil {
			return err
		}
		grant = Grant{Item: it.ID, Digest: it.Final, Subject: it.Subject, Edited: it.Edited != nil, By: it.By}
		grant.Body = clone(it.ApprovedBody())
		return nil
	})
	return grant, err
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
	case Answered:
		return fmt.Errorf("%w: a person gave its result: use the item's", ErrDenied)
	case Withdrawn:
		return fmt.Errorf("%w: its run ended before it was redeemed", ErrDenied)
	case Redeemed, Done:
		return fmt.Errorf("%w: what was approved is done once", ErrSpent)
	}
	if it.By == ByPolicy {
		return it.policyError()
	}
	return fmt.Errorf("%w: the item has the reason", ErrDenied)
}

// Done records what a redeemed tool call returned, any JSON value. A call that failed has a result too. It may come after
// the run ended. The same result again returns the item; another one is [ErrDecided].
//
// Errors: ErrInput, ErrUnknown, ErrIllegal (not a tool call that was redeemed), ErrDecided, ErrJournal.
func (s *Session) Done(now time.Time, id string, result json.RawMessage) (Item, error) {
	result, err := s.readResult(result)
	if err != nil {
		return Item{}, fmt.Errorf("gate: %w", err)
	}
	var item Item
	err = s.op(now, func(now time.Time) error {
		it, err := s.item(id)
		switch {
		case err != nil:
			return err
		case it.Kind != Tool:
			return fmt.Errorf("%w: a %s has no result", ErrIllegal, it.Kind)
		case it.Status == Redeemed:
			e := eventFor(it.Item, toolCallResult)
			e.Result = result
			err = s.write(now, e)
		case it.Status == Done && !bytes.Equal(it.Result, result):
			err = fmt.Errorf("%w: the call has another result", ErrDecided)
		case it.Status != Done:
			return fmt.Errorf("%w: the call was not redeemed: it is %s", ErrIllegal, it.Status)
		}
		if err == nil || errors.Is(err, ErrDecided) {
			item = it.copied()
		}
		return err
	})
	return item, err
}
