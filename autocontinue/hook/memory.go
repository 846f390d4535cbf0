package hook

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
)

const (
	maxPrinted = 128 << 10 // bytes of a message's end, which is kept until its pause
	maxSame    = 4         // hooks of one pause: of the user, the project, the machine and a plugin
)

// Memory is what [Run] remembers of a session between two events, beside the state of the loop. It is JSON that only
// this package reads. It holds the human's last words and the agent's last message, with secrets masked. The zero
// value remembers nothing.
type Memory struct{ memory }

// Waits reports whether the agent stopped and the human has not spoken since.
func (m Memory) Waits() bool { return m.Rested }

type memory struct {
	Events int    `json:"events,omitempty"` // that were taken in
	Began  string `json:"began,omitempty"`  // the folder of the human's first prompt
	Pauses int    `json:"pauses,omitempty"` // among them
	ID     string `json:"id,omitempty"`     // hash of the last output's ID
	Same   int    `json:"same,omitempty"`   // how often it came in a row

	Rested bool `json:"rested,omitempty"` // the agent stopped at the last pause

	// Of a host whose pauses have no message, and which counts over the whole session how often a hook continued the
	// agent.
	Printed   string `json:"printed,omitempty"`    // what the agent printed last
	PrintedIn string `json:"printed_in,omitempty"` // hash of the host's ID of the prompt that it was about
	Loops     int    `json:"loops,omitempty"`      // the host's count after the last pause
	Base      int    `json:"base,omitempty"`       // and before the human's last words

	Transcript transcript.State `json:"transcript,omitzero"` // what the transcript said, as far as it was read
}

// heard returns the memory after an event that is not a pause. The human's prompt ends the turn. What the agent printed
// is kept until its pause comes.
func (m memory) heard(e event) memory {
	m.Events++
	switch {
	case e.fromHuman(m):
		m = memory{
			Events: m.Events, Began: cmp.Or(m.Began, e.Dir), Pauses: m.Pauses, ID: m.ID, Same: m.Same,
			Loops: m.Loops, Base: m.Loops,
			Transcript: m.Transcript,
		}
		m.Transcript.Sent(false)
	case e.kind == printed:
		text := e.Message.text
		m.Printed, m.PrintedIn = strings.ToValidUTF8(text[max(0, len(text)-maxPrinted):], ""), hash(e.Generation)
	default:
		m.Printed, m.PrintedIn = "", ""
	}
	if e.kind == prompted {
		m.Transcript.Expect()
	}
	return m
}

// after returns the memory after a pause, which is out, and about which a decision was made.
func (m memory) after(e event, out autocontinue.Output, continued bool) memory {
	m.Events++
	if e.kind != stopped && e.kind != subagentStopped {
		return m
	}
	m.Pauses++
	m.Rested, m.Printed, m.PrintedIn = !continued, "", ""
	m.Transcript.Sent(continued && e.host.echoes())
	if e.Loop < m.Base {
		m.Base = 0
	}
	m.Loops = e.Loop
	if continued {
		m.Loops++
	}
	return m.again(out.ID)
}

func (m memory) again(id string) memory {
	if id == "" {
		return m
	}
	if id = hash(id); id != m.ID {
		m.ID, m.Same = id, 0
	}
	m.Same++
	return m
}

// heldFor returns what the agent printed last after the prompt that a pause is about.
func (m memory) heldFor(e event) (string, bool) {
	return m.Printed, m.Printed != "" && m.PrintedIn == hash(e.Generation)
}

// inTurn returns the event with the host's count as one since the human's last words. A count that is lower than the
// one before them began anew.
func (m memory) inTurn(e event) event {
	if e.Loop >= m.Base {
		e.Loop -= m.Base
	}
	return e
}

// id returns the ID of a pause: all hooks of it know the ID, and no other pause has it. It is never made of the text.
// It is empty if nothing names the pause.
func (m memory) id(e event, t transcript.Trace) string {
	id := m.candidate(e, t)
	again := hash(id) == m.ID
	tooOften := again && m.Same >= maxSame                                   // no pause has so many hooks
	if tooOften || t.Old && !again && strings.HasPrefix(id, messagePrefix) { // or it is the message of another pause
		return ""
	}
	return id
}

// knows reports whether another hook of the same pause was here before: then nothing new comes.
func (m memory) knows(e event, t transcript.Trace) bool {
	id := m.candidate(e, t)
	return id != "" && hash(id) == m.ID
}

const messagePrefix = "message:"

// candidate returns the ID that a pause has if the transcript's last message is its own. Cursor numbers its prompts,
// and Gemini CLI tells the time of the event. For the others it is the transcript's ID of the message, if the
// transcript shows that message. All hooks of a pause also know whether a hook continued the agent before.
func (m memory) candidate(e event, t transcript.Trace) string {
	active := ":" + strconv.FormatBool(m.inTurn(e).active())
	t.Old = false
	switch {
	case e.Generation != "":
		return "prompt:" + hash(e.Generation) + ":" + strconv.Itoa(e.Loop) + active
	case e.host == Gemini && e.Time != nil:
		return "time:" + string(e.Time) + active
	case t.MessageID == "" || e.Message.given && !t.Shows(e.Message.text, e.host.accumulates()):
		return ""
	}
	return messagePrefix + t.MessageID + active
}

func hash(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:12])
}
