package hook

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify/plaintext"
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

// traits are what differs between the hosts.
var traits = map[Host]struct {
	product     string
	most        int
	accumulates bool // its message is all that the agent printed since the human spoke
	echoes      bool // a message that a hook sends to the agent comes back to the hook as a prompt
}{
	Claude:  {product: "Claude Code", most: 8},
	Codex:   {product: "Codex"},
	Gemini:  {product: "Gemini CLI", accumulates: true, echoes: true},
	Cursor:  {product: "Cursor", echoes: true},
	Copilot: {product: "Copilot CLI", most: 8, echoes: true},
}

// Hosts returns the hosts, fresh, in their order.
func Hosts() []Host { return []Host{Claude, Codex, Gemini, Cursor, Copilot} }

// Product returns what people call the host: "Claude Code".
func (h Host) Product() string { return cmp.Or(traits[h].product, string(h)) }

// MostContinues returns how often in a row the host lets a hook continue the agent, 0 for as often as it likes.
func (h Host) MostContinues() int { return traits[h].most }

func (h Host) accumulates() bool { return traits[h].accumulates }
func (h Host) echoes() bool      { return traits[h].echoes }

// reply is what a hook writes to standard output. Codex refuses keys that it does not know, so an empty field is left
// out. No host gets "continue" at a pause, where it has another meaning.
type reply struct {
	Decision string `json:"decision,omitempty"`         // "block" continues the agent; Gemini CLI: "deny", else "allow"
	Reason   string `json:"reason,omitempty"`           // goes to the agent
	Note     string `json:"systemMessage,omitempty"`    // is shown to the human, and not to the agent
	Message  string `json:"followup_message,omitempty"` // Cursor: goes to the agent as the human's next message
	Continue bool   `json:"continue,omitempty"`         // Cursor: the human's prompt may go ahead
}

// reply returns what continues the agent with a message, or lets it stop with a note if there is none.
func (h Host) reply(message, note string) reply {
	switch {
	case h == Cursor:
		return reply{Message: message}
	case h == Gemini && message != "":
		return reply{Decision: "deny", Reason: message}
	case h == Gemini:
		return reply{Decision: "allow", Note: note}
	case message != "":
		return reply{Decision: "block", Reason: message}
	case h == Copilot: // it would show no note
		return reply{}
	}
	return reply{Note: note}
}

// Pass returns the answer with which the host goes on, whatever the event was: for an event that nobody could read. A
// host may stop the human's prompt when it gets no answer, or one of another form.
func (h Host) Pass() []byte {
	if h == Cursor {
		return encode(reply{Continue: true})
	}
	return encode(h.reply("", ""))
}

// answer returns what to write to standard output: one line of JSON, or nothing. Note and notice are for the human.
func (e event) answer(d autocontinue.Decision, notice string) []byte {
	switch {
	case e.kind != stopped && e.kind != subagentStopped && e.host != Cursor:
		return nil // the host reads none, or would show it to the agent
	case e.kind != stopped && e.kind != subagentStopped:
		return encode(reply{Continue: e.kind == prompted})
	case d.Action == autocontinue.Continue && !plaintext.IsBlank(d.Message):
		return encode(e.host.reply(d.Message, ""))
	}
	return encode(e.host.reply("", strings.Trim(e.note(d)+"\n"+notice, "\n")))
}

// note returns what the human reads about the end of a loop, "" if there was none or the agent's own words say it.
// With two hooks of one pause, the first tells it.
func (e event) note(d autocontinue.Decision) string {
	checked := d.Verified != "" || d.Goal != "" && d.Reason == "completion" // and what was not
	looped := d.Continues > 0 || e.active() || d.Goal != ""
	ends := []autocontinue.Reason{"repeat", "cap", "crash_guard", "low_confidence", "superseded", "hold"}
	if d.Note == "" || d.Replayed || !checked && !(looped && slices.Contains(ends, d.Reason)) {
		return ""
	}
	return "sidecoach: " + d.Note
}

func encode(r reply) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		panic(err) // texts
	}
	return []byte(b.String())
}
