package hook

import (
	"encoding/json"
	"errors"
	"fmt"
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

// Hosts returns the hosts, fresh, in their order.
func Hosts() []Host { return []Host{Claude, Codex, Gemini, Cursor, Copilot} }

// ErrEvent is wrapped by the errors about an event that cannot be read.
var ErrEvent = errors.New("the event cannot be used")

// MaxEvent is how many bytes an event may have.
const MaxEvent = 64 << 20

// dialect is how one host speaks.
type dialect struct {
	product string
	most    int // how often in a row the host lets a hook continue the agent; 0 is as often as it likes
	read    func(o object, e *event) error
	// resume and rest are the answers to a pause. The host shows note to the human, and not to the agent; it may be
	// empty.
	resume func(message string) any
	rest   func(note string) any
	// pass is the answer to another event, nil where the host reads none or would show it to the agent.
	pass func(k kind) any
	// goOn is the answer with which the host goes on, whatever the event was.
	goOn any

	accumulates bool // its message is all that the agent printed since the human spoke
	echoes      bool // what a hook sends to the agent comes back as a prompt
}

var dialects = map[Host]dialect{
	Claude: {product: "Claude Code", most: 8, read: readClaude, resume: block, rest: blockNot, goOn: struct{}{}},
	Codex:  {product: "Codex", read: readCodex, resume: block, rest: blockNot, goOn: struct{}{}},
	Copilot: {
		product: "Copilot CLI", most: 8, read: readCopilot, resume: block, rest: blockSilent, goOn: struct{}{}, echoes: true,
	},
	Gemini: {
		product: "Gemini CLI", read: readGemini, resume: deny, rest: allow, goOn: allow(""), accumulates: true, echoes: true,
	},
	Cursor: {
		product: "Cursor", read: readCursor, resume: followUp, rest: followUpNot, pass: passCursor,
		goOn: passCursor(prompted), echoes: true,
	},
}

// Product returns what people call the host: "Claude Code".
func (h Host) Product() string {
	if d, ok := dialects[h]; ok {
		return d.product
	}
	return string(h)
}

// MostContinues returns how often in a row the host lets a hook continue the agent, 0 for as often as it likes.
func (h Host) MostContinues() int { return dialects[h].most }

// Pass returns the answer with which the host goes on, whatever the event was: for an event that nobody could read. A
// host may stop the human's prompt when it gets no answer.
func (h Host) Pass() []byte {
	d, ok := dialects[h]
	if !ok {
		return nil
	}
	return encode(d.goOn)
}

// read makes an event of what the host wrote to the hook's standard input or, for Codex's notify, gave as its last
// argument. It skips a byte order mark. If a key is there twice, the last one counts. Bytes that are not UTF-8 become
// U+FFFD, as in the hosts themselves. Every error wraps [ErrEvent] and holds nothing of the payload except names of
// keys.
func (h Host) read(payload []byte) (event, error) {
	d, ok := dialects[h]
	if !ok {
		return event{}, fmt.Errorf("%w: there is no host %q; the hosts are %v", ErrEvent, string(h), Hosts())
	}
	e := event{host: h, dialect: d, kind: other}
	o, err := parse(payload)
	if err == nil {
		err = d.read(o, &e)
	}
	if err == nil && e.session == "" {
		err = errors.New("it names no session")
	}
	if err != nil {
		return event{}, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	return e, nil
}

// answer returns what to write to standard output: one line of JSON, or nothing. Each decision but a continue lets the
// agent stop. If that ends a loop, the answer has the decision's note for the human. It also has the notice.
func (e event) answer(d autocontinue.Decision, notice string) []byte {
	switch {
	case e.kind != stopped && e.kind != subagentStopped:
		if e.dialect.pass == nil {
			return nil
		}
		return encode(e.dialect.pass(e.kind))
	case d.Action == autocontinue.Continue && !plaintext.IsBlank(d.Message):
		return encode(e.dialect.resume(d.Message))
	}
	return encode(e.dialect.rest(strings.Trim(e.note(d)+"\n"+notice, "\n")))
}

// note returns what the human reads about the end of a loop, "" if there was none or the agent's own words say it.
// With two hooks of one pause, the first tells it.
func (e event) note(d autocontinue.Decision) string {
	if d.Verified == autocontinue.Unverified && d.Note != "" && !d.Replayed {
		return "sidecoach: " + d.Note // nobody must take that for checked
	}
	if d.Goal != "" && d.Reason == autocontinue.ReasonCompletion && !d.Replayed {
		return "sidecoach: " + d.Note
	}
	if d.Continues == 0 && !e.active() && d.Goal == "" || d.Replayed || d.Note == "" {
		return ""
	}
	switch d.Reason {
	case autocontinue.ReasonRepeat, autocontinue.ReasonCap, autocontinue.ReasonCrashGuard,
		autocontinue.ReasonLowConfidence, autocontinue.ReasonSuperseded, autocontinue.ReasonHold:
		return "sidecoach: " + d.Note
	}
	return ""
}

// encode writes an answer as one line.
func encode(v any) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil // no answer can fail
	}
	return []byte(b.String())
}
