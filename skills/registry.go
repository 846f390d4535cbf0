package skills

// Registry asks several detectors in order. It never changes, and it is safe for concurrent use if its detectors are.
// The zero value and nil recognise nothing. A registry is a [Detector] itself.
type Registry struct{ detectors []Detector }

// NewRegistry returns a registry of ds in their order, without the nil ones. It copies the slice and each pointed-to
// [Skill].
func NewRegistry(ds ...Detector) *Registry {
	r := &Registry{detectors: make([]Detector, 0, len(ds))}
	for _, d := range ds {
		switch d := d.(type) {
		case nil:
		case *Skill:
			if d != nil {
				r.detectors = append(r.detectors, *d)
			}
		default:
			r.detectors = append(r.detectors, d)
		}
	}
	return r
}

// Detect returns the skill that was asked for, and whether there is one.
//
// Detect asks all detectors with the text alone, then all with the phase alone. So an explicit trigger beats the
// phase. In each pass the first detector that recognises a skill wins, wherever its trigger is in the text.
func (r *Registry) Detect(q Query) (Skill, bool) {
	if r == nil {
		return Skill{}, false
	}
	for _, part := range [...]Query{{Text: q.Text}, {Phase: q.Phase}} {
		for _, d := range r.detectors {
			if s, ok := d.Detect(part); ok {
				return s, true
			}
		}
	}
	return Skill{}, false
}
