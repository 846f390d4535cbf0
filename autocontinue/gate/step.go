package gate

import (
	"bytes"
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
// tools and a response can be proposed. Several tool calls of a run may be open at once. A response waits for them all.
//
// The same subject again, whatever its label, returns the same item, also after it was decided. While the item is
// pending, the policy is asked again. A call ID or run ID with other contents is [ErrIllegal]. A response has no ID:
// the same text again, after it was denied, is a new item. Errors: ErrInput, ErrIllegal, ErrJournal.
func (s *Session) Propose(now time.Time, sub Subject) (item Item, err error) {
	if err = sub.check(); err == nil {
		sub, _, err = s.accept(sub)
	}
	dig := digest(sub)
	err = s.op(now, err, sub, func(now time.Time, v verdict) error {
		it, err := s.earlier(sub, dig)
		switch {
		case err != nil:
			return err
		case it == nil:
			it, err = s.proposeNew(now, sub, dig, v)
		case it.due(now):
			err = s.overdue(now, it)
		case it.Status == Pending:
			err = s.write(now, s.decided(now, it, v)...)
		}
		if err == nil {
			item = it.copied()
		}
		return err
	})
	return item, err
}

// accept returns a subject with its body as the session keeps it, and the value of that, unless Options.Schema refuses.
func (s *Session) accept(sub Subject) (_ Subject, v any, err error) {
	sub.Body, v, err = readBody(sub.Kind, sub.Body, s.options.MaxBody)
	if err == nil && s.options.Schema != nil {
		asked := sub
		asked.Body = slices.Clone(sub.Body)
		if err = s.options.Schema(asked); err != nil {
			err = fmt.Errorf("%w: %w", ErrInput, err)
		}
	}
	return sub, v, err
}

// earlier returns the item of the same proposal made before, or nil.
func (s *Session) earlier(sub Subject, dig string) (*Item, error) {
	r := s.st.runs[sub.Run]
	switch {
	case r == nil:
		return nil, nil
	case r.items == nil:
		return nil, fmt.Errorf("%w: the run ended long ago: give every run its own ID", ErrIllegal)
	case r.Thread != sub.Thread:
		return nil, fmt.Errorf("%w: the run belongs to another thread", ErrIllegal)
	}
	var it *Item
	for _, old := range r.items {
		if old.Kind == sub.Kind && old.Call == sub.Call {
			it = old
		}
	}
	switch {
	case it == nil, sub.Kind == Response && (it.Digest != dig || !r.over() && !it.isOpen()):
		return nil, nil // another draft, or the same after it was denied, is a new item if the phase allows it
	case it.Digest != dig:
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
	e := it.event(Pending)
	e.Label, e.Digest, e.Verdict, e.Rule = it.Label, it.Digest, string(v.then), v.rule
	within := cmp.Or(min(it.Within, v.within), it.Within, v.within, s.options.TTL)
	e.Expires, e.Escalate = now.Add(within), cmp.Or(it.Subject.Escalate, v.escalate)
	e.setBody(false, it.Body)
	return e
}

// decided returns the events that follow at once from a verdict about a pending item; none if a person is asked.
func (s *Session) decided(now time.Time, it *Item, v verdict) []Event {
	switch {
	case v.then == forbid:
		return s.policyDenial(it, v)
	case v.then == ask && s.st.audited:
		return nil
	}
	e := s.approval(now, it, nil)
	if e.By, e.Rule = ByPolicy, v.rule; v.then == ask {
		e.By = ByUnaudited
	}
	return []Event{e}
}

// approval returns the event that approves an item. edited is nil, or the body that replaces the proposed one.
func (s *Session) approval(now time.Time, it *Item, edited []byte) Event {
	e := it.event(Approved)
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
	e := it.event(Denied)
	rule := plaintext.Cut(strings.TrimSuffix(v.rule, ": "+string(forbid)), 55) // the agent needs no more
	instead := map[Kind]string{Tool: " or choose another call", Response: " or write another answer"}
	e.By, e.Rule = ByPolicy, v.rule
	e.Reason = fmt.Sprintf("denied by the policy (%s): ask the human%s", rule, instead[it.Kind])
	return append([]Event{e}, s.limit(it)...)
}

// limit returns the event that stops an item's run if one more denial of it is too many.
func (s *Session) limit(it *Item) []Event {
	n := 1
	if r := s.st.runs[it.Run]; r != nil { // it is nil for the first call of a run
		n += r.denials[it.requestKey()]
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
	err = s.op(now, nil, Subject{}, func(now time.Time, _ verdict) error {
		for _, it := range s.st.list(func(it *Item) bool { return it.due(now) }) {
			if err := s.overdue(now, it); err != nil {
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

// overdue ends an item that is due: it expires, or waits for somebody else.
func (s *Session) overdue(now time.Time, it *Item) error {
	if !it.due(now) {
		return nil
	}
	e := it.event(Expired)
	e.Reason = "nobody answered in time"
	if it.Status == Approved {
		e.Reason = "it was approved, but not redeemed in time"
	} else if it.Escalate != "" {
		e.Type, e.Reason = itemEscalated, "nobody answered in time; it now waits for "+it.Escalate
		e.Expires = now.Add(it.Expires.Sub(it.asked)) // as long as the first one had
		return s.write(now, e)
	}
	return s.write(now, append([]Event{e}, s.limit(it)...)...)
}

// Resolve answers a pending item and returns it. The first decision wins. The same one again (action, digest and body,
// by anybody) returns the item as it is now. Another one is [ErrDecided], and the item comes with the error. It also
// comes with [ErrDenied].
//
// An approval asks the policy again. If the policy denies now, the item is denied, and that is [ErrDenied]. An edit
// is a new proposal: its body is read as strictly, and goes to Options.Schema and the policy. If they refuse it, the
// item stays pending. An edit must change the value of the body, and cannot change anything else.
//
// Errors: ErrInput, ErrIllegal (an unknown item, or respond to something that is not a tool call), ErrStale,
// ErrDecided, ErrDenied (also of an item that expired), ErrJournal.
func (s *Session) Resolve(now time.Time, d Decision) (Item, error) {
	it, err := s.peek(d.Item)
	if err == nil && d.Digest != it.Digest {
		err = fmt.Errorf("%w: this is not the item that was shown: look at it again", ErrStale)
	}
	if err = cmp.Or(d.check(), err); err != nil {
		return Item{}, err
	}
	var judged Subject // what the policy is asked about
	switch d.Action {
	case Approve:
		d.Body, judged = nil, it.Subject // not an empty body
	case Edit:
		var v any
		judged = it.Subject
		judged.Body = d.Body
		judged, v, err = s.accept(judged)
		if old, e := readJSON(it.Body); err == nil && e == nil && sum(v, asIs) == sum(old, asIs) {
			err = fmt.Errorf("%w: the edit changes nothing: approve the item instead", ErrInput)
		}
		d.Body = judged.Body
	case Respond:
		if d.Body, _, err = readBody("", d.Body, s.options.MaxBody); err == nil && it.Kind != Tool {
			err = fmt.Errorf("%w: only a tool call can be answered in the tool's place: edit the %s", ErrIllegal, it.Kind)
		}
	}
	return s.itemOp(now, err, d.Item, judged, func(now time.Time, it *Item, v verdict) error {
		return s.resolve(now, it, d, v)
	})
}

// itemOp runs an operation about one item, and asks the policy about a subject that is not empty. It returns the item,
// also with an error that the item explains.
func (s *Session) itemOp(
	now time.Time, bad error, id string, sub Subject, do func(time.Time, *Item, verdict) error,
) (got Item, err error) {
	err = s.op(now, bad, sub, func(now time.Time, v verdict) error {
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
func (s *Session) peek(id string) (item Item, err error) {
	s.lock()
	defer s.mu.Unlock()
	it, err := s.st.item(id)
	if err == nil {
		item = *it
	}
	return item, err
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
	if it.Status == Pending {
		if err := s.overdue(now, it); err != nil {
			return err
		}
	}
	if it.Status != Pending {
		return it.again(d)
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
		e = it.event(Done)
		e.Result = d.Body
	default:
		if plaintext.IsBlank(d.Reason) {
			d.Reason = map[Action]string{
				Deny: "a person denied it and gave no reason", Stop: "a person stopped the run and gave no reason",
			}[d.Action]
		}
		e = it.event(Denied)
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
	case it.Status == Expired, it.Status == Denied && it.By == ByPolicy && (d.Action == Approve || d.Action == Edit):
		return it.denial()
	}
	return fmt.Errorf("%w: it is %s", ErrDecided, it.Status)
}

// denial says why an item may not go on.
func (it *Item) denial() error {
	why := map[Status]string{
		Expired: it.Reason, Withdrawn: "its run ended", Done: "a person gave its result: use the item's",
	}[it.Status]
	if it.By == ByPolicy {
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
// A crash after Redeem may lose what it handed out. Only the host can find out whether the tool did its work; until it
// calls Done, the call is in [Session.Unfinished].
//
// Errors: ErrIllegal, ErrPending, ErrDenied, ErrDecided (it was redeemed before), ErrJournal.
func (s *Session) Redeem(now time.Time, id string) (Subject, error) {
	it, err := s.peek(id)
	approved := it.Subject
	approved.Body = it.ApprovedBody()
	_, err = s.itemOp(now, err, id, approved, func(now time.Time, it *Item, v verdict) error {
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
		redeemed := it.event(Redeemed)
		redeemed.Digest, redeemed.By = it.Final, it.By
		follow := ending(it.Thread, it.Run, finished, "", "")
		if it.Kind != Response {
			follow = it.event("")
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
// Errors: ErrInput, ErrIllegal (not a tool call that was redeemed), ErrDecided, ErrJournal.
func (s *Session) Done(now time.Time, id string, result json.RawMessage) (Item, error) {
	result, _, err := readBody("", result, s.options.MaxBody)
	return s.itemOp(now, err, id, Subject{}, func(now time.Time, it *Item, _ verdict) error {
		switch {
		case it.executes():
			e := it.event(Done)
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
