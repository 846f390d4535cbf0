package autocontinue

import "slices"

// record is a decision about an output with an ID. A session keeps several, so it is small.
type record struct {
	Output    key        `json:"o"`
	Reason    reasonCode `json:"r"`
	Tier      tierCode   `json:"t,omitempty"`
	Attempt   uint8      `json:"a,omitempty"` // 1 or 2: the third time is no continuation
	Continues int32      `json:"c,omitempty"`
	ID        decisionID `json:"id"`
	Message   packed     `json:"m,omitempty"`
	Rare      *rare      `json:"x,omitempty"` // never changed
}

// rare is what few records have.
type rare struct {
	Note     string   `json:"n,omitempty"` // when it is not the reason's own
	Verified string   `json:"v,omitempty"`
	Degraded []string `json:"d,omitempty"`
}

func (r record) equal(t record) bool {
	x, y := r.rare(), t.rare()
	r.Rare, t.Rare = nil, nil
	return r == t && x.Note == y.Note && x.Verified == y.Verified && slices.Equal(x.Degraded, y.Degraded)
}

func (r record) rare() rare {
	if r.Rare == nil {
		return rare{}
	}
	return *r.Rare
}

// recorded returns the decision about the output with this ID.
func (s State) recorded(id string) (record, bool) {
	if id == "" || len(s.records) == 0 {
		return record{}, false
	}
	k := keyOf(outputKey, id)
	for _, r := range s.records {
		if r.Output == k {
			return r, true
		}
	}
	return record{}, false
}

// record remembers d, which is about o.
func (s *State) record(o Output, id decisionID, d Decision) {
	r := record{
		Output: keyOf(outputKey, o.ID), ID: id, Reason: codeOf(d.Reason), Message: pack(d.Message), Tier: tierCodeOf(d.Tier),
		Attempt: uint8(d.Attempt), Continues: int32(d.Continues),
	}
	own := d.Note
	if own == note(d.Reason) {
		own = ""
	}
	if own != "" || d.Verified != "" || len(d.Degraded) > 0 {
		r.Rare = &rare{Note: own, Verified: d.Verified, Degraded: slices.Clone(d.Degraded)}
	}
	records := s.records
	if len(records) >= maxRecords {
		records = records[len(records)-maxRecords+1:]
	}
	s.records = with(records, r)
}

// superseded returns what becomes of r when its turn is over: a continuation is not sent any more.
func (r record) superseded() record {
	if !r.continues() {
		return r
	}
	return record{Output: r.Output, ID: r.ID, Reason: codeOf(ReasonSuperseded), Continues: r.Continues}
}

func (r record) continues() bool {
	a, _, _ := r.Reason.reason().verdict()
	return a == Continue
}

// replay returns the decision that r records.
func (r record) replay() Decision {
	x := r.rare()
	d := Decision{
		ID: r.ID.String(), Reason: r.Reason.reason(), Note: x.Note, Message: r.Message.unpack(), Tier: r.Tier.tier(),
		Attempt: int(r.Attempt), Continues: int(r.Continues), Verified: x.Verified, Degraded: slices.Clone(x.Degraded), Replayed: true,
	}
	d.Action, d.Outcome, _ = d.Reason.verdict()
	if d.Note == "" {
		d.Note = note(d.Reason)
	}
	return d
}
