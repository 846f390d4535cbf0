package gate

import "encoding/json"

// Then is what a rule, or a whole policy, says about a subject.
type Then string

// The verdicts, from the mildest to the strictest.
const (
	Allow  Then = "allow"
	Ask    Then = "ask"
	Forbid Then = "deny"
)

// Verdict is a policy's answer.
type Verdict struct {
	Then Then
	Rule string // the strictest rule that matched, or why none did, for humans
}

// Policy is a list of rules. The zero Policy has none: tools are denied, everything else is asked. A Policy does not
// change and is safe for concurrent use.
type Policy struct {
	rules []Rule
}

// Rule is one rule of a policy.
type Rule struct {
	Tool     string            `json:"tool,omitempty"`
	Gate     Kind              `json:"gate,omitempty"`
	When     []Condition       `json:"when,omitempty"`
	Then     Then              `json:"then"`
	Match    []json.RawMessage `json:"match,omitempty"`
	NotMatch []json.RawMessage `json:"not_match,omitempty"`
}

// Condition is one test of a body.
type Condition struct {
	At string `json:"at"`
}

// ParsePolicy reads a policy: a JSON array of rules.
func ParsePolicy(data []byte) (Policy, error) { return Policy{}, errTodo }

// Rules returns a copy of the rules in their written order.
func (p Policy) Rules() []Rule { return nil }

// Judge returns what the policy says about a subject.
func (p Policy) Judge(sub Subject) Verdict { return Verdict{} }
