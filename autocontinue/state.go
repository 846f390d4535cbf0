package autocontinue

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
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
// A state is bounded. It keeps hashes of the closed runs and the delivered texts of the current turn and the 8 before
// it, the last 64 gaps of the current turn, and the last 8 decisions about outputs with an ID. A typical state is 4 kB
// of JSON, and none is larger than 600 kB. If a turn has more, the human sees more: at 1,024 closed runs the turn is
// handed over; of more than 64 delivered texts in a turn, the oldest may be delivered again.
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

// digest stands for an ID or a text, of whatever length: 64 bits of a hash. 0 stands for none.
type digest uint64

// digestOf returns the digest of s. Equal strings of different kinds have different digests.
func digestOf(kind, s string) digest {
	sum := sha256.Sum256([]byte(kind + "\x00" + s))
	return digest(binary.BigEndian.Uint64(sum[:]))
}

// foldedDigest is the digest of a text without white space, invisible characters and terminal escape sequences: the
// same text by another path has the same one.
func foldedDigest(text string) digest {
	return digestOf("folded", strings.Map(func(r rune) rune {
		if plaintext.IsSpace(r) || plaintext.IsInvisible(r) {
			return -1
		}
		return r
	}, plaintext.StripEscapes(text)))
}

// decisionID returns the ID of the decision about o: the seq-th of the state, when o has no ID.
func decisionID(o Output, seq int) string {
	which := "output " + o.ID
	if o.ID == "" {
		which = fmt.Sprint("sequence ", seq)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{o.Session, o.Run, which}))
	return hex.EncodeToString(sum[:16])
}

// Equal reports whether s and t remember the same.
func (s State) Equal(t State) bool {
	s.Resets, t.Resets = s.resets(), t.resets()
	a, err1 := json.Marshal(s)
	b, err2 := json.Marshal(t)
	return err1 == nil && err2 == nil && bytes.Equal(a, b)
}

// stateVersion grows whenever older code cannot read, or would drop, what is written: a new field, reason or tier too.
const stateVersion = 4

// ErrStateVersion is wrapped by the error for a stored state of a newer version of this package: its version number
// says so, or a field that this version does not know. Its outputs are delivered, or wait for a newer process.
var ErrStateVersion = errors.New("autocontinue: state of a newer version")

type stateJSON struct {
	Version    int  `json:"version"`
	Seq        int  `json:"seq,omitempty"`
	Resets     int  `json:"resets,omitempty"`
	Continues  int  `json:"continues,omitempty"`
	HandedOver bool `json:"handed_over,omitempty"`
	history
}

// MarshalJSON writes the state as an object with its version. The other fields belong to this package.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(stateJSON{stateVersion, s.Seq, s.Resets, s.Continues, s.HandedOver, s.history})
}

// UnmarshalJSON reads what MarshalJSON wrote. A newer version is [ErrStateVersion]. After an error s is unchanged.
func (s *State) UnmarshalJSON(data []byte) error {
	var j stateJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields() // they would be lost at the next write
	err := d.Decode(&j)
	_, field, unknown := strings.Cut(fmt.Sprint(err), "unknown field ")
	switch {
	case j.Version > stateVersion:
		return fmt.Errorf("%w: %d, this one reads up to %d", ErrStateVersion, j.Version, stateVersion)
	case err == nil && j.Version < stateVersion:
		err = fmt.Errorf("version %d, which no program writes any more", j.Version)
	case unknown && j.Version == stateVersion && json.Unmarshal(data, new(stateJSON)) == nil:
		return fmt.Errorf("%w: this one does not know the field %.60s", ErrStateVersion, field)
	case err == nil && min(j.Seq, j.Resets, j.Continues, j.Stage.Done) < 0: // it would raise the cap
		err = errors.New("a count below zero")
	}
	if err != nil {
		return fmt.Errorf("autocontinue: state: %w", err)
	}
	*s = State{j.Seq, j.Resets, j.Continues, j.HandedOver, j.history}
	return nil
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
	return text != "" && s.history.Sent != 0 && s.history.Sent == digestOf("message", text)
}

