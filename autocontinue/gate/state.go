package gate

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// state is what the lines of the journal add up to. Only apply changes it. Therefore a replayed session equals the session
// that wrote the lines.
type state struct {
	seq     uint64
	sum     string
	bytes   int64
	audited bool
	policy  Policy

	items map[string]*item
	runs  map[string]*run
	ended []string         // the kept runs that ended, in that order
	gone  map[string]Phase // how runs ended that are no longer kept
	kept  int              // bytes of the lines of ended
	open  int              // items that are pending or approved

	toolsOnly           bool // as in Options
	keepRuns, keepBytes int
}

// item is an Item with what nobody else needs to see.
type item struct {
	Item
	asked   time.Time // since when the present approver has been asked
	started bool      // its start was announced
}

// run holds the items of one run.
type run struct {
	Run                         // Phase is staged until its context is redeemed, running while it goes on, then how it ended
	bytes   int                 // of its lines
	items   []string            // in the order of their proposals
	calls   map[string]string   // the item of each call ID
	denials denials             // how often the same was denied
	open    map[string]struct{} // the items that are pending or approved
	busy    map[string]struct{} // the tool calls that execute
}

func newState(p Policy, o Options) *state {
	return &state{
		sum: firstPrev, audited: o.Audited, policy: p,
		toolsOnly: o.ToolsOnly, keepRuns: o.KeepRuns, keepBytes: o.KeepBytes,
		items: make(map[string]*item), runs: make(map[string]*run), gone: make(map[string]Phase),
	}
}

func (r *run) over() bool { return r.Phase == Finished || r.Phase == Refused }

// phase returns where the run stands.
func (st *state) phase(r *run) Phase {
	if r.Phase != running {
		return r.Phase
	}
	for id := range r.open { // a response is never open beside another item
		if st.items[id].Kind == Response {
			return responseProposed
		}
		return toolProposed
	}
	if len(r.busy) > 0 {
		return toolExecuting
	}
	if last := st.items[r.items[len(r.items)-1]]; last.Kind == Response && last.Status == Redeemed {
		return Finished // and a crash took the line that says so
	}
	return running
}

// phaseOf returns where the run with an ID stands, also one that is no longer kept.
func (st *state) phaseOf(id string) Phase {
	if r := st.runs[id]; r != nil {
		return st.phase(r)
	}
	return st.gone[id]
}

// may reports whether something of a kind may be proposed in a run now. r is nil for an unknown run.
func (st *state) may(r *run, k Kind) bool {
	if r == nil {
		return k == Context || k == Tool && st.toolsOnly
	}
	switch p := st.phase(r); k {
	case Tool:
		return p == running || p == toolProposed || p == toolExecuting
	case Response:
		return p == running
	}
	return false
}

// check refuses an event that is no session's, of a journal that somebody else may have written. What depends on the
// state, change refuses.
func (st *state) check(e Event) error {
	var err error
	var sub Subject
	switch e.Status() {
	case Pending:
		if e.Type == itemEscalated {
			return nil
		}
		sub = e.subject()
		if err = sub.check(); err != nil {
			return err
		}
	case Approved:
		it := st.items[e.Item]
		if it == nil {
			return nil // change says so
		}
		sub = it.Subject
		if sub.Body, err = e.approvedBody(it.Item); err != nil {
			return err
		}
	default:
		return nil
	}
	if err := checkBody(sub.Kind, sub.Body); err != nil {
		return err
	}
	if e.Digest != digest(sub) {
		return badEvent("has a digest that is not of its subject")
	}
	return nil
}

