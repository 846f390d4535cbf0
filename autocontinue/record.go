package autocontinue

import "slices"

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
		Output: keyOf(outputKey, o.ID), ID: id, Reason: d.Reason, Message: d.Message, Tier: d.Tier, Attempt: d.Attempt,
		Continues: d.Continues,
	}
	x := rare{Verified: d.Verified, Degraded: slices.Clone(d.Degraded)}
	if d.Note != note(d.Reason) {
		x.Note = d.Note
	}
	if x.Note != "" || x.Verified != "" || len(x.Degraded) > 0 {
		r.Rare = &x
	}
	records := s.records
	if len(records) >= maxRecords {
		records = records[len(records)-maxRecords+1:]
	}
	s.records = with(records, r)
}

// superseded returns what becomes of r when its turn is over: a continuation is not sent any more.
func (r record) superseded() record {
	if a, _, _ := r.Reason.verdict(); a != Continue {
		return r
	}
	return record{Output: r.Output, ID: r.ID, Reason: ReasonSuperseded, Continues: r.Continues}
}

// replay returns the decision that r records.
func (r record) replay() Decision {
	x := r.rare()
	d := Decision{
		ID: r.ID.String(), Reason: r.Reason, Note: x.Note, Message: r.Message, Tier: r.Tier, Attempt: r.Attempt,
		Continues: r.Continues, Verified: x.Verified, Degraded: slices.Clone(x.Degraded), Replayed: true,
	}
	d.Action, d.Outcome, _ = r.Reason.verdict()
	if d.Note == "" {
		d.Note = note(r.Reason)
	}
	return d
}
