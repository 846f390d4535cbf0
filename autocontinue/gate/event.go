package gate

import (
	"encoding/json"
	"time"
)

// EventType names what happened.
type EventType string

// The events. Each is one line of the journal; an operation of a [Session] makes one or two, at most.
const (
	RunStaged              EventType = "RUN_STAGED"
	RunStageApproved       EventType = "RUN_STAGE_APPROVED"
	RunStageDenied         EventType = "RUN_STAGE_DENIED" // ends the run
	RunStarted             EventType = "RUN_STARTED"
	ToolCallProposed       EventType = "TOOL_CALL_PROPOSED"
	ToolCallApproved       EventType = "TOOL_CALL_APPROVED"
	ToolCallDenied         EventType = "TOOL_CALL_DENIED"
	ToolCallStarted        EventType = "TOOL_CALL_STARTED"
	ToolCallResult         EventType = "TOOL_CALL_RESULT" // of the tool, or with action respond a human's stand-in
	AssistantDraftProposed EventType = "ASSISTANT_DRAFT_PROPOSED"
	AssistantFinalApproved EventType = "ASSISTANT_FINAL_APPROVED"
	AssistantFinalDenied   EventType = "ASSISTANT_FINAL_DENIED"
	RunFinished            EventType = "RUN_FINISHED" // phase says how: finished or denied
	ItemExpired            EventType = "ITEM_EXPIRED"
	ItemRedeemed           EventType = "ITEM_REDEEMED"
	PolicyChanged          EventType = "POLICY_CHANGED"
	AuditChanged           EventType = "AUDIT_CHANGED"
)

// Event is one line of the journal. Which fields are set depends on the type; the field's comment says where it is.
type Event struct {
	Seq  uint64    `json:"seq"`  // 1, 2, 3, … without a gap
	Prev string    `json:"prev"` // hash of the line before: its Sum; 64 zeros in the first
	Type EventType `json:"type"`
	At   time.Time `json:"at"` // UTC

	Thread string `json:"threadId,omitempty"`
	Run    string `json:"runId,omitempty"`
	Item   string `json:"itemId,omitempty"`
	Kind   Kind   `json:"kind,omitempty"` // every event of an item
	Call   string `json:"toolCallId,omitempty"`
	Tool   string `json:"toolName,omitempty"`
	Label  string `json:"label,omitempty"` // proposals

	Payload      json.RawMessage `json:"payload,omitempty"`      // RUN_STAGED
	PayloadEdits json.RawMessage `json:"payloadEdits,omitempty"` // RUN_STAGE_APPROVED after an edit: the whole new payload
	Args         json.RawMessage `json:"args,omitempty"`         // TOOL_CALL_PROPOSED
	ArgsOverride json.RawMessage `json:"argsOverride,omitempty"` // TOOL_CALL_APPROVED after an edit: the whole new arguments
	Result       json.RawMessage `json:"result,omitempty"`       // TOOL_CALL_RESULT
	DraftText    *string         `json:"draftText,omitempty"`    // ASSISTANT_DRAFT_PROPOSED
	DraftA2UI    json.RawMessage `json:"draftA2ui,omitempty"`
	FinalText    *string         `json:"finalText,omitempty"` // ASSISTANT_FINAL_APPROVED
	FinalA2UI    json.RawMessage `json:"finalA2ui,omitempty"`

	Digest  string    `json:"digest,omitempty"`  // proposals: of the subject; approvals: of what was approved
	Verdict Then      `json:"verdict,omitempty"` // proposals: what the policy said
	Rule    string    `json:"rule,omitempty"`    // proposals, and denials by the policy
	Action  Action    `json:"action,omitempty"`  // a human's
	Expires time.Time `json:"expires,omitzero"`  // proposals and approvals
	By      string    `json:"by,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Phase   Phase     `json:"phase,omitempty"`   // RUN_FINISHED: finished or denied
	Audited *bool     `json:"audited,omitempty"` // AUDIT_CHANGED
	Policy  *Policy   `json:"policy,omitempty"`  // POLICY_CHANGED

	Sum string `json:"sum"` // SHA-256 of the line up to this field, hexadecimal
}
