package gate

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// state is what the journal's lines add up to. Only apply changes it, so that a replayed session is the one that wrote the
// lines.
type state struct {
	seq     uint64
	sum     string
	bytes   int64
	audited bool
	policy  Policy

	items map[string]*item
	runs  map[string]*run
	ended []string        // the kept runs that ended, in that order
	gone  map[string]bool // the runs that are no longer kept; whether they finished
	kept  int             // bytes of the lines of ended
	open  int             // items that are pending or approved

	keepRuns, keepBytes int // as in Options
}

// item is an Item with what no one else needs to see.
type item struct {
	Item
	seq     uint64 // of the line that proposed it first
	started bool   // its start was announced
}

// run holds the items of one run.
type run struct {
	Run                         // Phase is Staged until its context is redeemed, Running while it goes on, then how it ended
	bytes   int                 // of its lines
	items   []string            // in the order in which they were proposed
	calls   map[string]string   // the item of each call ID
	denials map[likenessSum]int // how often the same was denied
	open    map[string]struct{} // the items that are pending or approved
	busy    map[string]struct{} // the tool calls that execute
}

type likenessSum = [sha256.Size]byte

func newState(p Policy, o Options) *state {
	return &state{
		sum: firstPrev, audited: o.Audited, policy: p, keepRuns: o.KeepRuns, keepBytes: o.KeepBytes,
		items: make(map[string]*item), runs: make(map[string]*run), gone: make(map[string]bool),
	}
}

func (s Status) open() bool { return s == Pending || s == Approved }

func (r *run) over() bool { return r.Phase == Finished || r.Phase == Refused }

// phase returns where the run stands.
func (st *state) phase(r *run) Phase {
	if r.Phase != Running {
		return r.Phase
	}
	for id := range r.open { // a response is never open beside another item
		if st.items[id].Kind == Response {
			return ResponseProposed
		}
		return ToolProposed
	}
	if len(r.busy) > 0 {
		return ToolExecuting
	}
	if last := st.items[r.items[len(r.items)-1]]; last.Kind == Response && last.Status == Redeemed {
		return Finished // and a crash took the line that says so
	}
	return Running
}

// may reports whether something of that kind may be proposed now.
func (st *state) may(r *run, k Kind) bool {
	switch p := st.phase(r); k {
	case Tool:
		return p == Running || p == ToolProposed || p == ToolExecuting
	case Response:
		return p == Running
	}
	return false
}

// sorted returns items in the order in which they were proposed.
func sorted(list []*item) []*item {
	slices.SortFunc(list, func(a, b *item) int { return cmp.Compare(a.seq, b.seq) })
	return list
}

// apply takes one event, whose place in the chain was checked. With an error nothing has changed.
func (st *state) apply(e Event, size int) error {
	if err := st.change(e); err != nil {
		return err
	}
	st.seq, st.sum, st.bytes = e.Seq, e.Sum, st.bytes+int64(size)
	if r := st.runs[e.Run]; r != nil {
		r.bytes += size
		if r.over() {
			st.kept += size
			st.forget()
		}
	}
	return nil
}

func (st *state) change(e Event) error {
	switch e.Type {
	case RunStaged, ToolCallProposed, AssistantDraftProposed:
		return st.propose(e)
	case PolicyChanged:
		if e.Policy == nil {
			return badEvent("holds no policy")
		}
		st.policy = *e.Policy
		return nil
	case AuditChanged:
		if e.Audited == nil {
			return badEvent("does not say whether the session is audited")
		}
		st.audited = *e.Audited
		return nil
	case RunFinished:
		return st.finish(e)
	}
	it := st.items[e.Item]
	if it == nil {
		return badEvent("is about an item that was not proposed")
	}
	if e.Kind != it.Kind || e.Thread != it.Thread || e.Run != it.Run || e.Call != it.Call || e.Tool != it.Tool {
		return badEvent("does not agree with the proposal of its item")
	}
	r := st.runs[it.Run]
	switch e.Type {
	case RunStageApproved, ToolCallApproved, AssistantFinalApproved:
		return st.approve(e, it)
	case RunStageDenied, ToolCallDenied, AssistantFinalDenied:
		return st.deny(e, it, r)
	case ItemExpired:
		if !it.Status.open() || it.Expires.IsZero() || e.At.Before(it.Expires) {
			return badEvent("expires an item that is not due")
		}
		st.close(it, r, Expired, e)
		return nil
	case ItemRedeemed:
		if it.Status != Approved || e.Digest != it.Final {
			return badEvent("redeems an item that was not approved")
		}
		it.Status, it.Expires = Redeemed, time.Time{}
		st.shut(it, r)
		switch it.Kind {
		case Context:
			r.Phase = Running
		case Tool:
			r.busy[it.ID] = struct{}{}
		}
		return nil
	case RunStarted, ToolCallStarted:
		if it.Status != Redeemed || it.started || eventOf(it.Kind, "started") != e.Type {
			return badEvent("starts what was not redeemed")
		}
		it.started = true
		return nil
	case ToolCallResult:
		return st.result(e, it, r)
	}
	return badEvent("is of no known type")
}