// apply takes one event whose place in the journal was checked. With an error, nothing has changed.
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
	case runStaged, toolCallProposed, draftProposed:
		return st.propose(e)
	case policyChanged:
		if e.Policy == nil {
			return badEvent("has no policy")
		}
		st.policy = *e.Policy
		return nil
	case auditChanged:
		if e.Audited == nil {
			return badEvent("does not say whether the session is audited")
		}
		st.audited = *e.Audited
		return nil
	case runFinished:
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
	case runStageApproved, toolCallApproved, finalApproved:
		return st.approve(e, it)
	case runStageDenied, toolCallDenied, finalDenied:
		return st.deny(e, it, r)
	case itemEscalated:
		if it.Status != Pending || it.Escalate == "" || it.Expires.IsZero() || e.At.Before(it.Expires) {
			return badEvent("escalates an item that is not due")
		}
		it.Approver, it.Escalate, it.Expires, it.asked = it.Escalate, "", e.Expires, e.At
		return nil
	case itemExpired:
		if !it.Status.open() || it.Expires.IsZero() || e.At.Before(it.Expires) {
			return badEvent("expires an item that is not due")
		}
		st.close(it, r, Expired, e)
		return nil
	case itemRedeemed:
		if it.Status != Approved || e.Digest != it.Final {
			return badEvent("redeems an item that was not approved")
		}
		it.Status, it.Expires = Redeemed, time.Time{}
		st.noLongerOpen(it, r)
		switch it.Kind {
		case Context:
			r.Phase = running
		case Tool:
			r.busy[it.ID] = struct{}{}
		}
		return nil
	case runStarted, toolCallStarted:
		if it.Status != Redeemed || it.started || eventOf(it.Kind, "started") != e.Type {
			return badEvent("starts what was not redeemed")
		}
		it.started = true
		return nil
	case toolCallResult:
		return st.result(e, it, r)
	}
	return badEvent("has an unknown type")
}

func (st *state) propose(e Event) error {
	sub := e.subject()
	switch {
	case e.Type != eventOf(sub.Kind, "proposed"):
		return badEvent("is not of its item's kind")
	case e.Verdict != Allow && e.Verdict != Ask && e.Verdict != Forbid:
		return badEvent("has no verdict of the policy")
	}
	if it := st.items[e.Item]; it != nil { // it passed before, and now a person is asked
		if it.Status != Approved || it.Action != "" || it.Digest != e.Digest {
			return badEvent("proposes an item again that a person has answered, or another one")
		}
		it.Status, it.Decided, it.By, it.Reason, it.Final = Pending, time.Time{}, "", "", ""
		it.ask(e)
		return nil
	}
	r := st.runs[sub.Run]
	switch {
	case e.Item != itemID(e.Seq):
		return badEvent("has an item ID that is not its own")
	case st.gone[sub.Run] != noRun || !st.may(r, sub.Kind):
		return badEvent("does not fit its run")
	case r != nil && (r.Thread != sub.Thread || r.calls[sub.Call] != ""):
		return badEvent("does not fit its run")
	}
	if r == nil {
		r = &run{
			Run:   Run{ID: sub.Run, Thread: sub.Thread, Phase: running, Staged: e.At},
			calls: make(map[string]string), denials: make(denials),
			open: make(map[string]struct{}), busy: make(map[string]struct{}),
		}
		if sub.Kind == Context {
			r.Phase = staged
		}
		st.runs[sub.Run] = r
	}
	it := &item{Item: Item{ID: e.Item, Seq: e.Seq, Subject: sub, Digest: e.Digest, Status: Pending, Proposed: e.At}}
	it.ask(e)
	st.items[e.Item] = it
	r.items = append(r.items, e.Item)
	r.open[e.Item] = struct{}{}
	st.open++
	if sub.Kind == Tool {
		r.calls[sub.Call] = e.Item
	}
	return nil
}

// ask lets a pending item wait for its first approver.
func (it *item) ask(e Event) {
	it.Verdict, it.Rule, it.Expires, it.asked = e.Verdict, e.Rule, e.Expires, e.At
	it.Approver, it.Escalate = "", e.Escalate
}

// itemID names the item that a line proposed.
func itemID(seq uint64) string { return "i" + strconv.FormatUint(seq, 10) }

