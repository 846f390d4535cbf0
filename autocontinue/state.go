package autocontinue

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach"
)

// What a state remembers at most.
const (
	maxTurns   = 9    // the current one among them
	maxClosed  = 1024 // closed runs of one turn; more than it can have continuations
	maxShown   = 64   // delivered texts of one turn
	maxGaps    = 64   // of the current turn
	maxRecords = 8    // recorded decisions
)

// State is what a session remembers. It is a value: copying it is cheap, and no function changes one that it was given.
// So a [Store] may hand out what it keeps. The zero value is a session of which nothing is known.
//
// A state is bounded, however long the host's IDs and the agent's texts are, because it keeps their hashes. It keeps
// the closed runs and the delivered texts of the current turn and the 8 before it, the last 64 gaps of the current
// turn, and the last 8 decisions about outputs with an ID. A typical state is 4 kB of JSON, and none is larger than 600
// kB. If a turn has more than that, the human sees more: at 1,024 closed runs the turn is handed over and the oldest
// run is forgotten; of more than 64 delivered texts in a turn, the oldest may be delivered again.
type State struct {
	Seq        int  // outputs decided about, replays not counted
	Resets     int  // calls of Reset, plus one; 0 means 1
	Continues  int  // continuations used in the current turn
	HandedOver bool // nothing more is continued in the current turn

	history history
}

// history is the part of a state that only this package reads.
type history struct {
	Turns   []turn   `json:"turns,omitempty"`   // the current one last
	Gaps    []gap    `json:"gaps,omitempty"`    // of the current turn, the latest last
	Records []record `json:"records,omitempty"` // the latest last
	Sent    digest   `json:"sent,omitzero"`     // the message sent last, of any turn
	Stage   stage    `json:"stage,omitzero"`
}

// stage is how many stages of a goal are done.
type stage struct {
	Of   digest `json:"of"` // the stages
	Done int    `json:"done"`
}

// turn is a turn that a state remembers. Without an ID it was opened by Reset, or by an output without a turn.
type turn struct {
	ID     digest   `json:"id,omitzero"`
	Closed []report `json:"closed,omitempty"` // runs that were continued or delivered a completion, with that text
	Shown  []report `json:"shown,omitempty"`  // texts that runs delivered
}

// report is a text that a run reported.
type report struct {
	Run   digest `json:"run"`
	Text  digest `json:"text,omitzero"`  // folded
	Bytes digest `json:"bytes,omitzero"` // of the same text as it is; only of a delivered one
}

// digest stands for an ID or a text, of whatever length. The zero value stands for none.
type digest [9]byte

// MarshalText returns 12 characters.
func (d digest) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, d[:]), nil
}

// UnmarshalText accepts what MarshalText returned.
func (d *digest) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.DecodeString(string(text))
	if err != nil || len(raw) != len(d) {
		return fmt.Errorf("autocontinue: %.20q is not a digest", text)
	}
	*d = digest(raw)
	return nil
}

// digestOf returns the digest of s. Equal strings of different kinds have different digests.
func digestOf(kind, s string) digest {
	h := newHash(kind)
	io.WriteString(h, s) // a hash never fails
	return sumOf(h)
}

func newHash(kind string) hash.Hash {
	h := sha256.New()
	h.Write(withLength(nil, kind))
	return h
}

func sumOf(h hash.Hash) digest { return digest(h.Sum(nil)[:9]) }

