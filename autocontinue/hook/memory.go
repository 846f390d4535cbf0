package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// What a Memory holds at most.
const (
	maxSent  = 8         // messages of ours that do not show by themselves that they are
	maxSaid  = 128 << 10 // bytes of a message that is held
	maxSame  = 4         // reports of one pause: the hook may be installed for the user, the project, the machine and by a plugin
	maxFirst = 100       // the same, of a pause before which, as the host says, no hook sent the agent on: there is no loop then
)

// Memory is what the caller keeps between two events of a session, beside the session's state. It holds the human's last words
// and the agent's last message. The zero value is a session nothing is known of: when the state is lost, so is
// the memory. Read it with encoding/json; what cannot be read is the zero value, too.
//
// It is stored as it was after the last event; that two processes store it at the same time does no harm.
type Memory struct {
	Pauses int      `json:"pauses,omitempty"` // pauses seen
	Sent   []string `json:"sent,omitempty"`   // hashes of messages sent since the human spoke that do not begin with our prefix
	Named  Named    `json:"named,omitzero"`   // hash of the last output's ID that is a transcript's
	Timed  Named    `json:"timed,omitzero"`   // the last one that the host's event made: its time, or its prompt
	Notice string   `json:"notice,omitempty"` // hash of the host's ID of a prompt that it wrote itself
	Rests  bool     `json:"rests,omitempty"`  // of a host that echoes: the agent was let stop, so that the next prompt is the human's

	// Of a host whose pauses have no message, and which counts over the whole session how often a hook sent the agent on.
	Said   string `json:"said,omitempty"`    // what the agent printed last
	SaidIn string `json:"said_in,omitempty"` // hash of the host's ID of the prompt that was about
	Loops  int    `json:"loops,omitempty"`   // the host's count after the last pause
	Base   int    `json:"base,omitempty"`    // and before the human's last words

	Transcript transcript.State `json:"transcript,omitzero"` // what the transcript said, as far as it was read

	// Of a host that accumulates: what was judged at the last pause.
	At   string `json:"at,omitempty"`   // the host's time of it
	From int    `json:"from,omitempty"` // where in the host's message that part began
	Len  int    `json:"len,omitempty"`  // length of the host's message
	Sum  string `json:"sum,omitempty"`  // hash of the host's message
}

// Named is what is remembered of an ID that outputs had.
type Named struct {
	Last   string `json:"last,omitempty"`   // the ID
	Same   int    `json:"same,omitempty"`   // how often it came in a row
	Active bool   `json:"active,omitempty"` // a hook had sent the agent on when it came
}

// Heard returns the memory after an event that is no pause: a prompt of the human's ends the turn, the host's own opens
// none; what the agent printed is held until its pause comes.
func (m Memory) Heard(e Event) Memory {
	switch {
	case e.FromHuman(m):
		if m.Timed.Last != "" {
			m.Timed.Same = maxFirst // what comes now is another pause, whatever the host tells
		}
		m.Transcript.Expect()
		return Memory{Pauses: m.Pauses, Timed: m.Timed, Loops: m.Loops, Base: m.Loops, Transcript: m.Transcript}
	case e.Kind == Prompt && e.Host == Cursor: // it has taken the pause before up
		m.Said, m.SaidIn, m.Timed.Same = "", "", maxFirst
	case e.Kind == Said:
		m.Said, m.SaidIn = "", ""
		if said := e.Message.Value; len(said) <= maxSaid {
			m.Said, m.SaidIn = said, sum(e.Generation.Value)
		}
	case e.Kind == Prompt && e.Turn.Value != "":
		m.Notice = sum(e.Turn.Value)
	}
	if e.Kind == Prompt {
		m.Transcript.Expect()
	}
	return m
}

// After returns the memory after a pause, for which out was made with m and about which d was decided.
func (m Memory) After(e Event, out autocontinue.Output, d autocontinue.Decision) Memory {
	if e.Kind != Stop && e.Kind != SubagentStop {
		return m
	}
	before := m
	m.Pauses++
	m.Transcript.Expect()
	m.Said, m.SaidIn, m.Loops = "", "", e.Loop.Value
	if d.Action == autocontinue.Continue {
		m.Loops++
	}
	if e.Loop.Value < m.Base {
		m.Base = 0
	}
	m.Rests = e.Host.Echoes() && d.Action != autocontinue.Continue
	e = e.inTurn(before)
	switch {
	case strings.HasPrefix(out.ID, momentPrefix), strings.HasPrefix(out.ID, promptedPrefix):
		m.Timed = m.Timed.again(out.ID, e.active())
	case out.ID != "":
		m.Named = m.Named.again(sum(out.ID), e.active())
	}
	if msg := strings.TrimSpace(d.Message); d.Action == autocontinue.Continue && !plaintext.IsOurs(msg) && !(d.Replayed && m.sentLast(msg)) {
		m.Sent = append(slices.Clone(m.Sent[max(0, len(m.Sent)-maxSent+1):]), sum(msg))
	}
	if e.Host.Echoes() {
		m.Transcript.Sent(d.Message)
	}
	if msg, ok := e.Message.Get(); ok && e.Host.Accumulates() {
		m.From, _ = before.from(e)
		m.At, m.Len, m.Sum = e.Time.Value, len(msg), sum(msg)
	}
	return m
}

// sentLast reports whether a message is the last of those that were sent, as another hook of the same pause has stored.
func (m Memory) sentLast(msg string) bool {
	return len(m.Sent) > 0 && m.Sent[len(m.Sent)-1] == sum(msg)
}

// said returns what is held for a pause: what was printed last after the same prompt.
func (m Memory) said(e Event) (string, bool) {
	return m.Said, m.Said != "" && m.SaidIn == sum(e.Generation.Value)
}

// inTurn returns the event with the host's count as one since the human's last words. A count that is lower than the one
// before those began anew.
func (e Event) inTurn(m Memory) Event {
	if e.Loop.Value >= m.Base {
		e.Loop.Value -= m.Base
	}
	return e
}

// from returns where in a message that accumulates the part begins that was not judged yet.
func (m Memory) from(e Event) (int, bool) {
	msg := e.Message.Value
	if m.Len <= 0 || m.Len > len(msg) || sum(msg[:m.Len]) != m.Sum {
		return 0, false // another turn
	}
	if m.Len == len(msg) && m.At != "" && m.At == e.Time.Value {
		return min(max(m.From, 0), len(msg)), true // the same pause, reported again
	}
	return m.Len, true
}

// known reports whether an ID can be the name of this pause. It cannot when it has come more often than there can be
// hooks, nor when it named a pause before which the agent was not sent on, and now it was, or the other way round: all
// hooks of a pause are told the same. Then the transcript lags, and the agent has said the same again.
func (n Named) known(id string, e Event) bool {
	most := maxSame
	if !e.active() && (e.StopActive.Is == Given || e.Loop.Is == Given) {
		most = maxFirst
	}
	return id != n.Last || n.Same < most-1 && e.active() == n.Active
}

// again is n after an output with that ID.
func (n Named) again(id string, active bool) Named {
	if id != n.Last {
		return Named{Last: id, Active: active}
	}
	n.Same++
	return n
}

// ours reports whether a text is a message of ours. Echoes says that what was sent comes back as it is.
func (m Memory) ours(s string, echoes bool) bool {
	if plaintext.IsOurs(s) || !echoes {
		return plaintext.IsOurs(s)
	}
	s = strings.TrimSpace(s)
	return s != "" && len(m.Sent) > 0 && slices.Contains(m.Sent, sum(s))
}

// sum is a hash that names a text.
func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:12])
}
