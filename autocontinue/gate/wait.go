package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Approver answers items that wait: a person in a chat program, another program, a model.
type Approver interface {
	// Approve returns the answer to an item. It fills in Action and By and, as needed, Reason and Body; Wait fills in the
	// rest. An Approver that does not want to answer returns [ErrPending]. It must be safe for concurrent use.
	//
	// It may block, but must return when ctx ends: somebody else answered, or the time is over. Until then Wait does not
	// ask the next approver. A read from a terminal does not end with ctx: see the example.
	//
	// Item.Body is text of the agent: show all of it, with Visible of classify/plaintext for what nobody sees.
	Approve(ctx context.Context, item Item) (Decision, error)
}

// Wait waits until an item is no longer pending and returns it. Anybody may answer: another caller of Resolve, or one
// of the approvers. Wait asks the first approver. It asks the next one if the one before fails or returns
// [ErrPending], or when the item escalates. The first answer wins.
//
// Approvers need Options.Now. With Options.AfterFunc, Wait ends what is due; without it, the host calls
// [Session.Expire]. Errors: ErrIllegal, and those of ctx, Resolve, Expire and the last approver. The item may then
// still be pending: it is safe to call Wait again.
func (s *Session) Wait(ctx context.Context, id string, approvers ...Approver) (Item, error) {
	if len(approvers) > 0 && s.options.Now == nil {
		return Item{}, fmt.Errorf("%w: approvers need Options.Now", ErrInput)
	}
	askedFor := ""
	var failed error
	for {
		it, err := s.peek(id)
		switch it = it.copied(); {
		case err != nil || it.Status != Pending:
			return it, err
		case ctx.Err() != nil:
			return it, context.Cause(ctx)
		case it.Approver != askedFor: // it escalated
			askedFor, failed = it.Approver, nil
			approvers = approvers[min(1, len(approvers)):]
		case len(approvers) == 0 && failed != nil:
			return it, failed
		}
		waiting, stop := s.whilePending(ctx, it)
		if len(approvers) == 0 {
			<-waiting.Done()
		} else if err := s.ask(waiting, approvers[0], it); err != nil && waiting.Err() == nil {
			approvers = approvers[1:]
			if failed = err; errors.Is(err, ErrPending) {
				failed = nil
			}
		}
		if err := stop(); err != nil {
			return it, err
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
	if now, err := s.Resolve(s.options.Now(), d); now.ID == "" || now.Status == Pending {
		return err
	}
	return nil
}

// whilePending returns a context that ends when an item is no longer pending, or waits for somebody else. stop frees
// it and returns what went wrong at the end of the item's time.
func (s *Session) whilePending(ctx context.Context, was Item) (waiting context.Context, stop func() error) {
	waiting, cancel := context.WithCancelCause(ctx)
	look := func(Event) {
		if it, err := s.peek(was.ID); err != nil || it.Status != Pending || it.Approver != was.Approver {
			cancel(nil)
		}
	}
	unwatch := s.Watch(look)
	look(Event{}) // it may have changed before Watch
	untime := func() bool { return true }
	if s.options.Now != nil && s.options.AfterFunc != nil && !was.Expires.IsZero() {
		untime = s.options.AfterFunc(was.Expires.Sub(s.options.Now()), func() {
			if _, err := s.Expire(s.options.Now()); err != nil {
				cancel(err)
			}
		}).Stop
	}
	return waiting, func() error {
		unwatch()
		untime()
		cancel(nil)
		if err := context.Cause(waiting); ctx.Err() == nil && err != context.Canceled {
			return err
		}
		return nil
	}
}

// Do puts a subject through its gate and does it: it proposes, waits as [Session.Wait] does, redeems, and calls do
// with what was approved. For a tool call, it records the result of do. It needs Options.Now.
//
// The status of the item says what became of it. Done has a result. With Denied, Expired and Withdrawn do was not
// called, and Item.Reason is for the model to read. An item that was done before is returned as it is; one that another
// caller has redeemed is [ErrDecided]. If do fails, Do returns its error, and a call stays in [Session.Unfinished].
func (s *Session) Do(
	ctx context.Context, sub Subject, do func(approved Subject) (json.RawMessage, error), approvers ...Approver,
) (Item, error) {
	if s.options.Now == nil {
		return Item{}, fmt.Errorf("%w: Do needs Options.Now", ErrInput)
	}
	it, err := s.Propose(s.options.Now(), sub)
	for err == nil {
		if it, err = s.Wait(ctx, it.ID, approvers...); err != nil {
			break
		}
		if it.Status == Redeemed {
			return it, fmt.Errorf("%w: it is redeemed", ErrDecided)
		} else if it.Status != Approved {
			return it, nil
		}
		approved, err := s.Redeem(s.options.Now(), it.ID)
		if err == nil {
			result, err := do(approved)
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
	return it, err
}

// Watch calls f with each later event, after the state has changed and with the session unlocked: f may call the
// session. f runs in the operation that made the event, so it should not block. Events of other operations may come at
// the same time, or before: a reader that needs the order calls [Session.Events]. cancel does not wait for f.
func (s *Session) Watch(f func(Event)) (cancel func()) {
	s.lock()
	defer s.mu.Unlock()
	s.watchers = append(slices.Clone(s.watchers), &f)
	return func() {
		s.lock()
		defer s.mu.Unlock()
		s.watchers = slices.DeleteFunc(slices.Clone(s.watchers), func(o *func(Event)) bool { return o == &f })
	}
}

// Events returns the kept events with a sequence number above after, oldest first. all is false if some of them are no
// longer kept, or if after is above the last one, of another journal: then show the state anew. A reader that follows
// calls [Session.Watch] first and then Events, and skips by Seq what comes twice.
func (s *Session) Events(after uint64) (events []Event, all bool) {
	s.lock()
	defer s.mu.Unlock()
	for _, e := range s.st.events {
		if e.Seq > after {
			events = append(events, e.clone())
		}
	}
	return events, after+uint64(len(events)) == s.st.seq
}
