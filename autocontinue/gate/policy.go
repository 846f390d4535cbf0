package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Then is what a rule, or a whole policy, says about a subject.
type Then string

// The verdicts, from the mildest to the strictest.
const (
	Allow  Then = "allow" // it passes
	Ask    Then = "ask"   // a human is asked
	Forbid Then = "deny"  // it does not pass, whatever a human says
)

// Bounds of a policy.
const (
	maxPolicy = 1 << 20 // bytes
	maxRules  = 1_000
)

// Verdict is a policy's answer about one subject.
type Verdict struct {
	Then Then
	Rule string // the strictest rule that matched, or why none did, for humans
}

// Policy is a list of rules. The zero Policy has none: tools are denied, everything else is asked. A Policy does not change
// and is safe for concurrent use.
//
// Its JSON is what [ParsePolicy] reads.
type Policy struct {
	rules []Rule
}

// PolicyError says which rule of a policy is bad, and why.
type PolicyError struct {
	Rule    int    // from 1; 0 is the whole policy
	Name    string // the rule's tool or gate, when it could be read
	Problem string
}

func (e *PolicyError) Error() string {
	switch {
	case e.Rule == 0:
		return "policy: " + e.Problem
	case e.Name == "":
		return fmt.Sprintf("policy: rule %d: %s", e.Rule, e.Problem)
	}
	return fmt.Sprintf("policy: rule %d (%s): %s", e.Rule, e.Name, e.Problem)
}

// ParsePolicy reads a policy: a JSON array of rules, whose fields are those of [Rule].
//
//	[{"tool": "profile_get", "then": "allow"},
//	 {"tool": "*_delete", "then": "ask", "match": ["weight_delete"]},
//	 {"tool": "*_save_batch", "when": [{"at": "/rows", "count_over": 50}], "then": "deny"},
//	 {"gate": "response", "then": "allow"}]
//
// What is not understood is an error, never passed over: an unknown field, a pattern that looks as if more than * were
// special, a condition without a test, an example that does not hold. The error is a [*PolicyError].
func ParsePolicy(data []byte) (Policy, error) {
	if len(data) > maxPolicy {
		return Policy{}, &PolicyError{Problem: fmt.Sprintf("it has %d bytes, at most %d are read", len(data), maxPolicy)}
	}
	raw, err := strict(data)
	if bad := (*BodyError)(nil); errors.As(err, &bad) {
		line := 1 + bytes.Count(data[:min(bad.Offset, len(data))], []byte("\n"))
		return Policy{}, &PolicyError{Problem: fmt.Sprintf("line %d: %s", line, bad)}
	}
	list, object, ok := members(raw)
	if !ok || object {
		return Policy{}, &PolicyError{Problem: "it is no list: write [rule, rule, …], or [] for none"}
	}
	if len(list) > maxRules {
		return Policy{}, &PolicyError{Problem: fmt.Sprintf("it has %d rules, at most %d are read", len(list), maxRules)}
	}
	var p Policy
	for i, m := range list {
		r, err := parseRule(m.raw)
		if err != nil {
			return Policy{}, &PolicyError{Rule: i + 1, Name: ruleName(m.raw), Problem: err.Error()}
		}
		p.rules = append(p.rules, r)
	}
	written, err := p.MarshalJSON() // some characters are longer written than read
	if err == nil && len(written) > maxPolicy {
		err = fmt.Errorf("written out it has %d bytes, and then it could not be read again: at most %d are taken", len(written), maxPolicy)
	}
	if err != nil {
		return Policy{}, &PolicyError{Problem: err.Error()}
	}
	return p, nil
}

// ruleName returns how a human finds a rule again in the file.
func ruleName(raw json.RawMessage) string {
	list, _, _ := members(raw)
	for _, m := range list {
		if (m.key == "tool" || m.key == "gate") && m.raw[0] == '"' && len(m.raw) <= maxTool {
			return m.key + " " + Visible(unquote(m.raw))
		}
	}
	return ""
}

// Rules returns a copy of the rules in their written order.
func (p Policy) Rules() []Rule {
	rules := make([]Rule, len(p.rules))
	for i, r := range p.rules {
		rules[i] = r.clone()
	}
	return rules
}

// MarshalJSON writes the policy as ParsePolicy reads it.
func (p Policy) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p.Rules()); err != nil {
		return nil, fmt.Errorf("gate: policy: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// UnmarshalJSON is [ParsePolicy].
func (p *Policy) UnmarshalJSON(data []byte) error {
	parsed, err := ParsePolicy(data)
	if err == nil {
		*p = parsed
	}
	return err
}

// Judge returns what the policy says about a subject, whose body need not have passed a session. Only Kind, Tool and Body
// count. In order:
//
//  1. A subject that no session would take, such as one with a bad body, is denied.
//  2. Of the rules that match the strictest wins: deny before ask before allow. The order of the rules is nothing.
//  3. A tool that no rule names is unknown, and denied. "*" alone names none.
//  4. Everything else is asked.
func (p Policy) Judge(sub Subject) Verdict {
	body, err := readBody(sub.Kind, sub.Body)
	switch {
	case err == nil && sub.Kind == Tool:
		err = checkTool(sub.Tool)
	case sub.Kind != Context && sub.Kind != Tool && sub.Kind != Response:
		err = errors.New("the kind is none of context, tool, response")
	}
	if err != nil {
		return Verdict{Forbid, "it cannot be read: " + err.Error()}
	}
	return p.judge(sub.Kind, sub.Tool, body)
}

// judge is Judge for a subject that was checked.
func (p Policy) judge(kind Kind, tool string, body json.RawMessage) Verdict {
	known := kind != Tool
	var best Verdict
	for _, r := range p.rules {
		if !r.names(kind, tool) {
			continue
		}
		known = known || r.Tool != "*"
		if !r.matches(body) {
			continue
		}
		if c := strictness(r.Then) - strictness(best.Then); c > 0 || c == 0 && r.text < best.Rule {
			best = Verdict{r.Then, r.text}
		}
	}
	switch {
	case best.Then == Forbid:
		return best
	case !known:
		return Verdict{Forbid, "no rule names this tool"}
	case best.Then == "":
		return Verdict{Ask, "no rule matches"}
	}
	return best
}

func strictness(t Then) int {
	switch t {
	case Allow:
		return 1
	case Ask:
		return 2
	case Forbid:
		return 3
	}
	return 0
}
