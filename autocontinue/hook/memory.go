package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

const (
	maxRequest = 64 << 10  // bytes of the human's words
	maxPrinted = 128 << 10 // bytes of a message's end, which is kept until its pause
	maxSame    = 4         // hooks of one pause: of the user, the project, the machine and a plugin
)

// Memory is what [Run] remembers of a session beside the state of the loop: JSON that only this package reads. It holds
// the human's last words and the agent's last message, with secrets masked. The zero value remembers nothing.
type Memory struct{ memory }

// Waits reports whether the agent stopped and the human has not spoken since.
func (m Memory) Waits() bool { return m.Rested }

type memory struct {
	Began  string `json:"began,omitempty"`  // the folder of the human's first prompt
	Turns  int    `json:"turns,omitempty"`  // prompts of the human
	Pauses int    `json:"pauses,omitempty"` // that were taken in
	ID     string `json:"id,omitempty"`     // of the last output
	Same   int    `json:"same,omitempty"`   // how often it came in a row

	Rested bool `json:"rested,omitempty"` // the agent stopped at the last pause

	// Of a host whose pauses have no message.
	Printed   string `json:"printed,omitempty"`    // what the agent printed last
	PrintedIn string `json:"printed_in,omitempty"` // the host's ID of the prompt that it was about

	Transcript transcript.State `json:"transcript,omitzero"` // what the transcript said, as far as it was read
}

// heard returns the memory after an event that is not a pause. What the agent printed is kept until its pause comes.
func (m memory) heard(e event) memory {
	m.Printed, m.PrintedIn = "", ""
	switch text := e.Message.text; {
	case e.fromHuman(m):
		m.Turns++
		m.Began, m.Rested = cmp.Or(m.Began, e.Dir), false
		m.Transcript.Sent(false)
	case e.kind == printed:
		m.Printed, m.PrintedIn = strings.ToValidUTF8(text[max(0, len(text)-maxPrinted):], ""), e.Generation
	}
	if e.kind == prompted {
		m.Transcript.Expect()
	}
	return m
}

// after returns the memory after a pause, which is out, and about which a decision was made.
func (m memory) after(e event, out autocontinue.Output, continued bool) memory {
	if e.kind != stopped && e.kind != subagentStopped {
		return m
	}
	m.Pauses++
	m.Rested, m.Printed, m.PrintedIn = !continued, "", ""
	m.Transcript.Sent(continued && e.host.echoes())
	return m.again(out.ID)
}

func (m memory) again(id string) memory {
	switch id {
	case "":
	case m.ID:
		m.Same++
	default:
		m.ID, m.Same = id, 1
	}
	return m
}

// heldFor returns what the agent printed last after the prompt that a pause is about.
func (m memory) heldFor(e event) (string, bool) {
	return m.Printed, m.Printed != "" && m.PrintedIn == e.Generation
}

// id returns the ID of a pause, which all hooks of it know. It is empty if nothing names the pause.
func (m memory) id(e event, t transcript.Trace) string {
	id := m.candidate(e, t)
	again := id == m.ID
	tooOften := again && m.Same >= maxSame                                // no pause has so many hooks
	if tooOften || t.Old && !again && strings.HasPrefix(id, "message:") { // or it is the message of another pause
		return ""
	}
	return id
}

// knows reports whether another hook of the same pause was here before: then nothing new comes.
func (m memory) knows(e event, t transcript.Trace) bool {
	id := m.candidate(e, t)
	return id != "" && id == m.ID
}

// candidate returns the ID that a pause has if the transcript's last message is its own. Cursor numbers its prompts,
// and Gemini CLI tells the time of the event. For the others it is the transcript's ID of the message, if the
// transcript shows that message. All hooks of a pause also know whether a hook continued the agent before.
func (m memory) candidate(e event, t transcript.Trace) string {
	active := ":" + strconv.FormatBool(e.active())
	t.Old = false
	switch {
	case e.Generation != "":
		return fmt.Sprintf("prompt:%s:%d:%d", e.Generation, m.Turns, e.Loop)
	case e.host == Gemini && e.Time != nil:
		return "time:" + string(e.Time) + active
	case t.MessageID == "" || e.Message.given && !t.Shows(e.Message.text, e.host.accumulates()):
		return ""
	}
	return "message:" + t.MessageID + active
}

// output returns what [autocontinue.AutoContinue.Handle] decides about. Each pause is a run of its own. Turn is empty
// when a hook continued the agent: that opens no turn. Text is the message of the event, else the one that the memory
// holds, else the transcript's; if the host's message accumulates, it is the last message, if the transcript has that.
func (m memory) output(e event, t transcript.Trace) autocontinue.Output {
	out := autocontinue.Output{
		Session: e.key(), ID: m.id(e, t), Request: t.Request, Work: t.Work, Continues: t.Continues,
	}
	prompt := e.Prompt.text
	if !plaintext.IsBlank(prompt) && !transcript.Format(e.host).IsNotice(prompt) && !m.Transcript.IsOurs(prompt) {
		out.Request = strings.ToValidUTF8(prompt[:min(len(prompt), maxRequest)], "")
	}
	if !e.active() {
		out.Turn = t.Turn
	}
	message := e.Message
	if held, ok := m.heldFor(e); ok && !message.given {
		message = optional{held, true}
	}
	shown := message.given && e.host.accumulates() && t.Shows(message.text, true)
	if shown || !message.given && t.Message != "" && (!t.Old || m.knows(e, t)) {
		message = optional{t.Message, true}
	}
	if out.Text = message.text; e.kind == broke && plaintext.IsBlank(out.Text) {
		out.Text = e.Status
	}
	out.Failed = e.kind == broke || e.Status == "error" || e.Status == "failed"
	if !out.Failed {
		out.Hold = m.hold(e, t, message.given, out.Continues)
	}
	return out
}

// hold returns why the agent must not be continued, "" if it may.
func (m memory) hold(e event, t transcript.Trace, message bool, continues int) string {
	switch {
	case e.kind == subagentStopped && e.AgentType != nil && *e.AgentType == "":
		return "an agent of the host's own"
	case strings.EqualFold(e.Mode, "plan"), (e.host != Claude || e.Mode == "") && strings.EqualFold(t.Mode, "plan"):
		return "plan mode" // Claude Code's event says what holds now; Codex's has another mode beside that of its transcript
	case e.Status == "aborted" || e.Status == "cancelled" || t.Aborted:
		return "aborted"
	case !e.ended():
		return "an end that is not known"
	case e.Tasks == nil && t.Waits, slices.ContainsFunc(e.Tasks, e.waitsFor):
		return "background work"
	case len(e.Crons) > 0:
		return "a scheduled prompt"
	}
	switch lost := m.Pauses == 0 && e.active(); {
	case !message:
		return "there is no message of the agent to judge"
	case lost && (t.Err != nil || e.host.echoes() && continues == 0):
		return "state lost, so nobody knows how often this turn was continued"
	}
	return ""
}
