package autocontinue

import (
	"math"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach"
)

// What a state remembers at most.
const (
	maxPast    = 8    // turns before the current one
	maxClosed  = 1024 // closed runs of one turn; more than it can have continuations
	maxShown   = 64   // texts delivered in one turn
	maxGaps    = 32   // fingerprints of the current turn
	maxRecords = 8    // recorded decisions
)

// State is what a session remembers. It is a value: copying it is cheap, and no function changes one it was given, so
// that a [Store] may hand out what it keeps. The zero value is a session nothing is known of.
//
// A state is bounded, whatever the host's IDs and the agent's texts are, because it keeps hashes of them: of the current
// turn and the 8 before it the closed runs and the texts delivered, of the current turn the fingerprints of 32 different
// outputs, and the last 8 decisions with an output ID, their messages as long as the turn is the current one. That is
// about 2 kB of JSON for a typical session, most of it messages, and 150 kB at the most; in memory it is less, because of a
// message only what is not the coach's own wording takes space. Where a turn has more than the state can keep, the human
// sees more, not less: at 1,024 closed runs the turn is handed over and the oldest of them are forgotten; of more than 64
// delivered texts in a turn the oldest may be delivered again.
type State struct {
	Seq        int  // outputs decided about, replays not counted
	Resets     int  // calls of Reset, plus one; 0 means 1
	Continues  int  // continuations used in the current turn
	HandedOver bool // nothing is continued in the current turn any more

	sent    key      // the message sent last, of whatever turn
	turn    turn     // the current one
	past    []turn   // those before, oldest first
	closed  []key    // runs that were continued or delivered a completion, those of the oldest turn first
	shown   []shown  // texts that were delivered, those of the oldest turn first
	gaps    []gap    // of the current turn, the latest last
	records []record // the latest last
}

// turn is a turn of which a state knows. Without an ID it was opened by Reset, or by outputs without a turn.
type turn struct {
	ID     key   `json:"t,omitzero"`
	Closed int16 `json:"c,omitempty"` // how many of State.closed are this turn's
	Shown  int16 `json:"s,omitempty"` // how many of State.shown are this turn's
}

// shown is a text that a run delivered.
type shown struct{ Run, Text key }

// gap is what an output left open, and how often outputs of the turn did.
type gap struct {
	Print    key   `json:"p"`
	Feedback key   `json:"f,omitzero"`  // the worst item of a verifier's feedback about a rejected one
	Rejected bool  `json:"r,omitempty"` // it was a rejected completion
	Missing  kinds `json:"m,omitempty"` // the kinds of evidence that a rejected one lacked
	Shown    kinds `json:"s,omitempty"` // the kinds of evidence there were
	Times    int32 `json:"n"`
}

// Equal reports whether s and t remember the same.
func (s State) Equal(t State) bool {
	return s.Seq == t.Seq && s.resets() == t.resets() && s.Continues == t.Continues && s.HandedOver == t.HandedOver &&
		s.sent == t.sent && s.turn == t.turn && slices.Equal(s.past, t.past) && slices.Equal(s.closed, t.closed) &&
		slices.Equal(s.shown, t.shown) && slices.Equal(s.gaps, t.gaps) &&
		slices.EqualFunc(s.records, t.records, record.equal)
}

func (s State) resets() int { return max(s.Resets, 1) }

// used is how often the turn was continued, by what the state and the host know. More than a record holds is as good as
// infinite.
func (s State) used(o Output) int { return min(max(s.Continues, o.Continues), math.MaxInt32) }

// ours reports whether text is a message of ours that came back, and not the human's words.
func (s State) ours(text string) bool {
	if coach.IsOurs(text) {
		return true
	}
	text = strings.TrimSpace(text)
	return text != "" && s.sent != key{} && s.sent == keyOf(messageKey, text)
}

func (s State) isClosed(run string) bool {
	return run != "" && len(s.closed) > 0 && slices.Contains(s.closed, keyOf(runKey, run))
}

func (s State) wasShown(run, text string) bool {
	if run == "" || len(s.shown) == 0 {
		return false
	}
	k := keyOf(runKey, run)
	if !slices.ContainsFunc(s.shown, func(sh shown) bool { return sh.Run == k }) {
		return false // spares hashing the text
	}
	return slices.Contains(s.shown, shown{k, keyOf(textKey, text)})
}

// closeRun remembers that run has had its one continuation or its completion.
func (s *State) closeRun(run string) {
	if run == "" {
		return
	}
	if s.turn.Closed == maxClosed {
		s.HandedOver = true
		s.closed = without(s.closed, len(s.closed)-maxClosed)
		s.turn.Closed--
	}
	s.closed = with(s.closed, keyOf(runKey, run))
	s.turn.Closed++
}

// show remembers that run delivered text.
func (s *State) show(run, text string) {
	if run == "" {
		return
	}
	if s.turn.Shown == maxShown {
		s.shown = without(s.shown, len(s.shown)-maxShown)
		s.turn.Shown--
	}
	s.shown = with(s.shown, shown{keyOf(runKey, run), keyOf(textKey, text)})
	s.turn.Shown++
}

// seen returns how often outputs of this turn left the gap g open.
func (s State) seen(g gap) int {
	n := 0
	for _, old := range s.gaps {
		if g.same(old) {
			n += int(old.Times)
		}
	}
	return n
}

// addGap remembers g, and forgets the gap that was not met for longest when there are too many.
func (s *State) addGap(g gap) {
	at := 0 // of the one that goes
	g.Times = 1
	for i, old := range s.gaps {
		times := old.Times
		old.Times = 1
		if old == g {
			at, g.Times = i, min(times, math.MaxInt32-1)+1
			break
		}
	}
	if g.Times == 1 && len(s.gaps) < maxGaps {
		s.gaps = with(s.gaps, g)
		return
	}
	gaps := slices.Clone(s.gaps)
	copy(gaps[at:], gaps[at+1:])
	gaps[len(gaps)-1] = g
	s.gaps = gaps
}

// with returns a copy of list with v at its end.
func with[T any](list []T, v T) []T {
	out := make([]T, len(list)+1)
	copy(out, list)
	out[len(list)] = v
	return out
}

// without returns a copy of list without its i-th entry.
func without[T any](list []T, i int) []T {
	out := make([]T, 0, len(list)-1)
	return append(append(out, list[:i]...), list[i+1:]...)
}
