package console

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// DefaultPath is where a console is mounted when its Config names no other place.
const DefaultPath = "/coach_audit"

// Config is what a host gives to [New].
type Config struct {
	// Session is what the page shows and decides. Required.
	Session *gate.Session

	// Submit hands a message that a human wrote in the chat to the host, which stages a run for it; [Auditor] tells who
	// wrote it. It returns when the message is taken, not when it is answered, and its error is shown to the writer. It is
	// called concurrently. nil makes the chat read-only.
	Submit func(ctx context.Context, thread, message string) error

	// Path is where the handler is mounted, without a slash at its end. Empty is DefaultPath.
	Path string

	// Hosts are the names, without port, under which the console may be asked for. Empty are localhost and the loopback
	// addresses, and then whoever asks must be on this machine too. With names it is the host's part to serve TLS.
	Hosts []string

	// Secret signs the cookies: at least 32 bytes that nobody else knows. The same secret after a restart keeps everybody
	// signed in. nil is a random one.
	Secret []byte

	// PolicyFile keeps the rules that are edited on the page; New applies what it holds, and writes it when it is not
	// there. Its folder must exist. Empty keeps the rules in the session alone.
	PolicyFile string

	// Tools are those of the host, for the checkboxes. Tools that a rule names exactly are added.
	Tools []string

	// Thread is the conversation that the chat begins with. Empty is "main".
	Thread string

	// Message says who speaks to the agent with a context, and what: the speaker is "human", or any other word to show
	// instead. nil reads the strings "from" and "message" of the payload. It is called concurrently.
	Message func(payload json.RawMessage) (from, text string)

	// Now is the clock. nil is time.Now.
	Now func() time.Time
}

type auditorKey struct{}

// Auditor returns the name of the human on whose behalf Config.Submit was called. It is empty elsewhere.
func Auditor(ctx context.Context) string {
	name, _ := ctx.Value(auditorKey{}).(string)
	return name
}

// plainMessage is what Config.Message is by default.
func plainMessage(payload json.RawMessage) (from, text string) {
	var p struct {
		From    string `json:"from"`
		Message string `json:"message"`
	}
	if json.Unmarshal(payload, &p) != nil || p.Message == "" {
		return "human", ""
	}
	if p.From == "" {
		p.From = "human"
	}
	return p.From, p.Message
}
