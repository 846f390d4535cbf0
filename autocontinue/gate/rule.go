package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rule is one rule of a policy: whom it is about, under which conditions, and what then.
type Rule struct {
	// Tool is a tool's exact name, or a pattern in which each * stands for any text, also none. "*" alone may only deny.
	Tool string `json:"tool,omitempty"`
	// Gate is Context or Response for a rule about one of these. With a tool it is Tool, or left out.
	Gate Kind `json:"gate,omitempty"`
	// When must all hold. None is always.
	When []Condition `json:"when,omitempty"`
	Then Then        `json:"then"`
	// Match and NotMatch are examples that are tried when the policy is loaded. For a tool each is a name, which tries the
	// pattern alone, or {"tool": name, "args": object}, which tries the conditions too; for another gate {"body": object}.
	Match    []json.RawMessage `json:"match,omitempty"`
	NotMatch []json.RawMessage `json:"not_match,omitempty"`

	text string // String, worded once
}

// maxRuleText is how many characters of a rule are shown beside every item it is about.
const maxRuleText = 300

// String words the rule without its examples, as in "tool *_save_batch when /rows count_over 50: ask", in one line of about
// 300 characters at most.
func (r Rule) String() string {
	var b strings.Builder
	if r.Tool != "" {
		b.WriteString("tool " + r.Tool)
	} else {
		b.WriteString("gate " + string(r.Gate))
	}
	for i, c := range r.When {
		b.WriteString([]string{" when ", " and "}[min(i, 1)] + c.String())
	}
	return brief(b.String(), maxRuleText) + ": " + string(r.Then)
}

// clone copies what a caller could change.
func (r Rule) clone() Rule {
	r.When = slices.Clone(r.When)
	for i, c := range r.When {
		r.When[i] = c.clone()
	}
	r.Match, r.NotMatch = cloneAll(r.Match), cloneAll(r.NotMatch)
	return r
}

func clone(raw json.RawMessage) json.RawMessage { return slices.Clone(raw) }

func cloneAll(list []json.RawMessage) []json.RawMessage {
	list = slices.Clone(list)
	for i, raw := range list {
		list[i] = clone(raw)
	}
	return list
}

// names reports whether the rule is about the subject's gate and tool, whatever the body.
func (r Rule) names(kind Kind, tool string) bool {
	if r.Tool == "" {
		return kind == r.Gate
	}
	return kind == Tool && matchWildcard(r.Tool, tool)
}

// matches reports whether the rule speaks about a subject that it names.
func (r Rule) matches(body json.RawMessage) bool {
	for _, c := range r.When {
		holds, readable := c.holds(body)
		if !readable {
			holds = r.Then != Allow
		}
		if !holds {
			return false
		}
	}
	return true
}

func parseRule(raw json.RawMessage) (Rule, error) {
	list, object, ok := members(raw)
	if !ok || !object {
		return Rule{}, errors.New(`a rule is an object, such as {"tool": "profile_get", "then": "allow"}`)
	}
	var r Rule
	var hasTool bool
	for _, m := range list {
		var err error
		var text string
		switch m.key {
		case "tool":
			hasTool = true
			if r.Tool, err = parseText(m.raw); err == nil {
				err = checkPattern(r.Tool)
			}
		case "gate":
			text, err = parseText(m.raw)
			r.Gate = Kind(text)
		case "then":
			text, err = parseText(m.raw)
			r.Then = Then(text)
		case "when":
			var conditions []json.RawMessage
			conditions, err = parseList(m.raw)
			for _, c := range conditions {
				var condition Condition
				if condition, err = parseCondition(c); err != nil {
					break
				}
				r.When = append(r.When, condition)
			}
		case "match":
			r.Match, err = parseList(m.raw)
		case "not_match":
			r.NotMatch, err = parseList(m.raw)
		default:
			return Rule{}, fmt.Errorf(`a rule has no field "%s": it has tool, gate, when, then, match, not_match`, brief(m.key, 60))
		}
		if err != nil {
			return Rule{}, fmt.Errorf("%s: %w", m.key, err)
		}
	}
	if err := r.check(hasTool); err != nil {
		return Rule{}, err
	}
	r.text = r.String()
	return r, r.try()
}

func (r Rule) check(hasTool bool) error {
	switch {
	case r.Then == "":
		return errors.New(`"then" is missing: write allow, ask or deny`)
	case r.Then != Allow && r.Then != Ask && r.Then != Forbid:
		return fmt.Errorf(`then: "%s" is none of allow, ask, deny`, brief(string(r.Then), 60))
	case hasTool && r.Tool == "":
		return errors.New("tool: the name is empty")
	case !hasTool && r.Gate == "":
		return errors.New(`name a "tool", or a "gate": context or response`)
	case r.Gate != "" && r.Gate != Context && r.Gate != Tool && r.Gate != Response:
		return fmt.Errorf(`gate: "%s" is none of context, tool, response`, brief(string(r.Gate), 60))
	case hasTool && r.Gate != "" && r.Gate != Tool:
		return fmt.Errorf("a rule about a tool cannot be about the %s gate: write two rules", r.Gate)
	case !hasTool && r.Gate == Tool:
		return errors.New(`a rule for the tool gate names a "tool"; "*" is every tool and may only deny`)
	case r.Tool == "*" && r.Then != Forbid:
		return fmt.Errorf(`tool "*" is every tool, also those that nobody has thought of: it may only deny, not %s`, r.Then)
	}
	return nil
}

// try tries the rule's own examples.
func (r Rule) try() error {
	for i, example := range append(slices.Clone(r.Match), r.NotMatch...) {
		field, want := "match", true
		if i >= len(r.Match) {
			field, want, i = "not_match", false, i-len(r.Match)
		}
		got, err := r.example(example)
		if err != nil {
			return fmt.Errorf("%s, example %d: %w", field, i+1, err)
		}
		if got != want {
			return fmt.Errorf("%s, example %d: %s does not hold: the rule %s", field, i+1, brief(string(example), 100), map[bool]string{true: "matches it", false: "does not match it"}[got])
		}
	}
	return nil
}

func (r Rule) example(raw json.RawMessage) (bool, error) {
	if raw[0] == '"' && r.Tool != "" {
		name := unquote(raw)
		return r.names(Tool, name), checkTool(name)
	}
	list, object, ok := members(raw)
	if !ok || !object || r.Tool == "" && len(list) != 1 || r.Tool != "" && len(list) != 2 {
		return false, r.exampleForm()
	}
	var tool string
	var body json.RawMessage
	var err error
	for _, m := range list {
		switch {
		case m.key == "tool" && r.Tool != "":
			if tool, err = parseText(m.raw); err == nil {
				err = checkTool(tool)
			}
		case m.key == "args" && r.Tool != "", m.key == "body" && r.Tool == "":
			kind := r.Gate
			if r.Tool != "" {
				kind = Tool
			}
			body, err = readBody(kind, m.raw)
		default:
			err = r.exampleForm()
		}
		if err != nil {
			return false, err
		}
	}
	kind := r.Gate
	if r.Tool != "" {
		kind = Tool
	}
	return r.names(kind, tool) && r.matches(body), nil
}

func (r Rule) exampleForm() error {
	if r.Tool != "" {
		return errors.New(`write a tool's name, or {"tool": "…", "args": {…}}`)
	}
	return errors.New(`write {"body": {…}}`)
}
