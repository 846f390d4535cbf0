package gate

import (
	"encoding/json"
	"slices"
	"time"
)

// Action is what a person decides about an item.
type Action string

// The actions. Approve, Edit, Deny and Stop are for every kind.
const (
	Approve Action = "approve" // it may go on as it is
	Edit    Action = "edit"    // it may go on with Decision.Body as its body
	Deny    Action = "deny"    // it may not go on; its run goes on and can read Decision.Reason (a denied context ends its run)
	Respond Action = "respond" // for a tool: it is not executed, and Decision.Body is its result
	Stop    Action = "stop"    // it may not go on and its run ends; every other open item of the run is withdrawn
)

// Decision is one answer to one item.
type Decision struct {
	Item   string          `json:"item"`
	Digest string          `json:"digest"` // Item.Digest as the person saw it; another one is [ErrStale]
	Action Action          `json:"action"`
	By     string          `json:"by"`               // who decided, from the host's own authentication; required
	Reason string          `json:"reason,omitempty"` // with deny and stop the model may read it
	Body   json.RawMessage `json:"body,omitempty"`   // edit: the new body; respond: the result, any JSON; otherwise empty
}

// Status says where an item stands.
type Status string

// The statuses. Only a pending item waits for a person. Only an approved item can be redeemed.
const (
	Pending   Status = "pending"
	Approved  Status = "approved"  // by a person, by the policy, or because the session is not audited; not yet redeemed
	Denied    Status = "denied"    // by a person or the policy
	Expired   Status = "expired"   // nobody answered, or nobody redeemed, in time; counts as denied by nobody
	Answered  Status = "answered"  // a person gave the result in place of the tool
	Redeemed  Status = "redeemed"  // handed out: a tool executes, a run was started, a response was shown
	Done      Status = "done"      // a tool returned its result
	Withdrawn Status = "withdrawn" // its run ended before it was answered or redeemed
)

func (s Status) open() bool { return s == Pending || s == Approved }

// Item is one proposal and what became of it. It is a copy: a change of it changes nothing.
type Item struct {
	ID      string `json:"id"`  // letters and digits, unique in the session's journal
	Seq     uint64 `json:"seq"` // of the event that proposed it first: the order of items
	Subject        // as proposed; an edit does not change it
	Digest  string `json:"digest"` // of the subject as proposed, hexadecimal
	Status  Status `json:"status"`
	Rule    string `json:"rule"`              // why the policy asked, allowed or denied, for people
	Verdict Then   `json:"verdict,omitempty"` // of the policy when the item was proposed

	Proposed time.Time `json:"proposed"`
	Expires  time.Time `json:"expires,omitzero"`   // when an open item expires, or escalates; zero is never
	Approver string    `json:"approver,omitempty"` // whom it was escalated to; empty at first
	Escalate string    `json:"escalate,omitempty"` // who is asked when Expires is over; empty: it expires
	Decided  time.Time `json:"decided,omitzero"`   // when it was no longer pending

	Action Action          `json:"action,omitempty"` // of the person; empty when the policy decided, or nobody
	By     string          `json:"by,omitempty"`     // a person, ByPolicy or ByUnaudited; empty for an expired item
	Reason string          `json:"reason,omitempty"`
	Edited json.RawMessage `json:"edited,omitempty"` // the body that replaces the proposed one
	Final  string          `json:"final,omitempty"`  // digest of what was approved
	Result json.RawMessage `json:"result,omitempty"` // of a tool: what it returned, or what a person gave in its place
}

// ApprovedBody returns the body that Redeem hands out: the edited one, or the proposed one.
func (i Item) ApprovedBody() json.RawMessage {
	if i.Edited != nil {
		return i.Edited
	}
	return i.Body
}

// Names in Item.By and Event.By for decisions that no person made. No person can have them.
const (
	ByPolicy    = "policy"
	ByUnaudited = "unaudited"
)

// Grant is the right to do, once, what was approved.
type Grant struct {
	Item    string // its ID
	Digest  string // of Subject
	Subject        // with the approved body, byte for byte
	Edited  bool   // a person wrote the body
	By      string // who approved
}

// Phase says where a run stands. It is one of these:
//
//	""                 the session does not know the run
//	staged             its context is pending, or approved and not yet redeemed
//	running            the agent works; nothing is open
//	tool_proposed      at least one call is pending, or approved and not yet redeemed
//	tool_executing     at least one call executes and none is proposed
//	response_proposed  a response is pending, or approved and not yet redeemed
//	finished           a response was redeemed, or the host said so
//	denied             the context was denied or expired, or the run was stopped
type Phase string

// The phases that never end.
const (
	Finished Phase = "finished"
	Refused  Phase = "denied"
)

const (
	noRun            Phase = ""
	staged           Phase = "staged"
	running          Phase = "running"
	toolProposed     Phase = "tool_proposed"
	toolExecuting    Phase = "tool_executing"
	responseProposed Phase = "response_proposed"
)

// Run is one run as the session knows it.
type Run struct {
	ID     string    `json:"id"`
	Thread string    `json:"thread"`
	Phase  Phase     `json:"phase"`
	Staged time.Time `json:"staged"`           // when its first item was proposed
	Reason string    `json:"reason,omitempty"` // why it ended
}

func clone(raw json.RawMessage) json.RawMessage { return slices.Clone(raw) }
