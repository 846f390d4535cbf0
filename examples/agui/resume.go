package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// ResumeEntry is one answer to an interrupt.
type ResumeEntry struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"` // resolved, cancelled
	Payload     json.RawMessage `json:"payload,omitempty"`
}

// ErrResume is wrapped by every error of [Resume].
var ErrResume = errors.New("agui: the resume cannot be used")

// Resume turns the answers of an input into decisions of the user by. The host knows that name. items are those of
// the run. As the protocol demands, the answers cover each item that waits, and nothing else. With an error there are
// no decisions. Resolve may still refuse a decision.
func Resume(items []gate.Item, entries []ResumeEntry, by string) ([]gate.Decision, error) {
	open := make(map[string]gate.Item, len(items))
	for _, it := range items {
		if it.Status == gate.Pending {
			open[it.ID] = it
		}
	}
	var decisions []gate.Decision
	for i, e := range entries {
		it, ok := open[e.InterruptID]
		if !ok {
			return nil, fmt.Errorf("%w: entry %d answers an interrupt that is not open, or is answered twice", ErrResume, i+1)
		}
		delete(open, e.InterruptID)
		d, err := decide(it, e)
		if err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", ErrResume, i+1, err)
		}
		d.By = by
		decisions = append(decisions, d)
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%w: %d open interrupts are not answered: answer all of them at once", ErrResume, len(open))
	}
	return decisions, nil
}

// payload has all fields of all schemas.
type payload struct {
	Approved      *bool           `json:"approved"`
	Digest        string          `json:"digest"`
	Reason        string          `json:"reason"`
	EditedArgs    json.RawMessage `json:"editedArgs"`
	EditedPayload json.RawMessage `json:"editedPayload"`
	EditedText    *string         `json:"editedText"`
}

func decide(it gate.Item, e ResumeEntry) (gate.Decision, error) {
	d := gate.Decision{Item: it.ID, Digest: it.Digest, Action: gate.Deny}
	switch e.Status {
	case "cancelled":
		if len(e.Payload) > 0 && string(e.Payload) != "null" {
			return d, errors.New("a cancelled entry has no payload")
		}
		d.Reason = "cancelled"
		return d, nil
	case "resolved":
	default:
		return d, fmt.Errorf("status %q must be resolved or cancelled", e.Status)
	}
	var p payload
	dec := json.NewDecoder(bytes.NewReader(e.Payload))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return d, errors.New("the payload is not what the interrupt's responseSchema asks for")
	}
	if _, more := dec.Token(); more != io.EOF {
		return d, errors.New("something follows the payload")
	}
	switch {
	case p.Approved == nil:
		return d, errors.New("the payload does not say whether it is approved")
	case p.Digest == "":
		return d, errors.New("the payload does not repeat the digest of the interrupt's metadata")
	}
	d.Digest, d.Reason = p.Digest, p.Reason
	body, err := p.edit(it)
	switch {
	case err != nil:
		return d, err
	case !*p.Approved && body != nil:
		return d, errors.New("a denial has no edit")
	case !*p.Approved:
	case body != nil:
		d.Action, d.Body = gate.Edit, body
	default:
		d.Action = gate.Approve
	}
	return d, nil
}

// edit returns the body that replaces the proposed one, nil for none.
func (p payload) edit(it gate.Item) (json.RawMessage, error) {
	edits := map[gate.Kind]bool{
		gate.Tool: p.EditedArgs != nil, gate.Context: p.EditedPayload != nil, gate.Response: p.EditedText != nil,
	}
	for kind, there := range edits {
		if there && kind != it.Kind {
			return nil, fmt.Errorf("a %s has no such edit", it.Kind)
		}
	}
	switch {
	case p.EditedArgs != nil:
		return p.EditedArgs, nil
	case p.EditedPayload != nil:
		return p.EditedPayload, nil
	case p.EditedText != nil:
		_, a2ui := answer(it.Body)
		return json.Marshal(struct {
			Text string          `json:"text"`
			A2UI json.RawMessage `json:"a2ui,omitempty"`
		}{*p.EditedText, a2ui})
	}
	return nil, nil
}
