package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Redeem hands out what was approved, exactly once: the host does it then, and at no other time. For a context the run
// starts; for a tool call it executes until [Session.Done]; for a response the run is finished.
//
// The policy is asked again, about the approved body. If it denies now, the item is denied, and that is [ErrPolicy]. If it
// asks now, and no human has approved the item, the item is pending again, and that is [ErrPending].
//
// A grant that was lost, in a crash between the journal and the deed, is not handed out again: whether the deed was done is
// for the host to find out. The call is in [Session.Executing] until then.
//
// Errors: ErrUnknown, ErrPending, ErrDenied, ErrAnswered, ErrExpired, ErrSpent, ErrPolicy, ErrJournal.
func (s *Session) Redeem(now time.Time, id string) (Grant, error) {
	var grant Grant
	err := s.op(now, func(now time.Time) error {
		it, err := s.item(id)
		if err != nil {
			return err
		}
		if err := it.redeemable(now); err != nil {
			return err
		}
		if due(it, now) {
			return s.expireNow(now, it)
		}
		body := it.ApprovedBody()
		v := s.st.policy.judge(it.Kind, it.Tool, body)
		switch {
		case v.Then == Forbid:
			if err := s.denyByPolicy(now, it, v); err != nil {
				return err
			}
			return it.policyError()
		case v.Then == Ask && s.st.audited && it.Action == "":
			again := proposal(it.Subject, it.Digest, v)
			again.Item, again.Expires = it.ID, s.expires(now)
			if err := s.write(now, again); err != nil {
				return err
			}
			return fmt.Errorf("%w: it passed without a human, and since then one is to be asked", ErrPending)
		}
		redeemed := about(it.Item, ItemRedeemed)
		redeemed.Digest, redeemed.By = it.Final, it.By
		follow := ending(it.Thread, it.Run, Finished, "")
		if it.Kind != Response {
			follow = about(it.Item, eventOf(it.Kind, "started"))
		}
		if err := s.write(now, redeemed, follow); err != nil {
			return err
		}
		grant = Grant{Item: it.ID, Digest: it.Final, Subject: it.Subject, Edited: it.Edited != nil, By: it.By}
		grant.Body = clone(body)
		return nil
	})
	return grant, err
}

// redeemable refuses an item that cannot be redeemed whatever the policy says.
func (it *item) redeemable(now time.Time) error {
	switch it.Status {
	case Pending:
		if due(it, now) {
			return nil
		}
		return fmt.Errorf("%w: it waits for a human", ErrPending)
	case Denied:
		if it.By == ByPolicy {
			return it.policyError()
		}
		return fmt.Errorf("%w: the reason is with the item", ErrDenied)
	case Expired:
		return fmt.Errorf("%w: %s", ErrExpired, it.Reason)
	case Answered:
		return fmt.Errorf("%w: use the item's result", ErrAnswered)
	case Withdrawn:
		return fmt.Errorf("%w: its run ended before it was redeemed", ErrDenied)
	case Redeemed, Done:
		return fmt.Errorf("%w: what was approved is done once", ErrSpent)
	}
	return nil
}

// Done records what a redeemed tool call returned, any JSON value; a call that failed has a result too. It may come after
// the run ended. The same result again returns the item; another one is [ErrDecided].
//
// Errors: ErrUnknown, ErrBody, ErrIllegal (not a tool call that was redeemed), ErrDecided, ErrJournal.
func (s *Session) Done(now time.Time, id string, result json.RawMessage) (Item, error) {
	result, err := s.readResult(result)
	if err != nil {
		return Item{}, fmt.Errorf("gate: %w", err)
	}
	var item Item
	err = s.op(now, func(now time.Time) error {
		it, err := s.item(id)
		if err != nil {
			return err
		}
		if it.Kind != Tool {
			return fmt.Errorf("%w: a %s has no result", ErrIllegal, it.Kind)
		}
		switch {
		case it.Status == Redeemed:
			e := about(it.Item, ToolCallResult)
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

func (s *Session) readResult(data []byte) (json.RawMessage, error) {
	if err := s.fits(data); err != nil {
		return nil, err
	}
	return strict(data)
}

// Finish ends a run that gives no response, whatever its phase; what is open is withdrawn. reason is for humans and may be
// empty. Again it does nothing.
//
// Errors: ErrInput, ErrUnknown, ErrIllegal (the run was denied or stopped), ErrJournal.
func (s *Session) Finish(now time.Time, run, reason string) error {
	return s.endRun(now, run, "", reason, Finished)
}

// StopRun ends a run by a human's will, whatever its phase; what is open, approved or not, is withdrawn. A call that
// executes goes on, and may bring its result. Again it does nothing.
//
// Errors: ErrInput, ErrUnknown, ErrIllegal (the run is finished), ErrJournal.
func (s *Session) StopRun(now time.Time, run, by, reason string) error {
	if err := checkBy(by); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	return s.endRun(now, run, by, reason, Refused)
}

func (s *Session) endRun(now time.Time, id, by, reason string, p Phase) error {
	return s.op(now, func(now time.Time) error {
		if err := checkText("reason", reason, maxReason); err != nil {
			return err
		}
		was, thread := NoRun, ""
		if r := s.st.runs[id]; r != nil {
			was, thread = s.st.phase(r), r.Thread
		} else if finished, gone := s.st.gone[id]; gone {
			was = map[bool]Phase{true: Finished, false: Refused}[finished]
		}
		switch was {
		case NoRun:
			return fmt.Errorf("%w run: %w", ErrUnknown, errNoRun)
		case p:
			if r := s.st.runs[id]; r == nil || r.over() {
				return nil
			}
		case Finished, Refused:
			return fmt.Errorf("%w: the run is %s", ErrIllegal, was)
		}
		e := ending(thread, id, p, reason)
		e.By = by
		return s.write(now, e)
	})
}
