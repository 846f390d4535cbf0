package console

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// Config is what a host gives to [New].
type Config struct {
	// Session is what the page shows and decides. Required.
	Session *gate.Session

	// Submit takes a message that the person called by wrote in the chat. The host proposes the context of a run for it.
	// Submit returns when it has the message, not when the agent has answered. The page shows its error to the writer.
	// Submit is called concurrently. nil makes the chat read-only.
	Submit func(ctx context.Context, by, thread, message string) error

	// Path is where the handler is mounted, without a slash at its end. Empty is /coach_audit.
	Path string

	// Hosts are the names, without port, that the console answers to. Empty are localhost and the loopback addresses; then
	// the console answers to this machine only. A host that gives names must serve TLS.
	Hosts []string

	// SignIns is the file that keeps who is signed in, so that a restart signs nobody in or out. Its folder must exist.
	// Empty forgets everybody at the end.
	SignIns string

	// PolicyFile is the file that keeps the rules that people edit on the page. New applies its content, or writes it if
	// it does not exist. Its folder must exist. Empty keeps the rules in the session alone.
	PolicyFile string

	// Tools are the host's tools, for the checkboxes. The page adds tools that a rule names exactly.
	Tools []string

	// Schema returns a JSON Schema of a subject's body, or nil. The page takes from its properties the labels (title),
	// help (description), types (type) and choices (enum) of the fields that a person edits. It checks nothing.
	Schema func(gate.Subject) json.RawMessage

	// Thread is the conversation that the chat begins with. Empty is "main".
	Thread string

	// Message returns who speaks to the agent with a context, and what. The page shows "human" as the human, and any other
	// word as it is. nil reads the strings "from" and "message" of the payload. It is called concurrently.
	Message func(payload json.RawMessage) (from, text string)

	// Now is the clock. nil is time.Now.
	Now func() time.Time
}

// plainMessage is Config.Message by default.
func plainMessage(payload json.RawMessage) (from, text string) {
	var p struct {
		From    string `json:"from"`
		Message string `json:"message"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return "human", ""
	}
	return cmp.Or(p.From, "human"), p.Message
}
