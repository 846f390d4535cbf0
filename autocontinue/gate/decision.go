package gate

import (
	"encoding/json"
	"time"
)

// Action is what a human decides about an item.
type Action string

// The actions. Approve, Edit and Deny are for every kind.
const (
	Approve Action = "approve" // it may go on as it is
	Edit    Action = "edit"    // it may go on with Decision.Body in place of its own
	Deny    Action = "deny"    // it may not go on; the run does, and can read Decision.Reason (a denied context ends its run)
	Respond Action = "respond" // tool only: it is not executed, Decision.Body is its result
	Stop    Action = "stop"    // it may not go on and its run ends; everything else of the run that is open is withdrawn
)

// Decision is one answer to one item.
type Decision struct {
	Item   string          `json:"item"`
	Digest string          `json:"digest"` // Item.Digest as the human saw it; another one is [ErrStale]
	Action Action          `json:"action"`
	By     string          `json:"by"`               // who decided, from the host's own authentication; required
	Reason string          `json:"reason,omitempty"` // with deny and stop the model may read it; when it is blank, Item.Reason says that none was given
	Body   json.RawMessage `json:"body,omitempty"`   // edit: the new body; respond: the result, any JSON; otherwise empty
}

// Status is where an item stands.
type Status string

// The statuses. Only Pending waits for a human and only Approved can be redeemed.
const (
	Pending   Status = "pending"
	Approved  Status = "approved"  // by a human, the policy, or because the session is not audited; not yet redeemed
	Denied    Status = "denied"    // by a human or the policy
	Expired   Status = "expired"   // nobody answered, or nobody redeemed, in time; counts as denied and is nobody's decision
	Answered  Status = "answered"  // a human gave the result in place of the tool
	Redeemed  Status = "redeemed"  // handed out: a tool executes, a run was started, a response was shown
	Done      Status = "done"      // a tool returned its result
	Withdrawn Status = "withdrawn" // its run ended before it was answered or redeemed
)

// Item is one proposal and what became of it. An Item is a copy: changing it changes nothing.
type Item struct {
	ID      string `json:"id"` // of letters and digits, unique in the session's journal
	Subject        // as proposed; an edit does not change it
	Digest  string `json:"digest"` // of the subject as proposed, hexadecimal
	Status  Status `json:"status"`
	Rule    string `json:"rule"`              // why the policy asked, allowed or denied, for humans
	Verdict Then   `json:"verdict,omitempty"` // what the policy said when it was proposed

	Proposed time.Time `json:"proposed"`
	Expires  time.Time `json:"expires,omitzero"` // when a pending or approved item expires; zero is never
	Decided  time.Time `json:"decided,omitzero"` // when it left Pending

	Action Action          `json:"action,omitempty"` // the human's; empty when the policy decided, or nobody
	By     string          `json:"by,omitempty"`     // a human, or ByPolicy or ByUnaudited; empty for an expired item
	Reason string          `json:"reason,omitempty"`
	Edited json.RawMessage `json:"edited,omitempty"` // the body that replaces the proposed one
	Final  string          `json:"final,omitempty"`  // digest of what was approved: Digest, or that of the edited subject
	Result json.RawMessage `json:"result,omitempty"` // of a tool: what it returned, or the stand-in
}

// ApprovedBody returns the body that is handed out once the item is approved: the edited one, or the proposed one.
func (i Item) ApprovedBody() json.RawMessage {
	if i.Edited != nil {
		return i.Edited
	}
	return i.Body
}

// Names that stand in Item.By and Event.By where no human decided. No human can have them.
const (
	ByPolicy    = "policy"
	ByUnaudited = "unaudited"
)

// Grant is the right to do, once, what was approved.
type Grant struct {
	Item    string // its ID
	Digest  string // of Subject
	Subject        // with the approved body, byte for byte
	Edited  bool   // the body is a human's and not the proposed one
	By      string // who approved
}

// Phase is where a run stands.
type Phase string

// The phases. NoRun is a run that the session does not know. Finished and Refused do not end.
const (
	NoRun            Phase = ""
	Staged           Phase = "staged"            // its context is pending, or approved and not yet redeemed
	Running          Phase = "running"           // the agent works; nothing is open
	ToolProposed     Phase = "tool_proposed"     // at least one call is pending, or approved and not yet redeemed
	ToolExecuting    Phase = "tool_executing"    // at least one call executes and none is proposed
	ResponseProposed Phase = "response_proposed" // a response is pending, or approved and not yet redeemed
	Finished         Phase = "finished"          // a response was redeemed, or the host said so
	Refused          Phase = "denied"            // the context was denied or expired, or the run was stopped
)

// Run is one run as the session knows it.
type Run struct {
	ID     string    `json:"id"`
	Thread string    `json:"thread"`
	Phase  Phase     `json:"phase"`
	Staged time.Time `json:"staged"`           // when its context was proposed
	Reason string    `json:"reason,omitempty"` // why it ended
}
