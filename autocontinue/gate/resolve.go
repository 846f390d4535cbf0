package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Resolve answers a pending item and returns it.
//
// The first decision wins. The same one again (action, digest and body, whoever makes it) returns the item as it stands
// now; another one is [ErrDecided], and the item comes with the error. So does it with [ErrExpired] and [ErrPolicy].
//
// An approval asks the policy again: if it denies now, the item is denied, and that is [ErrPolicy]. An edit is a new
// proposal: its body is read as strictly, put to Options.Schema and to the policy, whose deny beats the human; refused, it
// leaves the item pending. It cannot change anything but the body.
//
// Errors: ErrInput, ErrUnknown, ErrStale, ErrDecided, ErrExpired, ErrPolicy, ErrBody, ErrSchema, ErrIllegal (respond to
// something that is no tool call), ErrJournal.
func (s *Session) Resolve(now time.Time, d Decision) (Item, error) {
	if err := d.check(); err != nil {
		return Item{}, fmt.Errorf("gate: %w", err)
	}
	kind, err := s.shown(d)
	if err == nil {
		d.Body, err = s.decisionBody(d, kind)
	}
	if err != nil {
		return Item{}, fmt.Errorf("gate: %w", err)
	}
	var item Item
	err = s.op(now, func(now time.Time) error {
		it, err := s.item(d.Item)
		if err != nil {
			return err
		}
		err = s.resolve(now, it, d)
		if err == nil || errors.Is(err, ErrDecided) || errors.Is(err, ErrExpired) || errors.Is(err, ErrPolicy) {
			item = it.copied()
		}
		return err
	})
	return item, err
}

// shown returns the kind of the item that a decision is about, and whether its digest is the item's: neither ever changes.
// The decision's body is read between, without the lock: a long one keeps nobody waiting.
func (s *Session) shown(d Decision) (Kind, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, err := s.item(d.Item)
	if err != nil {
		return "", err
	}
	if d.Digest != it.Digest {
		return "", fmt.Errorf("%w: the item is not what was shown: look at it again", ErrStale)
	}
	return it.Kind, nil
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
			return fmt.Errorf("%w: %s has no body: to change one, edit", ErrInput, d.Action)
		}
	case Edit, Respond:
		if len(d.Body) == 0 {
			return fmt.Errorf("%w: %s needs a body", ErrInput, d.Action)
		}
	default:
		return fmt.Errorf("%w: the action is none of approve, edit, deny, respond, stop", ErrInput)
	}
	return nil
}

// decisionBody reads the body of an edit or a stand-in.
func (s *Session) decisionBody(d Decision, kind Kind) (json.RawMessage, error) {
	switch d.Action {
	case Edit:
		return s.readBody(kind, d.Body)
	case Respond:
		if kind != Tool {
			return nil, fmt.Errorf("%w: only a tool call can be answered in the tool's place: edit the %s", ErrIllegal, kind)
		}
		return s.readResult(d.Body)
	}
	return nil, nil
}

func (s *Session) resolve(now time.Time, it *item, d Decision) error {
	if it.Status != Pending {
		err := it.again(d)
		if r := s.st.runs[it.Run]; err == nil && d.Action == Stop && !r.over() { // a crash took the line that ends the run
			err = s.write(now, stopped(it, d))
		}
		return err
	}
	if due(it, now) {
		return s.expireNow(now, it)
	}
	switch d.Action {
	case Approve:
		if v := s.st.policy.judge(it.Kind, it.Tool, it.Body); v.Then == Forbid {
			if err := s.denyByPolicy(now, it, v); err != nil {
				return err
			}
			return it.policyError()
		}
		return s.write(now, s.approved(now, it, d))
	case Edit:
		edited := it.Subject
		edited.Body = d.Body
		if err := s.schema(edited); err != nil {
			return err
		}
		if v := s.st.policy.judge(it.Kind, it.Tool, d.Body); v.Then == Forbid {
			return fmt.Errorf("%w: the edit is refused and the item still pending: %s", ErrPolicy, v.Rule)
		}
		return s.write(now, s.approved(now, it, d))
	case Respond:
		e := about(it.Item, ToolCallResult)
		e.Action, e.By, e.Reason, e.Result = d.Action, d.By, d.Reason, d.Body
		return s.write(now, e)
	default: // Deny, Stop
		if strings.TrimSpace(d.Reason) == "" {
			d.Reason = map[Action]string{Deny: "a human denied it and gave no reason", Stop: "a human stopped the run and gave no reason"}[d.Action]
		}
		e := about(it.Item, eventOf(it.Kind, "denied"))
		e.Action, e.By, e.Reason = d.Action, d.By, d.Reason
		events := []Event{e}
		if it.Kind != Context && d.Action == Stop {
			events = append(events, stopped(it, d))
		} else {
			events = append(events, s.limit(it, make(map[likenessSum]int))...)
		}
		return s.write(now, events...)
	}
}

// approved returns the event of a human's approval.
func (s *Session) approved(now time.Time, it *item, d Decision) Event {
	e := approval(it.Item, d.Body)
	e.Action, e.By, e.Reason, e.Expires = d.Action, d.By, d.Reason, s.expires(now)
	return e
}

// stopped returns the event that ends the run of an item because a human said so.
func stopped(it *item, d Decision) Event {
	e := ending(it.Thread, it.Run, Refused, d.Reason)
	e.By = d.By
	return e
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
	case it.Status == Denied && it.By == ByPolicy && (d.Action == Approve || d.Action == Edit):
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

func (it *item) policyError() error { return fmt.Errorf("%w: %s", ErrPolicy, it.Rule) }
