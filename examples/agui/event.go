package agui

import (
	"encoding/json"
	"time"
)

// Event is one event of the protocol: its Type and the fields of that type, with the names of the protocol.
type Event struct {
	Type      string `json:"type"`
	Timestamp int64  `json:"timestamp,omitempty"` // milliseconds since 1970

	ThreadID string   `json:"threadId,omitempty"` // RUN_STARTED, RUN_FINISHED
	RunID    string   `json:"runId,omitempty"`
	Outcome  *Outcome `json:"outcome,omitempty"` // RUN_FINISHED

	Message string `json:"message,omitempty"` // RUN_ERROR
	Code    string `json:"code,omitempty"`

	MessageID string `json:"messageId,omitempty"` // TEXT_MESSAGE_…, TOOL_CALL_RESULT
	Role      string `json:"role,omitempty"`
	Delta     string `json:"delta,omitempty"` // TEXT_MESSAGE_CONTENT, TOOL_CALL_ARGS; never empty there

	ToolCallID   string  `json:"toolCallId,omitempty"`
	ToolCallName string  `json:"toolCallName,omitempty"`
	Content      *string `json:"content,omitempty"` // TOOL_CALL_RESULT

	Name     string          `json:"name,omitempty"`     // CUSTOM
	Value    json.RawMessage `json:"value,omitempty"`    // CUSTOM
	Snapshot *State          `json:"snapshot,omitempty"` // STATE_SNAPSHOT
	Messages []Message       `json:"messages,omitzero"`  // MESSAGES_SNAPSHOT
}

// Outcome says how a run of the protocol ended: "success" or "interrupt".
type Outcome struct {
	Type       string          `json:"type"`
	Interrupts []InterruptItem `json:"interrupts,omitempty"`
}

// InterruptItem is one thing that waits for a human.
type InterruptItem struct {
	ID             string          `json:"id"`     // the item's
	Reason         string          `json:"reason"` // tool_call, sidecoach:context, sidecoach:response
	Message        string          `json:"message,omitempty"`
	ToolCallID     string          `json:"toolCallId,omitempty"`
	ResponseSchema json.RawMessage `json:"responseSchema"`
	ExpiresAt      *time.Time      `json:"expiresAt,omitempty"`
	Metadata       Metadata        `json:"metadata"`
}

// Metadata is what an interrupt has beside the fields of the protocol.
type Metadata struct {
	Sidecoach Proposal `json:"sidecoach"`
}

// Proposal is what would be approved.
type Proposal struct {
	Digest string          `json:"digest"` // the answer must repeat it
	Rule   string          `json:"rule,omitempty"`
	Body   json.RawMessage `json:"body"` // exactly: the payload, the arguments, the response
}

// State is the state of a run at an interrupt.
type State struct {
	Run   string `json:"run"` // the session's
	Phase string `json:"phase"`
}

// Message is one message of the conversation so far.
type Message struct {
	ID         string     `json:"id"`
	Role       string     `json:"role"` // user, assistant, tool
	Content    string     `json:"content,omitempty"`
	ToolCallID string     `json:"toolCallId,omitempty"`
	ToolCalls  []ToolCall `json:"toolCalls,omitempty"`
}

// ToolCall is a call within an assistant's message.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"` // function
	Function Function `json:"function"`
}

// Function is what a ToolCall calls.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON
}
