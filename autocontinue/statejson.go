package autocontinue

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/coach"
)

// stateVersion grows whenever older code cannot read, or would drop, what is written: a new field, reason or tier too.
const stateVersion = 3

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
	var err error
	switch head.Version {
	case 2, stateVersion: // version 2 had no stages, and gaps without a goal
		err = decodeStrictly(data, &j)
	case 1:
		j, err = readVersion1(data)
	default:
		err = errors.New("no version")
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
	for _, r := range j.Records {
		v := r.Reason.verdict()
		if v.outcome == "" || v.action == Suppress || r.Reason == ReasonError {
			return fmt.Errorf("a recorded decision with reason %.20q", r.Reason)
		}
		if v.action == Continue && r.Message == "" {
			return errors.New("a recorded continuation without message")
		}
	}
	return nil
}

// stateVersion1 is how version 1 wrote a state. Lists of digests were one string, 12 characters each.
type stateVersion1 struct {
	stateJSON
	Turns []struct {
		ID     digest `json:"t"`
		Closed int    `json:"c"` // of the list below
		Shown  int    `json:"s"`
	} `json:"turns"`
	Closed  string          `json:"closed"`
	Shown   string          `json:"shown"` // run and text by turns
	Gaps    json.RawMessage // their folding was another
	Records []struct {
		Output   digest `json:"o"`
		Decision string `json:"id"` // base64

		Reason    Reason     `json:"r"`
		Tier      coach.Tier `json:"t"`
		Attempt   int        `json:"a"`
		Continues int        `json:"c"`
		Message   string     `json:"m"`
	} `json:"records"`
}

// readVersion1 reads all that the rules about counts, runs and turns need, and the recorded decisions. It drops the
// gaps of the turn at hand: the same gap gets at most two more coachings, within the cap.
func readVersion1(data []byte) (stateJSON, error) {
	var old stateVersion1
	if err := json.Unmarshal(data, &old); err != nil {
		return stateJSON{}, err
	}
	j := old.stateJSON
	var failed error
	next := func(list *string) (d digest) {
		n := min(12, len(*list))
		failed = errors.Join(failed, d.UnmarshalText([]byte((*list)[:n])))
		*list = (*list)[n:]
		return d
	}
	for _, t := range old.Turns {
		if t.Closed < 0 || t.Shown < 0 || t.Closed > maxClosed || t.Shown > maxShown {
			return stateJSON{}, errors.New("a turn with too many runs")
		}
		now := turn{ID: t.ID}
		for range t.Closed {
			now.Closed = append(now.Closed, report{Run: next(&old.Closed)})
		}
		for range t.Shown {
			now.Shown = append(now.Shown, report{Run: next(&old.Shown), Bytes: next(&old.Shown)})
		}
		j.history.Turns = append(j.history.Turns, now)
	}
	for _, r := range old.Records {
		id, err := base64.RawURLEncoding.DecodeString(r.Decision)
		if err != nil {
			return stateJSON{}, fmt.Errorf("a decision's ID: %w", err)
		}
		j.history.Records = append(j.history.Records, record{
			Output: r.Output, Decision: hex.EncodeToString(id), Reason: r.Reason, Note: r.Reason.verdict().note,
			Message: r.Message, Tier: r.Tier, Attempt: r.Attempt, Continues: r.Continues,
		})
	}
	return j, failed
}
