package hook

import (
	"errors"
	"fmt"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// Host names a program that runs agents and calls hooks.
type Host string

// The hosts.
const (
	Claude  Host = "claude"  // Claude Code
	Codex   Host = "codex"   // Codex CLI
	Gemini  Host = "gemini"  // Gemini CLI
	Cursor  Host = "cursor"  // Cursor
	Copilot Host = "copilot" // GitHub Copilot CLI
)

// Hosts returns the hosts, fresh, in their order.
func Hosts() []Host { return []Host{Claude, Codex, Gemini, Cursor, Copilot} }

// ErrPayload is wrapped by the errors of [Host.Read].
var ErrPayload = errors.New("no event of this host")

// MaxPayload is how many bytes of a payload are read. One that is longer is an error.
const MaxPayload = 64 << 20

// dialect is how one host speaks. An implementation has no state.
type dialect interface {
	// read fills e from a payload's fields. Host is set.
	read(o object, e *Event) error
	// carryOn and letStop are the answers to a pause. Note is shown to the human, and not to the agent; it may be empty.
	carryOn(message string) any
	letStop(note string) any
}

// passer is a dialect whose host wants an answer to what is no pause, too.
type passer interface{ pass(e Event) any }

func (h Host) dialect() dialect {
	switch h {
	case Claude:
		return claude{}
	case Codex:
		return codex{}
	case Gemini:
		return gemini{}
	case Cursor:
		return cursor{}
	case Copilot:
		return copilot{}
	}
	return nil
}

// Product returns what people call the host: "Claude Code".
func (h Host) Product() string {
	switch h {
	case Claude:
		return "Claude Code"
	case Codex:
		return "Codex"
	case Gemini:
		return "Gemini CLI"
	case Cursor:
		return "Cursor"
	case Copilot:
		return "Copilot CLI"
	}
	return string(h)
}

// Pass returns the answer with which the host goes on, whatever the event was: for an event that cannot be read. Cursor may
// stop the human's prompt when it gets no answer.
func (h Host) Pass() []byte {
	switch h {
	case Cursor:
		return encode(goAhead{true})
	case Gemini:
		return encode(ruling{Decision: "allow"})
	}
	return encode(struct{}{})
}

// Read makes an event of what the host wrote to the hook's standard input or, for Codex's notify, gave as its last argument.
// A byte order mark is skipped, of a key that is there twice the last one counts, and bytes that are no UTF-8 become
// U+FFFD, as in the hosts themselves. Every error wraps [ErrPayload] and holds nothing of the payload but names of keys.
func (h Host) Read(payload []byte) (Event, error) {
	d := h.dialect()
	if d == nil {
		return Event{}, fmt.Errorf("hook: %q: %w: the hosts are %v", string(h), ErrPayload, Hosts())
	}
	e := Event{Host: h}
	o, err := readObject(payload)
	if err == nil {
		err = d.read(o, &e)
	}
	if err == nil && e.Session == "" {
		err = errors.New("it names no session")
	}
	if err != nil {
		return Event{}, fmt.Errorf("hook: %s: %w: %w", h, ErrPayload, err)
	}
	return e, nil
}

// Accumulates reports whether the host's message is all that the agent printed since the human spoke, and not only what it printed last.
func (h Host) Accumulates() bool { return h == Gemini }

// Echoes reports whether what a hook sends to the agent comes back as a prompt.
func (h Host) Echoes() bool { return h == Gemini || h == Cursor || h == Copilot }

// Answer returns what to write to standard output: one line of JSON that the host understands, and nothing where it reads
// nothing or would show it to the agent; of Cursor, which takes nothing for a fault, there is an answer to every event. A decision that is no Continue, the zero one among them, lets the agent stop. Where
// that ends a loop, which the human would not see else, the decision's note is in the answer, for the host to show: when the
// turn was continued, and then stalled, reached the cap, broke, was not clear enough, was superseded or is held.
func (e Event) Answer(d autocontinue.Decision) []byte {
	h := e.Host.dialect()
	if h == nil {
		return nil
	}
	if e.Kind != Stop && e.Kind != SubagentStop {
		if p, ok := h.(passer); ok {
			return encode(p.pass(e))
		}
		return nil
	}
	if d.Action == autocontinue.Continue && !blank(d.Message) {
		return encode(h.carryOn(d.Message))
	}
	return encode(h.letStop(e.note(d)))
}

// note returns what the human is told about the end of a loop, "" when there was none or the agent's own words say it. Of two
// hooks of one pause the first tells it.
func (e Event) note(d autocontinue.Decision) string {
	if d.Continues == 0 && !e.active() || d.Replayed || d.Note == "" {
		return ""
	}
	switch d.Reason {
	case autocontinue.ReasonRepeat, autocontinue.ReasonCap, autocontinue.ReasonCrashGuard, autocontinue.ReasonLowConfidence,
		autocontinue.ReasonSuperseded, autocontinue.ReasonHold:
		return "sidecoach: " + d.Note
	}
	return ""
}
