package skills

import "strings"

// Registry asks several detectors in order. It never changes once built, and is safe for concurrent use if its detectors
// are. A nil one, like the zero value, recognises nothing. A registry is a [Detector] itself.
type Registry struct{ detectors []Detector }

// NewRegistry returns a registry of ds in their order. It keeps neither the slice nor a pointer to a [Skill]: changing
// them later changes nothing. Nil detectors are left out.
func NewRegistry(ds ...Detector) *Registry {
	r := &Registry{detectors: make([]Detector, 0, len(ds))}
	for _, d := range ds {
		switch d := d.(type) {
		case nil:
		case *Skill:
			if d != nil {
				r.detectors = append(r.detectors, *d)
			}
		case *Registry:
			if d != nil {
				r.detectors = append(r.detectors, d.detectors...)
			}
		default:
			r.detectors = append(r.detectors, d)
		}
	}
	return r
}

// Detect returns the skill that was asked for, and whether there is one.
//
// All detectors are asked with the text alone, then all with the phase alone, so that an explicit trigger beats the
// phase. Within each pass the first detector in order that recognises a skill wins, wherever its trigger stands in the
// text.
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

// Phases returns the phases of the registry's skills in order, each once, for a host that lets people choose one. What a
// detector that is not a [Skill] recognises is not known beforehand and not listed: Detect with the phase alone is what
// tells whether a phase is known.
func (r *Registry) Phases() []string {
	if r == nil {
		return nil
	}
	var phases []string
	seen := make(map[string]bool)
	for _, d := range r.detectors {
		s, _ := d.(Skill)
		phase := strings.TrimSpace(s.Phase)
		if key := strings.ToLower(phase); key != "" && !seen[key] {
			seen[key] = true
			phases = append(phases, phase)
		}
	}
	return phases
}
