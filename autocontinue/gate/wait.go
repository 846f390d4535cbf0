package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Approver answers items that wait: a person in a chat program, another program, a model.
type Approver interface {
	// Approve returns the answer to an item. It fills in Action and By and, as needed, Reason and Body; Wait fills in the
	// rest. It may block. ctx ends when the item no longer waits for this approver: somebody else answered, or the time is
	// over. An Approver that does not want to answer returns [ErrPending]. It must be safe for concurrent use.
	Approve(ctx context.Context, item Item) (Decision, error)
}

// Wait waits until an item is no longer pending and returns it. Anybody may answer: another caller of Resolve, or one of the
// approvers. Wait asks the first approver. It asks the next one if the one before fails or returns [ErrPending], or when
// the item escalates. The first answer wins.
//
// With Options.Now and Options.AfterFunc, Wait ends what is due. Without AfterFunc, the host calls [Session.Expire].
// Approvers need Options.Now.
//
// Errors: ErrUnknown, and those of ctx, Resolve, Expire and the last approver. The item may then still be pending: it is
// safe to call Wait again.
func (s *Session) Wait(ctx context.Context, id string, approvers ...Approver) (Item, error) {
	if len(approvers) > 0 && s.options.Now == nil {
		return Item{}, fmt.Errorf("gate: %w: approvers need Options.Now", ErrInput)
	}
	next, askedFor := 0, ""
	var failed error
	for {
		it, ok := s.Item(id)
		switch {
		case !ok:
			return it, fmt.Errorf("gate: %w item", ErrUnknown)
		case it.Status != Pending:
			return it, nil
		case ctx.Err() != nil:
			return it, context.Cause(ctx)
		case it.Approver != askedFor: // it escalated
			askedFor = it.Approver
			next, failed = next+1, nil
		case next >= len(approvers) && failed != nil:
			return it, failed
		}
		waiting, stop := s.whilePending(ctx, it)
		if next >= len(approvers) {
			<-waiting.Done()
		} else if err := s.ask(waiting, approvers[next], it); err != nil && waiting.Err() == nil {
			next++
			if failed = err; errors.Is(err, ErrPending) {
				failed = nil
			}
		}
		if err := stop(); err != nil {
			return it, fmt.Errorf("gate: %w", err)
		}
	}
}

// ask lets an approver answer an item. It returns nil if somebody else was first.
func (s *Session) ask(ctx context.Context, a Approver, it Item) error {
	d, err := a.Approve(ctx, it)
	if err != nil {
		return err
	}
	d.Item, d.Digest = it.ID, it.Digest
	now, err := s.Resolve(s.options.Now(), d)
	if now.ID != "" && now.Status != Pending {
		return nil
	}
	return err
}

// whilePending returns a context that ends when an item is no longer pending, or waits for somebody else. stop frees it and
// returns what went wrong at the end of the item's time.
func (s *Session) whilePending(ctx context.Context, was Item) (waiting context.Context, stop func() error) {
	waiting, cancel := context.WithCancelCause(ctx)
	look := func(Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if it := s.st.items[was.ID]; it == nil || it.Status != Pending || it.Approver != was.Approver {
			cancel(nil)
		}
	}
	unwatch := s.Watch(look)
	look(Event{}) // it may have changed before Watch
	untime := func() bool { return true }
	if s.options.Now != nil && s.options.AfterFunc != nil && !was.Expires.IsZero() {
		untime = s.options.AfterFunc(was.Expires.Sub(s.options.Now()), func() {
			_, err := s.Expire(s.options.Now())
			cancel(err)
		}).Stop
	}
	return waiting, func() error {
		unwatch()
		untime()
		cause := context.Cause(waiting)
		cancel(nil)
		if ctx.Err() != nil || errors.Is(cause, context.Canceled) {
			return nil
		}
		return cause
	}
}

// Do puts a subject through its gate and does it: it proposes, waits as [Session.Wait] does, redeems, and calls do with the
// grant. For a tool call, it records the result of do. It needs Options.Now.
//
// The status of the item says what became of it. Done and Answered have a result. With Denied, Expired and Withdrawn do was
// not called, and Item.Reason is for the model to read. An item that was done before is returned as it is; one that another
// caller has redeemed is [ErrSpent]. If do fails, Do returns its error, and a call is still in [Session.Unfinished].
func (s *Session) Do(
	ctx context.Context, sub Subject, do func(Grant) (json.RawMessage, error), approvers ...Approver,
) (Item, error) {
	if s.options.Now == nil {
		return Item{}, fmt.Errorf("gate: %w: Do needs Options.Now", ErrInput)
	}
	it, err := s.Propose(s.options.Now(), sub)
	for {
		if err == nil {
			it, err = s.Wait(ctx, it.ID, approvers...)
		}
		switch {
		case err != nil:
			return it, err
		case it.Status == Redeemed:
			return it, fmt.Errorf("gate: %w", ErrSpent)
		case it.Status != Approved:
			return it, nil
		}
		grant, err := s.Redeem(s.options.Now(), it.ID)
		if err == nil {
			result, err := do(grant)
			if err == nil && it.Kind == Tool {
				return s.Done(s.options.Now(), it.ID, result)
			}
			it, _ = s.Item(it.ID)
			return it, err
		}
		if now, ok := s.Item(it.ID); !ok || now.Status == Approved {
			return it, err
		}
		// Its time was over, or the policy changed: the item says which.
	}
}
