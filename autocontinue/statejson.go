package autocontinue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// stateVersion is one more whenever older code cannot read, or would drop, what is written: for a field, a reason or a tier
// more as well.
const stateVersion = 1

// ErrStateVersion is wrapped by the error for a stored state that a newer version of this package wrote, by its version
// or by a field that this one does not know. Such a state is never taken for an empty one, nor written back without what
// could not be read: its outputs are delivered, or wait for a process of the newer version.
var ErrStateVersion = errors.New("autocontinue: state of a newer version")

type stateJSON struct {
	Version    int      `json:"version"`
	Seq        int      `json:"seq,omitempty"`
	Resets     int      `json:"resets,omitempty"`
	Continues  int      `json:"continues,omitempty"`
	HandedOver bool     `json:"handed_over,omitempty"`
	Turns      []turn   `json:"turns,omitempty"`
	Closed     keys     `json:"closed,omitempty"`
	Shown      keys     `json:"shown,omitempty"` // run and text by turns
	Gaps       []gap    `json:"gaps,omitempty"`
	Records    []record `json:"records,omitempty"`
	Sent       key      `json:"sent,omitzero"`
}

// MarshalJSON writes the state as an object with its version. Its other fields are this package's own.
func (s State) MarshalJSON() ([]byte, error) {
	var pairs keys
	for _, sh := range s.shown {
		pairs = append(pairs, sh.Run, sh.Text)
	}
	var turns []turn // the current one is the last
	if s.turn != (turn{}) || len(s.past) > 0 {
		turns = with(s.past, s.turn)
	}
	return json.Marshal(stateJSON{
		Version: stateVersion, Seq: s.Seq, Resets: s.Resets, Continues: s.Continues, HandedOver: s.HandedOver,
		Turns: turns, Closed: s.closed, Shown: pairs, Gaps: s.gaps, Records: s.records, Sent: s.sent,
	})
}

// UnmarshalJSON reads what MarshalJSON wrote, in this version or an older one. A newer version is [ErrStateVersion];
// anything else that no version wrote is an error too. After an error s is unchanged.
func (s *State) UnmarshalJSON(data []byte) error {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("autocontinue: state: %w", err)
	}
	if head.Version > stateVersion {
		return fmt.Errorf("%w: %d, this one reads up to %d", ErrStateVersion, head.Version, stateVersion)
	}
	if head.Version < 1 {
		return errors.New("autocontinue: state: no version")
	}
	var j stateJSON
	if err := strict(data, &j); err != nil {
		return fmt.Errorf("autocontinue: state: %w", err)
	}
	if err := j.check(); err != nil {
		return fmt.Errorf("autocontinue: state: %w", err)
	}
	var pairs []shown
	for pair := range slices.Chunk(j.Shown, 2) {
		pairs = append(pairs, shown{pair[0], pair[1]})
	}
	*s = State{
		Seq: j.Seq, Resets: j.Resets, Continues: j.Continues, HandedOver: j.HandedOver,
		closed: j.Closed, shown: pairs, gaps: j.Gaps, records: j.Records, sent: j.Sent,
	}
	if last := len(j.Turns) - 1; last >= 0 {
		s.turn = j.Turns[last]
		s.past = append(s.past, j.Turns[:last]...)
	}
	return nil
}

// strict decodes data, all of whose fields v has: what is not read would be lost when the state is written again.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	if json.Unmarshal(data, v) == nil { // it is only that
		_, field, _ := strings.Cut(err.Error(), "unknown field ")
		return fmt.Errorf("%w: it has a field that this one does not know, %.60s", ErrStateVersion, field)
	}
	return err
}

// check reports what would make the rules fail: a count below zero could raise the cap, for one.
func (j stateJSON) check() error {
	if j.Seq < 0 || j.Resets < 0 || j.Continues < 0 {
		return errors.New("a count below zero")
	}
	closed, shown := 0, 0
	for _, t := range j.Turns {
		if t.Closed < 0 || t.Shown < 0 {
			return errors.New("a count below zero")
		}
		closed, shown = closed+int(t.Closed), shown+int(t.Shown)
		if t.Closed > maxClosed || t.Shown > maxShown {
			return errors.New("a turn with too many runs")
		}
	}
	if closed != len(j.Closed) || 2*shown != len(j.Shown) {
		return errors.New("the runs do not add up to those of the turns")
	}
	if len(j.Turns) > maxPast+1 || len(j.Gaps) > maxGaps || len(j.Records) > maxRecords {
		return errors.New("too many entries")
	}
	for _, g := range j.Gaps {
		if g.Times < 1 {
			return errors.New("a gap that was never met")
		}
	}
	for _, r := range j.Records {
		reason := r.Reason.reason()
		a, _, ok := reason.verdict()
		if !ok || a == Suppress || reason == ReasonError {
			return fmt.Errorf("a recorded decision with reason %.20q", reason)
		}
		if a == Continue && r.Message == "" {
			return errors.New("a recorded continuation without message")
		}
	}
	return nil
}