// humans returns a request without what is ours.
func (s State) humans(request string) string {
	if s.isOurs(request) {
		return ""
	}
	return request
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
	s.Resets = s.resets() + 1
	s.history.Turns = slices.Clone(s.history.Turns)
	s.open(0)
	return s
}

// open makes a new turn the current one.
func (s *State) open(id digest) {
	h := &s.history
	if t := s.turn(); t.ID == 0 && t.Closed == nil && t.Shown == nil {
		t.ID = id // there is nothing to remember of that turn
	} else {
		h.Turns = push(h.Turns, turn{ID: id}, maxTurns)
	}
	s.Continues, s.HandedOver, h.Gaps = 0, false, nil
	h.Records = slices.Clone(h.Records)
	for i, r := range h.Records {
		h.Records[i] = r.superseded()
	}
}

// enter makes the turn of o the current one if it is unknown, and reports whether it is over.
func (s *State) enter(o Output, resets int) (over bool) {
	if resets != 0 && resets != s.resets() {
		return true
	}
	if o.Turn == "" {
		return false
	}
	id, now := digestOf("turn", o.Turn), s.turn()
	switch {
	case now.ID == id:
	case slices.ContainsFunc(s.history.Turns, func(t turn) bool { return t.ID == id }):
		return true
	case !s.isOurs(o.Request):
		s.open(id)
	case now.ID == 0:
		now.ID = id // else the next output of this name would open the turn again
	}
	return false
}

// earlier says what o's run did before: whether it had its continuation or its completion, whether it reported the
// folded text of o, and whether it delivered these bytes.
func (s State) earlier(o Output) (closed, reported, shown bool) {
	if o.Run == "" {
		return false, false, false
	}
	now := reportOf(o)
	for _, t := range s.history.Turns {
		for _, r := range slices.Concat(t.Closed, t.Shown) {
			if r.Run == now.Run {
				closed = closed || r.Bytes == 0
				reported = reported || r.Text == now.Text
				shown = shown || r.Bytes == now.Bytes
			}
		}
	}
	return closed, reported, shown
}

func reportOf(o Output) report {
	return report{digestOf("run", o.Run), foldedDigest(o.Text), digestOf("text", o.Text)}
}

// push returns a copy of a list with one more entry. The oldest entry goes if there are most of them.
func push[T any](list []T, entry T, most int) []T {
	return slices.Concat(list[max(0, len(list)+1-most):], []T{entry})
}

// record is a decision about an output with an ID.
type record struct {
	Output digest `json:"output"`        // its ID
	Text   digest `json:"text,omitzero"` // folded
	Decision
	Result struct{} `json:"classification,omitzero"` // is not recorded
}

// record remembers d, which is about o.
func (s *State) record(o Output, d Decision) {
	h := &s.history
	d.Result, d.Degraded = classify.Result{}, slices.Clone(d.Degraded)
	r := record{Output: digestOf("output", o.ID), Text: foldedDigest(o.Text), Decision: d}
	h.Records = push(h.Records, r, maxRecords)
}

// recorded returns the decision about the output with this ID.
func (s State) recorded(id string) (record, bool) {
	k := digestOf("output", id)
	i := slices.IndexFunc(s.history.Records, func(r record) bool { return r.Output == k })
	if id == "" || i < 0 {
		return record{}, false
	}
	return s.history.Records[i], true
}

// superseded returns what becomes of r when its turn is over: a continuation is not sent any more.
func (r record) superseded() record {
	if v := verdicts["superseded"]; r.Action == Continue {
		r.Decision = Decision{
			ID: r.ID, Action: v.action, Outcome: v.outcome, Reason: "superseded", Note: v.note, Continues: r.Continues,
		}
	}
	return r
}