func (st *state) approve(e Event, it *item) error {
	if it.Status != Pending || e.Type != eventOf(it.Kind, "approved") {
		return badEvent("approves an item that is not pending, or of another kind")
	}
	final, err := e.approvedBody(it.Item)
	switch {
	case err != nil:
		return err
	case e.Action == "" && e.By != ByPolicy && e.By != ByUnaudited,
		e.Action != "" && e.Action != Approve && e.Action != Edit,
		e.Action != "" && checkBy(e.By) != nil,
		e.Action != Edit && e.Digest != it.Digest:
		return badEvent("is not decided by anybody who could")
	}
	it.Status, it.Expires, it.Escalate, it.Final = Approved, e.Expires, "", e.Digest
	it.decide(e)
	if e.Action == Edit {
		it.Edited = final
	}
	return nil
}

// decide notes who decided an item, and why.
func (it *item) decide(e Event) {
	it.Decided, it.Action, it.By, it.Reason = e.At, e.Action, e.By, e.Reason
	if e.Rule != "" {
		it.Rule = e.Rule
	}
}

func (st *state) deny(e Event, it *item, r *run) error {
	byPolicy := e.Action == "" && e.By == ByPolicy && it.Status.open()
	byPerson := (e.Action == Deny || e.Action == Stop) && it.Status == Pending && checkBy(e.By) == nil
	if e.Type != eventOf(it.Kind, "denied") || !byPolicy && !byPerson {
		return badEvent("denies an item that cannot be denied any more, or of another kind")
	}
	it.decide(e)
	st.close(it, r, Denied, e)
	return nil
}

// noLongerOpen takes an item from those that are open.
func (st *state) noLongerOpen(it *item, r *run) {
	delete(r.open, it.ID)
	st.open--
}

// close ends an open item that did not pass, and counts it.
func (st *state) close(it *item, r *run, s Status, e Event) {
	it.Status, it.Decided, it.Expires, it.Escalate = s, e.At, time.Time{}, ""
	if s == Expired { // nobody decided, also if it was approved and not used
		it.Action, it.By, it.Reason = "", "", e.Reason
	}
	st.noLongerOpen(it, r)
	if it.Kind == Context {
		st.end(r, Refused, e.Reason, e.At)
		return
	}
	r.denials[likeness(it.Subject)]++
}

func (st *state) result(e Event, it *item, r *run) error {
	if it.Kind != Tool || e.Result == nil {
		return badEvent("has no result of a tool")
	}
	switch {
	case e.Action == Respond && it.Status == Pending && checkBy(e.By) == nil:
		it.Status, it.Expires, it.Escalate = Answered, time.Time{}, ""
		it.decide(e)
		st.noLongerOpen(it, r)
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
		it.Status, it.Expires, it.Escalate, it.Reason = Withdrawn, time.Time{}, "", reason
		if it.Decided.IsZero() {
			it.Decided = at
		}
	}
	st.open -= len(r.open)
	clear(r.open)
	st.ended, st.kept = append(st.ended, r.ID), st.kept+r.bytes
}

// forget drops the runs that ended first, except those with a call that executes, and the one that ended last.
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
		st.gone[r.ID] = r.Phase
		st.ended = slices.Delete(st.ended, i, i+1)
	}
}

// list returns the open or the executing items of all runs that ok accepts, oldest first.
func (st *state) list(of func(*run) map[string]struct{}, ok func(*item) bool) []*item {
	var list []*item
	for _, r := range st.runs {
		for id := range of(r) {
			if it := st.items[id]; ok(it) {
				list = append(list, it)
			}
		}
	}
	slices.SortFunc(list, func(a, b *item) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

func openOf(r *run) map[string]struct{} { return r.open }
func busyOf(r *run) map[string]struct{} { return r.busy }

// copied returns an item that shares nothing with the session.
func (it *item) copied() Item {
	c := it.Item
	c.Body, c.Edited, c.Result = clone(c.Body), clone(c.Edited), clone(c.Result)
	return c
}
