package gate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// state is what the lines of the journal add up to. Only apply changes it. Therefore a replayed session equals the
// session that wrote the lines.
type state struct {
	seq     uint64
	sum     string
	bytes   int64
	audited bool
	policy  Policy
	limits  limits

	events     []Event // the last ones
	eventBytes int     // of their lines

	items map[string]*Item
	runs  map[string]*run
	ended []*run           // the kept runs that ended, in that order
	gone  map[string]Phase // the last phases of forgotten runs
	kept  int              // bytes of the lines of ended
}

type run struct {
	Run                               // Phase is staged until the context is redeemed, then running, then how it ended
	bytes   int                       // of its lines
	items   []*Item                   // in the order of their proposals
	denials map[[sha256.Size]byte]int // by likeness: how often the same was denied
}

func (p Phase) isEnd() bool  { return p == finished || p == stopped }
func (r *run) over() bool    { return r.Phase.isEnd() }
func (r *run) latest() *Item { return r.items[len(r.items)-1] }
func (r *run) busy() bool    { return slices.ContainsFunc(r.items, (*Item).executes) }

// phase returns the phase of a run; r is nil for an unknown run.
func (r *run) phase() Phase {
	switch {
	case r == nil:
		return noRun
	case r.Phase != running:
		return r.Phase
	case r.latest().Kind == Response && r.latest().isOpen(): // a response is never open beside another item
		return responseProposed
	case slices.ContainsFunc(r.items, (*Item).isOpen):
		return toolProposed
	case r.busy():
		return toolExecuting
	}
	return running
}

func (st *state) phase(id string) Phase { return cmp.Or(st.runs[id].phase(), st.gone[id]) }

// apply takes one event whose place in the journal was checked. With an error, nothing has changed.
func (st *state) apply(e Event) error {
	it, r := st.items[e.Item], st.runs[e.Run]
	switch {
	case e.Type == policyChanged && e.Policy != nil:
		st.policy = *e.Policy
	case e.Type == auditChanged && e.Audited != nil:
		st.audited = *e.Audited
	case e.Type == runFinished && r != nil && r.Phase == e.Phase && r.over(): // the event before it said so
	case e.Type == runFinished && r != nil && !r.over() && e.Phase.isEnd():
		st.end(r, e.Phase, e.Reason, e.At)
	case it == nil && e.Type != "" && e.Type == eventTypes[e.Kind][Pending]:
		st.propose(e, r)
	case it != nil && r != nil && it.Run == r.ID:
		st.step(e, it, r)
	default:
		return errors.New("the event does not fit what was there before it")
	}
	st.seq, st.sum, st.bytes = e.Seq, e.Sum, st.bytes+int64(e.size)
	st.events, st.eventBytes = append(st.events, e), st.eventBytes+e.size
	for len(st.events) > 1 && (len(st.events) > st.limits.events || st.eventBytes > st.limits.eventBytes) {
		st.eventBytes -= st.events[0].size
		st.events[0] = Event{} // append later moves the rest to a new array
		st.events = st.events[1:]
	}
	if r := st.runs[e.Run]; r != nil {
		r.bytes += e.size
		if r.over() {
			st.kept += e.size
			st.forget()
		}
	}
	return nil
}

// propose adds a new item, and its run if it is the first of one.
func (st *state) propose(e Event, r *run) {
	sub := Subject{Kind: e.Kind, Thread: e.Thread, Run: e.Run, Call: e.Call, Tool: e.Tool, Label: e.Label}
	sub.Body = e.getBody(false)
	if r == nil {
		r = &run{
			Run:     Run{ID: sub.Run, Thread: sub.Thread, Phase: running, Staged: e.At},
			denials: make(map[[sha256.Size]byte]int),
		}
		if sub.Kind == Context {
			r.Phase = staged
		}
		st.runs[sub.Run] = r
	}
	it := &Item{ID: e.Item, Seq: e.Seq, Subject: sub, Digest: e.Digest, Status: Pending, Proposed: e.At}
	it.ask(e)
	st.items[e.Item] = it
	r.items = append(r.items, it)
}

// ask lets a pending item wait for its first approver.
func (it *Item) ask(e Event) {
	it.Rule, it.Expires, it.asked = e.Rule, e.Expires, e.At
	it.Approver, it.Escalate = "", e.Escalate
}

// step takes an event of an item that is in the right status for it.
func (st *state) step(e Event, it *Item, r *run) {
	status := e.Status()
	switch {
	case status == "":
		return // it starts
	case e.Type == itemEscalated:
		it.Approver, it.Escalate, it.Expires, it.asked = it.Escalate, "", e.Expires, e.At
		return
	case status == Pending: // again
		it.Decided, it.By, it.Reason, it.Final = time.Time{}, "", "", ""
		it.ask(e)
	case status == Redeemed:
		it.Expires = time.Time{}
	case it.isOpen(): // somebody decided, or the time is over
		it.Decided, it.Expires, it.Escalate = e.At, e.Expires, ""
		it.Action, it.By, it.Reason, it.Rule = e.Action, e.By, e.Reason, cmp.Or(e.Rule, it.Rule)
	}
	it.Status = status
	switch {
	case status == Approved:
		it.Final = e.Digest
		if body := e.getBody(true); body != nil && !bytes.Equal(body, it.Body) {
			it.Edited = body
		}
	case status == Done:
		it.Result = e.Result
	case status == Redeemed && it.Kind == Context:
		r.Phase = running
	case status == Redeemed && it.Kind == Response:
		st.end(r, finished, "", e.At)
	case e.Action == Stop, it.Kind == Context && status != Pending:
		st.end(r, stopped, e.Reason, e.At)
	case !it.isOpen() && status != Redeemed:
		r.denials[it.likeness()]++
	}
}

// end closes a run: what is open is withdrawn, what executes may still bring its result.
func (st *state) end(r *run, p Phase, reason string, at time.Time) {
	r.Phase, r.Reason = p, reason
	for _, it := range r.items {
		if it.isOpen() {
			it.Status, it.Expires, it.Escalate, it.Reason = Withdrawn, time.Time{}, "", reason
			if it.Decided.IsZero() {
				it.Decided = at
			}
		}
	}
	st.ended, st.kept = append(st.ended, r), st.kept+r.bytes
}

// forget drops the runs that ended first, except those with a call that executes, and the one that ended last.
func (st *state) forget() {
	for i := 0; (len(st.ended) > st.limits.keepRuns || st.kept > st.limits.keepBytes) && i < len(st.ended)-1; {
		r := st.ended[i]
		if r.busy() {
			i++
			continue
		}
		for _, it := range r.items {
			delete(st.items, it.ID)
		}
		delete(st.runs, r.ID)
		st.kept -= r.bytes
		st.gone[r.ID] = r.Phase
		st.ended = slices.Delete(st.ended, i, i+1)
	}
}

func (st *state) list(ok func(*Item) bool) []*Item {
	list := slices.DeleteFunc(slices.Collect(maps.Values(st.items)), func(it *Item) bool { return !ok(it) })
	slices.SortFunc(list, func(a, b *Item) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

func (st *state) item(id string) (*Item, error) {
	if it := st.items[id]; it != nil {
		return it, nil
	}
	return nil, fmt.Errorf("%w: the item was never proposed here, or its run ended too long ago", ErrIllegal)
}