// withLength appends s so that its end cannot be mistaken.
func withLength(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

// foldedDigest is the digest of a text without white space, invisible characters and terminal escape sequences: the
// same text by another path has the same one.
func foldedDigest(text string) digest {
	h := newHash("folded")
	buf := make([]byte, 0, 4096)
	for i := 0; i < len(text); {
		if n := plaintext.EscapeSequence(text[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !plaintext.IsSpace(r) && !plaintext.IsInvisible(r) {
			buf = append(buf, text[i:i+n]...)
		}
		if i += n; len(buf) > cap(buf)-utf8.UTFMax || i >= len(text) {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	return sumOf(h)
}

// decisionID returns the ID of the decision about o: the seq-th of the state, when o has no ID.
func decisionID(o Output, seq int) string {
	b := withLength(withLength(withLength(nil, "decision"), o.Session), o.Run)
	if o.ID != "" {
		b = withLength(append(b, 'i'), o.ID)
	} else {
		b = binary.BigEndian.AppendUint64(append(b, 's'), uint64(seq))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Equal reports whether s and t remember the same.
func (s State) Equal(t State) bool {
	s.Resets, t.Resets = s.resets(), t.resets()
	a, err1 := json.Marshal(s)
	b, err2 := json.Marshal(t)
	return err1 == nil && err2 == nil && bytes.Equal(a, b)
}

// copied returns a state whose changes do not reach s.
func (s State) copied() State {
	h := &s.history
	h.Turns, h.Gaps, h.Records = slices.Clone(h.Turns), slices.Clone(h.Gaps), slices.Clone(h.Records)
	if last := len(h.Turns) - 1; last >= 0 { // the turns before it do not change
		t := &h.Turns[last]
		t.Closed, t.Shown = slices.Clone(t.Closed), slices.Clone(t.Shown)
	}
	return s
}

func (s State) resets() int { return max(s.Resets, 1) }

// used is how often the turn of o was continued, by what the state and the host know.
func (s State) used(o Output) int { return min(max(s.Continues, o.Continues), math.MaxInt32) }

// isOurs reports whether text is a message of ours that came back, and not the human's words.
func (s State) isOurs(text string) bool {
	if plaintext.IsOurs(text) {
		return true
	}
	text = strings.TrimSpace(text)
	return text != "" && s.history.Sent != (digest{}) && s.history.Sent == digestOf("message", text)
}

// turn returns the current turn, for changes.
func (s *State) turn() *turn {
	h := &s.history
	if len(h.Turns) == 0 {
		h.Turns = []turn{{}}
	}
	return &h.Turns[len(h.Turns)-1]
}

// Reset returns the state after the human spoke, for hosts without turn IDs that keep the state themselves. Other hosts
// call [AutoContinue.Reset]. It opens a turn and counts itself in Resets.
func (s State) Reset() State {
	s = s.copied()
	s.Resets = s.resets() + 1
	s.open(digest{})
	return s
}

// open makes a new turn the current one.
func (s *State) open(id digest) {
	h := &s.history
	if t := s.turn(); t.ID == (digest{}) && t.Closed == nil && t.Shown == nil {
		t.ID = id // there is nothing to remember of that turn
	} else {
		h.Turns = append(h.Turns, turn{ID: id})
		h.Turns = h.Turns[max(0, len(h.Turns)-maxTurns):]
	}
	s.Continues, s.HandedOver, h.Gaps = 0, false, nil
	for i, r := range h.Records {
		h.Records[i] = r.superseded()
	}
}

// A position says where the turn of an output stands among those of a state.
type position int

const (
	current position = iota
	opening          // a new turn
	over
)

// positionOf returns the position of o's turn. Name is the name of a turn that is opening, or of the current one if it
// had no name until now.
func (s State) positionOf(o Output, resets int) (at position, name digest) {
	if resets != 0 && resets != s.resets() {
		return over, digest{}
	}
	if o.Turn == "" {
		return current, digest{}
	}
	id, now := digestOf("turn", o.Turn), *s.turn() // s is a copy
	switch {
	case now.ID == id:
		return current, digest{}
	case slices.ContainsFunc(s.history.Turns, func(t turn) bool { return t.ID == id }):
		return over, digest{}
	case s.isOurs(o.Request):
		if now.ID == (digest{}) {
			return current, id
		}
		return current, digest{}
	}
	return opening, id
}

// isClosed reports whether run had its continuation or its completion. Known says that it reported this text before.
func (s State) isClosed(run, text string) (closed, known bool) {
	if run == "" {
		return false, false
	}
	id := digestOf("run", run)
	var texts []digest
	for _, t := range s.history.Turns {
		for _, r := range slices.Concat(t.Closed, t.Shown) {
			if r.Run == id {
				texts = append(texts, r.Text)
				closed = closed || r.Bytes == (digest{})
			}
		}
	}
	return closed, closed && slices.Contains(texts, foldedDigest(text))
}

// wasShown reports whether run delivered the same bytes.
func (s State) wasShown(run, text string) bool {
	if run == "" {
		return false
	}
	id, exact := digestOf("run", run), digestOf("text", text)
	return slices.ContainsFunc(s.history.Turns, func(t turn) bool {
		return slices.ContainsFunc(t.Shown, func(r report) bool { return r.Run == id && r.Bytes == exact })
	})
}

// closeRun remembers that o's run had its one continuation, or its completion.
func (s *State) closeRun(o Output) {
	if o.Run == "" {
		return
	}
	t := s.turn()
	if len(t.Closed) == maxClosed {
		s.HandedOver = true
		t.Closed = t.Closed[1:]
	}
	t.Closed = append(t.Closed, report{Run: digestOf("run", o.Run), Text: foldedDigest(o.Text)})
}

// show remembers that o's run delivered its text.
func (s *State) show(o Output) {
	if o.Run == "" {
		return
	}
	t := s.turn()
	t.Shown = t.Shown[max(0, len(t.Shown)+1-maxShown):]
	t.Shown = append(t.Shown, report{digestOf("run", o.Run), foldedDigest(o.Text), digestOf("text", o.Text)})
}

// record is a decision about an output with an ID.
type record struct {
	Output    digest             `json:"output"`        // its ID
	Text      digest             `json:"text,omitzero"` // folded
	Decision  string             `json:"decision"`
	Reason    Reason             `json:"reason"`
	Note      string             `json:"note,omitempty"`
	Message   string             `json:"message,omitempty"`
	Tier      coach.Tier         `json:"tier,omitempty"`
	Attempt   int                `json:"attempt,omitempty"`
	Continues int                `json:"continues,omitempty"`
	Verified  VerificationStatus `json:"verified,omitempty"`
	Degraded  []string           `json:"degraded,omitempty"`
}

// record remembers d, which is about o.
func (s *State) record(o Output, d Decision) {
	h := &s.history
	h.Records = h.Records[max(0, len(h.Records)+1-maxRecords):]
	h.Records = append(h.Records, record{
		Output: digestOf("output", o.ID), Text: foldedDigest(o.Text), Decision: d.ID, Reason: d.Reason, Note: d.Note,
		Message: d.Message, Tier: d.Tier, Attempt: d.Attempt, Continues: d.Continues, Verified: d.Verified,
		Degraded: slices.Clone(d.Degraded),
	})
}

// recorded returns the decision about the output with this ID.
func (s State) recorded(id string) (record, bool) {
	if id == "" {
		return record{}, false
	}
	k := digestOf("output", id)
	i := slices.IndexFunc(s.history.Records, func(r record) bool { return r.Output == k })
	if i < 0 {
		return record{}, false
	}
	return s.history.Records[i], true
}

// superseded returns what becomes of r when its turn is over: a continuation is not sent any more.
func (r record) superseded() record {
	v := ReasonSuperseded.verdict()
	if r.Reason.verdict().action != Continue {
		return r
	}
	return record{
		Output: r.Output, Text: r.Text, Decision: r.Decision, Reason: ReasonSuperseded, Note: v.note, Continues: r.Continues,
	}
}

// replay returns the decision that r records, for o.
func (r record) replay(o Output) Decision {
	v := r.Reason.verdict()
	d := Decision{
		ID: r.Decision, Action: v.action, Outcome: v.outcome, Reason: r.Reason, Note: r.Note, Message: r.Message,
		Tier: r.Tier, Attempt: r.Attempt, Continues: r.Continues, Verified: r.Verified, Degraded: slices.Clone(r.Degraded),
		Replayed: true,
	}
	if r.Text != (digest{}) && r.Text != foldedDigest(o.Text) {
		d.Degraded = append(d.Degraded, "output ID: it came with another text; this is the decision about the first one")
	}
	return d
}
