package gate

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

var firstPrev = strings.Repeat("0", 2*sha256.Size) // Prev of the first line

// encode writes an event as its line and sets its Sum: the hash of the line up to the field that holds the hash.
func encode(e *Event) []byte {
	e.Sum = ""
	data := marshal(e)
	line := data[:len(data)-len("\"}\n")]
	hashed := append([]byte("sidecoach gate line 1\n"), line[:len(line)-len(`"sum":"`)]...)
	e.Sum = fmt.Sprintf("%x", sha256.Sum256(hashed))
	return append(append(line, e.Sum...), "\"}\n"...)
}

// decode reads a line, with its newline. seq and prev are the number and the hash of the line before.
func decode(line []byte, seq uint64, prev string) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return e, fmt.Errorf("it is not an event: %w", err)
	}
	again := e
	switch {
	case !bytes.Equal(encode(&again), line):
		return e, errors.New("its hash does not match its contents: it was changed")
	case e.Seq != seq+1:
		return e, fmt.Errorf("its number is %d instead of %d: a line is missing or was moved", e.Seq, seq+1)
	case e.Prev != prev:
		return e, errors.New("it does not follow the line before it: that line was changed or exchanged")
	}
	return e, nil
}

func (s *Session) replay(journal io.Reader) error {
	in := bufio.NewReader(journal)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF { // text after the last newline was not written completely, and nobody was told of it
			return nil
		}
		var e Event
		if err == nil {
			e, err = decode(line, s.st.seq, s.st.sum)
		}
		if err == nil {
			e.size = len(line)
			err = s.st.apply(e)
		}
		if err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrJournal, s.st.seq+1, err)
		}
	}
}

// The types of events that code names; eventTypes has the others. An operation makes at most three events, and Expire
// at most two for each item that is due.
const (
	toolCallResult = "TOOL_CALL_RESULT" // of the tool or, with action respond, of a person
	runFinished    = "RUN_FINISHED"
	itemEscalated  = "ITEM_ESCALATED"
	itemExpired    = "ITEM_EXPIRED"
	itemRedeemed   = "ITEM_REDEEMED"
	policyChanged  = "POLICY_CHANGED"
	auditChanged   = "AUDIT_CHANGED"
)

// eventTypes names the event that gives a status to an item of a kind. The empty status is for what starts.
var eventTypes = map[Kind]map[Status]string{
	Context: {Pending: "RUN_STAGED", Approved: "RUN_STAGE_APPROVED", Denied: "RUN_STAGE_DENIED",
		Expired: itemExpired, Redeemed: itemRedeemed, "": "RUN_STARTED"},
	Tool: {Pending: "TOOL_CALL_PROPOSED", Approved: "TOOL_CALL_APPROVED", Denied: "TOOL_CALL_DENIED",
		Expired: itemExpired, Redeemed: itemRedeemed, Done: toolCallResult, "": "TOOL_CALL_STARTED"},
	Response: {Pending: "ASSISTANT_DRAFT_PROPOSED", Approved: "ASSISTANT_FINAL_APPROVED",
		Denied: "ASSISTANT_FINAL_DENIED", Expired: itemExpired, Redeemed: itemRedeemed},
}

// Event is one line of the journal. Its type says which fields are set:
//
//	RUN_STAGED, TOOL_CALL_PROPOSED, ASSISTANT_DRAFT_PROPOSED          an item is proposed
//	RUN_STAGE_APPROVED, TOOL_CALL_APPROVED, ASSISTANT_FINAL_APPROVED  an item is approved
//	RUN_STAGE_DENIED, TOOL_CALL_DENIED, ASSISTANT_FINAL_DENIED        an item is denied
//	ITEM_ESCALATED, ITEM_EXPIRED, ITEM_REDEEMED, TOOL_CALL_RESULT     what else becomes of an item
//	RUN_STARTED, TOOL_CALL_STARTED, RUN_FINISHED                      a run or call begins, or a run ends
//	POLICY_CHANGED, AUDIT_CHANGED                                     somebody changed the session
type Event struct {
	Seq  uint64    `json:"seq"`  // 1, 2, 3, … without a gap
	Prev string    `json:"prev"` // Sum of the line before; 64 zeros in the first
	Type string    `json:"type"`
	At   time.Time `json:"at"` // UTC

	Thread string `json:"threadId,omitempty"`
	Run    string `json:"runId,omitempty"`
	Item   string `json:"itemId,omitempty"`
	Kind   Kind   `json:"kind,omitempty"` // every event of an item
	Call   string `json:"toolCallId,omitempty"`
	Tool   string `json:"toolName,omitempty"`
	Label  string `json:"label,omitempty"` // proposals

	Payload      json.RawMessage `json:"payload,omitempty"`      // RUN_STAGED
	PayloadEdits json.RawMessage `json:"payloadEdits,omitempty"` // RUN_STAGE_APPROVED after an edit: the new payload
	Args         json.RawMessage `json:"args,omitempty"`         // TOOL_CALL_PROPOSED
	ArgsOverride json.RawMessage `json:"argsOverride,omitempty"` // TOOL_CALL_APPROVED after an edit: the new arguments
	Result       json.RawMessage `json:"result,omitempty"`       // TOOL_CALL_RESULT
	DraftText    *string         `json:"draftText,omitempty"`    // ASSISTANT_DRAFT_PROPOSED
	DraftA2UI    json.RawMessage `json:"draftA2ui,omitempty"`
	FinalText    *string         `json:"finalText,omitempty"` // ASSISTANT_FINAL_APPROVED
	FinalA2UI    json.RawMessage `json:"finalA2ui,omitempty"`

	Digest   string    `json:"digest,omitempty"`   // proposals: of the subject; approvals: of what was approved
	Verdict  string    `json:"verdict,omitempty"`  // proposals: of the policy
	Rule     string    `json:"rule,omitempty"`     // proposals, and what the policy decided
	Action   Action    `json:"action,omitempty"`   // of a person
	Expires  time.Time `json:"expires,omitzero"`   // proposals, approvals and ITEM_ESCALATED
	Escalate string    `json:"escalate,omitempty"` // proposals: who is asked when the time is over
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Phase    Phase     `json:"phase,omitempty"`   // RUN_FINISHED: finished or denied
	Audited  *bool     `json:"audited,omitempty"` // AUDIT_CHANGED
	Policy   *Policy   `json:"policy,omitempty"`  // POLICY_CHANGED
	Changes  []string  `json:"changes,omitempty"` // what changed, from what to what, for people

	Sum string `json:"sum"` // SHA-256 of the line up to this field, hexadecimal

	size int // of the line
}

