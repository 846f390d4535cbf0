package autocontinue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// stateVersion grows whenever older code cannot read, or would drop, what is written: a new field, reason or tier too.
const stateVersion = 4

// ErrStateVersion is wrapped by the error for a stored state of a newer version of this package. Its version number
// says so, or a field that this version does not know. Such a state is not empty, and it is not written back without
// what could not be read. Its outputs are delivered, or wait for a process of the newer version.
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

// UnmarshalJSON reads what MarshalJSON wrote, in this version or an older one. A newer version is [ErrStateVersion].
// What no version wrote is another error. After an error s is unchanged.
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
	var j stateJSON
	err := fmt.Errorf("version %d, which no program writes any more", head.Version)
	if head.Version == stateVersion {
		err = decodeStrictly(data, &j)
	}
	if err == nil {
		err = j.check()
	}
	if err != nil {
		return fmt.Errorf("autocontinue: state: %w", err)
	}
	*s = State{j.Seq, j.Resets, j.Continues, j.HandedOver, j.history}
	return nil
}

// decodeStrictly decodes data into v, which has a field for all of it: other fields would be lost at the next write.
func decodeStrictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok && json.Unmarshal(data, v) == nil {
		return fmt.Errorf("%w: this one does not know the field %.60s", ErrStateVersion, field)
	}
	return err
}

// check reports what would make the rules fail: for one, a count below zero would raise the cap.
func (j stateJSON) check() error {
	if j.Seq < 0 || j.Resets < 0 || j.Continues < 0 || j.Stage.Done < 0 {
		return errors.New("a count below zero")
	}
	if len(j.Turns) > maxTurns || len(j.Gaps) > maxGaps || len(j.Records) > maxRecords {
		return errors.New("too many entries")
	}
	for _, t := range j.Turns {
		if len(t.Closed) > maxClosed || len(t.Shown) > maxShown {
			return errors.New("a turn with too many runs")
		}
	}
	return nil
}
