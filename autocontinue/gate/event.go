package gate

import (
	"bytes"
	"encoding/json"
	"time"
)

// EventType names what happened.
type EventType string

// The events. Each is one line of the journal. An operation of a [Session] makes from none to three of them, and Expire as many
// as expire.
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
	Rule    string    `json:"rule,omitempty"`    // proposals, and what the policy decided
	Action  Action    `json:"action,omitempty"`  // a human's
	Expires time.Time `json:"expires,omitzero"`  // proposals and approvals
	By      string    `json:"by,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Phase   Phase     `json:"phase,omitempty"`   // RUN_FINISHED: finished or denied
	Audited *bool     `json:"audited,omitempty"` // AUDIT_CHANGED
	Policy  *Policy   `json:"policy,omitempty"`  // POLICY_CHANGED

	Sum string `json:"sum"` // SHA-256 of the line up to this field, hexadecimal
}

// clone returns an event that shares nothing with e.
func (e Event) clone() Event {
	for _, raw := range []*json.RawMessage{&e.Payload, &e.PayloadEdits, &e.Args, &e.ArgsOverride, &e.Result, &e.DraftA2UI, &e.FinalA2UI} {
		*raw = clone(*raw)
	}
	dup := func(s **string) {
		if *s != nil {
			text := **s
			*s = &text
		}
	}
	dup(&e.DraftText)
	dup(&e.FinalText)
	if e.Audited != nil {
		on := *e.Audited
		e.Audited = &on
	}
	if e.Policy != nil {
		p := *e.Policy
		e.Policy = &p
	}
	return e
}

// proposal returns the event that proposes a subject.
func proposal(sub Subject, dig string, v Verdict) Event {
	e := Event{
		Type: eventOf(sub.Kind, "proposed"), Kind: sub.Kind, Thread: sub.Thread, Run: sub.Run, Call: sub.Call, Tool: sub.Tool,
		Label: sub.Label, Digest: dig, Verdict: v.Then, Rule: v.Rule,
	}
	switch sub.Kind {
	case Context:
		e.Payload = sub.Body
	case Tool:
		e.Args = sub.Body
	case Response:
		text, a2ui := parts(sub.Body)
		e.DraftText, e.DraftA2UI = &text, a2ui
	}
	return e
}

// subject returns what a proposal proposes.
func (e Event) subject() (Subject, error) {
	sub := Subject{Kind: e.Kind, Thread: e.Thread, Run: e.Run, Call: e.Call, Tool: e.Tool, Label: e.Label}
	switch e.Kind {
	case Context:
		sub.Body = e.Payload
	case Tool:
		sub.Body = e.Args
	case Response:
		if e.DraftText != nil {
			sub.Body = response(*e.DraftText, e.DraftA2UI)
		}
	}
	if err := sub.check(); err != nil {
		return Subject{}, err
	}
	return sub, kept(e.Kind, sub.Body)
}

// kept refuses a body that no session would have kept so.
func kept(k Kind, body json.RawMessage) error {
	read, err := readBody(k, body)
	if err == nil && !bytes.Equal(read, body) {
		err = badEvent("has a body that is not written as bodies are")
	}
	return err
}

// about returns an event about an item, without what happened.
func about(it Item, t EventType) Event {
	return Event{Type: t, Kind: it.Kind, Thread: it.Thread, Run: it.Run, Item: it.ID, Call: it.Call, Tool: it.Tool}
}

// approval returns the event that approves an item; edited is nil or the body that replaces its own.
func approval(it Item, edited json.RawMessage) Event {
	e := about(it, eventOf(it.Kind, "approved"))
	final := it.Subject
	if edited != nil {
		final.Body = edited
	}
	e.Digest = digest(final)
	switch it.Kind {
	case Context:
		e.PayloadEdits = edited
	case Tool:
		e.ArgsOverride = edited
	case Response:
		text, a2ui := parts(final.Body)
		e.FinalText, e.FinalA2UI = &text, a2ui
	}
	return e
}

// final returns the body that an approval approves.
func (e Event) final(it Item) (json.RawMessage, error) {
	var edited json.RawMessage
	switch it.Kind {
	case Context:
		edited = e.PayloadEdits
	case Tool:
		edited = e.ArgsOverride
	case Response:
		if e.FinalText == nil {
			return nil, badEvent("approves a response without its text")
		}
		edited = response(*e.FinalText, e.FinalA2UI)
	}
	if (edited != nil) != (e.Action == Edit) && it.Kind != Response {
		return nil, badEvent("holds an edit that nobody made, or none")
	}
	if edited == nil {
		return it.Body, nil
	}
	return edited, kept(it.Kind, edited)
}