// Status returns the status that the event gives to its item. It is empty for events that give none.
func (e Event) Status() Status {
	for status, typ := range eventTypes[e.Kind] {
		if typ == e.Type {
			return status
		}
	}
	if e.Type == itemEscalated {
		return Pending
	}
	return ""
}

func (e Event) clone() Event {
	for _, raw := range []*json.RawMessage{
		&e.Payload, &e.PayloadEdits, &e.Args, &e.ArgsOverride, &e.Result, &e.DraftA2UI, &e.FinalA2UI,
	} {
		*raw = slices.Clone(*raw)
	}
	return e
}

// body returns the fields that have the body of an item: as proposed, or what replaces it. Only a response has text.
func (e *Event) body(final bool) (text **string, body *json.RawMessage) {
	i := map[bool]int{false: 0, true: 1}[final]
	switch e.Kind {
	case Context:
		return nil, []*json.RawMessage{&e.Payload, &e.PayloadEdits}[i]
	case Tool:
		return nil, []*json.RawMessage{&e.Args, &e.ArgsOverride}[i]
	}
	return []**string{&e.DraftText, &e.FinalText}[i], []*json.RawMessage{&e.DraftA2UI, &e.FinalA2UI}[i]
}

func (e *Event) setBody(final bool, body json.RawMessage) {
	text, rest := e.body(final)
	if text == nil {
		*rest = body
		return
	}
	words, a2ui := splitResponse(body)
	*text, *rest = &words, a2ui
}

// getBody returns nil if the event has no such body.
func (e *Event) getBody(final bool) json.RawMessage {
	text, rest := e.body(final)
	if text == nil {
		return *rest
	} else if *text == nil {
		return nil
	}
	return joinResponse(**text, *rest)
}

// event returns the event that gives an item a status, without the details.
func (it *Item) event(status Status) Event {
	return Event{Type: eventTypes[it.Kind][status], Kind: it.Kind, Thread: it.Thread, Run: it.Run, Item: it.ID,
		Call: it.Call, Tool: it.Tool}
}

func ending(thread, run string, p Phase, by, reason string) Event {
	return Event{Type: runFinished, Thread: thread, Run: run, Phase: p, By: by, Reason: reason}
}

// state is what the lines of the journal add up to. Only apply changes it: a replayed session equals the one before.
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
	ended []*run // the kept runs that ended, in that order
	kept  int    // bytes of the lines of ended
}

type run struct {
	Run                               // Phase is staged until the context is redeemed, then running, then how it ended
	bytes   int                       // of its lines
	items   []*Item                   // in the order of their proposals; none of a forgotten run
	denials map[[sha256.Size]byte]int // by requestKey: how often the same was denied
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
		st.update(it, r, e)
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
	sub := Subject{Kind: e.Kind, Thread: e.Thread, Run: e.Run, Call: e.Call, Tool: e.Tool, Label: e.Label,
		Body: e.getBody(false)}
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
	it := &Item{ID: e.Item, Seq: e.Seq, Subject: sub, Digest: e.Digest, Proposed: e.At}
	st.items[e.Item] = it
	r.items = append(r.items, it)
	st.update(it, r, e)
}

// update changes an item, which is in the right status, and its run as an event of it says.
func (st *state) update(it *Item, r *run, e Event) {
	status := e.Status()
	switch {
	case status == "":
		return // it starts
	case e.Type == itemEscalated:
		it.Approver, it.Escalate, it.Expires, it.asked = it.Escalate, "", e.Expires, e.At
		return
	case status == Pending: // it waits for its first approver, perhaps again
		it.Decided, it.By, it.Reason, it.Final = time.Time{}, "", "", ""
		it.Rule, it.Expires, it.asked, it.Approver, it.Escalate = e.Rule, e.Expires, e.At, "", e.Escalate
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
		r.denials[it.requestKey()]++
	}
}

// end ends a run and withdraws its open items. A call that executes may still bring its result.
func (st *state) end(r *run, p Phase, reason string, at time.Time) {
	r.Phase, r.Reason = p, reason
	for _, it := range r.items {
		if it.isOpen() {
			it.Status, it.Expires, it.Escalate, it.Reason = Withdrawn, time.Time{}, "", reason
			it.Decided = cmp.Or(it.Decided, at)
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
		st.kept -= r.bytes
		*r = run{Run: Run{ID: r.ID, Thread: r.Thread, Phase: r.Phase}}
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
