package skills

// Skill is a way of working that an agent was asked for.
type Skill struct {
	Name, Trigger, Phase, Description, EvidenceHint string
}

// Query is what is known about a turn.
type Query struct{ Text, Phase string }

// Detector recognises a skill.
type Detector interface{ Detect(q Query) (Skill, bool) }