// eventOf names the event of a kind of item.
func eventOf(k Kind, what string) EventType {
	return map[Kind]map[string]EventType{
		Context:  {"proposed": RunStaged, "approved": RunStageApproved, "denied": RunStageDenied, "started": RunStarted},
		Tool:     {"proposed": ToolCallProposed, "approved": ToolCallApproved, "denied": ToolCallDenied, "started": ToolCallStarted},
		Response: {"proposed": AssistantDraftProposed, "approved": AssistantFinalApproved, "denied": AssistantFinalDenied},
	}[k][what]
}

func (st *state) propose(e Event) error {
	sub, err := e.subject()
	if err != nil {
		return err
	}
	if e.Type != eventOf(sub.Kind, "proposed") {
		return badEvent("is not of its item's kind")
	}
	if e.Digest != digest(sub) {
		return badEvent("has a digest that is not its subject's")
	}
	if strictness(e.Verdict) == 0 {
		return badEvent("has no verdict of the policy")
	}
	if it := st.items[e.Item]; it != nil { // allowed once and asked now
		if it.Status != Approved || it.Action != "" || it.Digest != e.Digest {
			return badEvent("proposes an item again that a human has answered, or another one")
		}
		it.Status, it.Decided, it.By, it.Reason, it.Final = Pending, time.Time{}, "", "", ""
		it.Verdict, it.Rule, it.Expires = e.Verdict, e.Rule, e.Expires
		return nil
	}
	if e.Item != itemID(e.Seq) {
		return badEvent("has an item ID that is not its own")
	}
	r := st.runs[sub.Run]
	if _, gone := st.gone[sub.Run]; gone || (r == nil) != (sub.Kind == Context) {
		return badEvent("does not fit its run")
	}
	if r == nil {
		r = &run{
			Run:   Run{ID: sub.Run, Thread: sub.Thread, Phase: Staged, Staged: e.At},
			calls: make(map[string]string), denials: make(map[likenessSum]int),
			open: make(map[string]struct{}), busy: make(map[string]struct{}),
		}
		st.runs[sub.Run] = r
	} else if r.Thread != sub.Thread || !st.may(r, sub.Kind) || r.calls[sub.Call] != "" {
		return badEvent("does not fit its run")
	}
	st.items[e.Item] = &item{seq: e.Seq, Item: Item{
		ID: e.Item, Subject: sub, Digest: e.Digest, Status: Pending,
		Rule: e.Rule, Verdict: e.Verdict, Proposed: e.At, Expires: e.Expires,
	}}
	r.items = append(r.items, e.Item)
	r.open[e.Item] = struct{}{}
	st.open++
	if sub.Kind == Tool {
		r.calls[sub.Call] = e.Item
	}
	return nil
}

// itemID names the item that a line proposed.
func itemID(seq uint64) string { return "i" + strconv.FormatUint(seq, 10) }

func (st *state) approve(e Event, it *item) error {
	if it.Status != Pending || e.Type != eventOf(it.Kind, "approved") {
		return badEvent("approves an item that is not pending, or of another kind")
	}
	final, err := e.final(it.Item)
	if err != nil {
		return err
	}
	edited := it.Subject
	edited.Body = final
	switch {
	case e.Digest != digest(edited):
		return badEvent("approves something else than it shows")
	case e.Action == "" && e.By != ByPolicy && e.By != ByUnaudited,
		e.Action != "" && e.Action != Approve && e.Action != Edit,
		e.Action != "" && checkBy(e.By) != nil,
		e.Action != Edit && e.Digest != it.Digest:
		return badEvent("is not decided by anybody who could")
	}
	it.Status, it.Decided, it.Expires = Approved, e.At, e.Expires
	it.Action, it.By, it.Reason, it.Final = e.Action, e.By, e.Reason, e.Digest
	if e.Rule != "" {
		it.Rule = e.Rule
	}
	if e.Action == Edit {
		it.Edited = final
	}
	return nil
}

