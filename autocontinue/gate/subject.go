package gate

import "encoding/json"

// Kind says which of the three gates a subject stands before.
type Kind string

// The gates, in the order in which a run meets them.
const (
	Context  Kind = "context"  // the payload of a run, before it is sent to the agent
	Tool     Kind = "tool"     // one call of a tool, before it is executed
	Response Kind = "response" // what the agent answers, before it is shown or stored
)

// Subject is what is proposed. Everything but the label is part of the item's digest.
type Subject struct {
	Kind   Kind   `json:"kind"`
	Thread string `json:"thread"` // the conversation; required
	Run    string `json:"run"`    // one execution of the agent, unique in the session; required
	Call   string `json:"call,omitempty"`
	Tool   string `json:"tool,omitempty"` // Call, unique in the run, and Tool are required for a tool and empty otherwise

	// Label is one line for humans, written by the host. It decides nothing.
	Label string `json:"label,omitempty"`

	// Body is one JSON object: the payload of a context, the arguments of a tool, or the text and a2ui of a response (text is
	// a string, a2ui any JSON and may be absent; nothing else). White space between its tokens is removed at the door, and
	// the text of a response is written in one way; keys keep their order and numbers their digits.
	Body json.RawMessage `json:"body"`
}
