package autocontinue

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

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
	s.openTurn(0)
	return s
}

// openTurn makes a new turn the current one.
func (s *State) openTurn(id digest) {
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

// enterTurn makes the turn of o the current one if it is unknown, and reports whether it is over.
func (s *State) enterTurn(o Output, resets int) (over bool) {
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
		s.openTurn(id)
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

// What a [Store] says, beside its own words, when it could not do an update. [AutoContinue.Handle] then delivers to the
// human; a host with a queue hands the same output in again later instead.
var (
	// ErrConflict: others changed the session for as long as the store tries. Nothing was written.
	ErrConflict = errors.New("autocontinue: others are changing the session")

	// ErrUnavailable: the storage did not answer, or is full. If the answer of an update was lost, the update may have
	// been written: the same output, handed in again with its ID, then gets the decision that was stored.
	ErrUnavailable = errors.New("autocontinue: the store is unavailable")
)

// Store keeps one [State] for each session. Package storetest checks an implementation.
//
// A session's name is any non-empty string, of any bytes and length. Names that differ in a byte are two sessions.
//
// An implementation must be safe for concurrent use. It may keep a State and hand it out as it is; other processes
// store it as JSON. A state that cannot be read is an error, never an empty one. A store must not forget a session that
// is in use: that would start the count of its turn again.
type Store interface {
	// Load returns the session's state, the zero State for an unknown session. It sees what an Update wrote that has
	// returned nil. When ctx is done, it returns an error that wraps ctx.Err().
	Load(ctx context.Context, session string) (State, error)

	// Update replaces the session's state by what fn returns for it, atomically: of two updates of a session, one sees
	// what the other wrote, from whatever process they come. Fn gets the zero State for an unknown session. It is pure
	// and may be called more than once; only the result of its last call counts. If fn returns an error, nothing is
	// written and Update returns an error that wraps it. When it returns nil, the state is written.
	//
	// When ctx is done, Update returns an error that wraps ctx.Err(); fn need not have been called. After Update has
	// returned, nothing may be written, with one exception: a request on its way to another machine may still be
	// written, if the state is the one that fn was given.
	//
	// A store that loses races gives up after a bounded number of them, with an error that wraps [ErrConflict]. Storage
	// that cannot be used is an error that wraps [ErrUnavailable], from Load as well.
	Update(ctx context.Context, session string, fn func(State) (State, error)) error
}

// What a [MemoryStore] keeps.
const (
	defaultSessions = 100_000
	minSessionAge   = 24 * time.Hour // since its last use, before a session may be forgotten
)

// MemoryStore is a [Store] in memory, for one process. It is safe for concurrent use, and the zero value is ready to
// use. The function given to Update must not use the store.
//
// A full store forgets the session that was unused for longest, if that is a day or more. Otherwise it refuses a new
// session with an error that wraps [ErrUnavailable]: to forget a live session would start its count again.
type MemoryStore struct {
	max      int
	mu       sync.Mutex
	sessions map[string]memory
}

type memory struct {
	state State
	used  time.Time
}

// NewMemoryStore returns a store for at most that many sessions. A number below 1 is 100,000.
func NewMemoryStore(sessions int) *MemoryStore { return &MemoryStore{max: sessions} }

// Load returns the session's state. Its only error is that of ctx.
func (m *MemoryStore) Load(ctx context.Context, session string) (State, error) {
	if ctx == nil {
		return State{}, errNil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.sessions[session]
	if known {
		m.sessions[session] = memory{e.state, time.Now()}
	}
	return e.state, ctx.Err()
}

// Update replaces the state by what fn returns. Its errors are those of fn and ctx, and [ErrUnavailable] if it is full.
func (m *MemoryStore) Update(ctx context.Context, session string, fn func(State) (State, error)) error {
	if ctx == nil || fn == nil {
		return errNil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.sessions == nil {
		m.sessions = make(map[string]memory)
	}
	e, known := m.sessions[session]
	next, err := fn(e.state)
	if err != nil {
		return err
	}
	if most := cmp.Or(max(m.max, 0), defaultSessions); !known && len(m.sessions) >= most {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(m.sessions)), func(a, b string) int {
			return m.sessions[a].used.Compare(m.sessions[b].used)
		})
		if time.Since(m.sessions[oldest].used) < minSessionAge {
			return fmt.Errorf("%w: it is full, with %d sessions of the last day; give NewMemoryStore a larger number",
				ErrUnavailable, most)
		}
		delete(m.sessions, oldest)
	}
	m.sessions[strings.Clone(session)] = memory{next, time.Now()} // the string may be part of a large message
	return nil
}