func (st *state) deny(e Event, it *item, r *run) error {
	if e.Type != eventOf(it.Kind, "denied") {
		return badEvent("is not of its item's kind")
	}
	switch {
	case e.Action == "" && e.By == ByPolicy && it.Status.open():
	case (e.Action == Deny || e.Action == Stop) && it.Status == Pending && checkBy(e.By) == nil:
	default:
		return badEvent("denies an item that cannot be denied any more")
	}
	it.Action, it.By, it.Reason = e.Action, e.By, e.Reason
	if e.Rule != "" {
		it.Rule = e.Rule
	}
	st.close(it, r, Denied, e)
	return nil
}

// shut takes an item from those that are open.
func (st *state) shut(it *item, r *run) {
	delete(r.open, it.ID)
	st.open--
}

// close ends an open item that did not pass, and counts it.
func (st *state) close(it *item, r *run, s Status, e Event) {
	it.Status, it.Decided, it.Expires = s, e.At, time.Time{}
	if s == Expired { // nobody's decision, also when it was approved and not used
		it.Action, it.By, it.Reason = "", "", e.Reason
	}
	st.shut(it, r)
	if it.Kind == Context {
		st.end(r, Refused, e.Reason, e.At)
		return
	}
	r.denials[likeness(it.Subject)]++
}

func (st *state) result(e Event, it *item, r *run) error {
	if it.Kind != Tool || e.Result == nil {
		return badEvent("holds no tool's result")
	}
	switch {
	case e.Action == Respond && it.Status == Pending && checkBy(e.By) == nil:
		it.Status, it.Decided, it.Expires = Answered, e.At, time.Time{}
		it.Action, it.By, it.Reason = e.Action, e.By, e.Reason
		st.shut(it, r)
	case e.Action == "" && it.Status == Redeemed:
		it.Status = Done
		delete(r.busy, it.ID)
	default:
		return badEvent("is the result of a call that does not execute")
	}
	it.Result = e.Result
	return nil
}

func (st *state) finish(e Event) error {
	r := st.runs[e.Run]
	if r == nil || r.over() || r.Thread != e.Thread || e.Phase != Finished && e.Phase != Refused {
		return badEvent("ends a run that does not go on")
	}
	st.end(r, e.Phase, e.Reason, e.At)
	return nil
}

// end closes a run: what is open is withdrawn, what executes may still bring its result.
func (st *state) end(r *run, p Phase, reason string, at time.Time) {
	r.Phase, r.Reason = p, reason
	for id := range r.open {
		it := st.items[id]
		it.Status, it.Expires, it.Reason = Withdrawn, time.Time{}, reason
		if it.Decided.IsZero() {
			it.Decided = at
		}
	}
	st.open -= len(r.open)
	clear(r.open)
	st.ended, st.kept = append(st.ended, r.ID), st.kept+r.bytes
}

// forget drops the runs that ended first, but for those with a call that executes and the one that ended last.
func (st *state) forget() {
	for i := 0; (len(st.ended) > st.keepRuns || st.kept > st.keepBytes) && i < len(st.ended)-1; {
		r := st.runs[st.ended[i]]
		if len(r.busy) > 0 {
			i++
			continue
		}
		for _, id := range r.items {
			delete(st.items, id)
		}
		delete(st.runs, r.ID)
		st.kept -= r.bytes
		st.gone[r.ID] = r.Phase == Finished
		st.ended = slices.Delete(st.ended, i, i+1)
	}
}

// list returns the open or the executing items of all runs of which ok holds, oldest first.
func (st *state) list(of func(*run) map[string]struct{}, ok func(*item) bool) []*item {
	var list []*item
	for _, r := range st.runs {
		for id := range of(r) {
			if it := st.items[id]; ok(it) {
				list = append(list, it)
			}
		}
	}
	return sorted(list)
}

func openOf(r *run) map[string]struct{} { return r.open }
func busyOf(r *run) map[string]struct{} { return r.busy }

// badEvent says what is wrong with a line whose hashes are right.
func badEvent(problem string) error { return fmt.Errorf("the event %s", problem) }

// copied returns an item that shares nothing with the session.
func (it *item) copied() Item {
	c := it.Item
	c.Body, c.Edited, c.Result = clone(c.Body), clone(c.Edited), clone(c.Result)
	return c
}
