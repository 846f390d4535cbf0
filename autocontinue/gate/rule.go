package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// rule is one rule of a policy. [ParsePolicy] describes its fields.
type rule struct {
	raw      json.RawMessage // as written, without white space
	tool     string
	gate     Kind
	thread   string
	when     []condition
	then     Then
	within   time.Duration
	escalate string

	what string // for people: its subject and conditions, without the outcome
	text string // for people: what and the outcome
}

const maxRuleText = 300 // characters of a rule beside every item that it is about

// brief shows at most limit characters of a text on one line.
func brief(s string, limit int) string {
	for len(s) > 4*limit && !utf8.RuneStart(s[4*limit]) {
		limit--
	}
	return plaintext.Visible(plaintext.Cut(s[:min(len(s), 4*limit)], limit))
}

func (r *rule) describe() {
	var b strings.Builder
	if b.WriteString("gate " + string(r.gate)); r.tool != "" {
		b.Reset()
		b.WriteString("tool " + r.tool)
	}
	if r.thread != "" {
		b.WriteString(" in thread " + r.thread)
	}
	for i, c := range r.when {
		b.WriteString([]string{" when ", " and "}[min(i, 1)] + c.String())
	}
	r.what = brief(b.String(), maxRuleText)
	r.text = r.what + ": " + r.outcome()
}

func (r rule) outcome() string {
	s := string(r.then)
	if r.within > 0 {
		s += " within " + r.within.String()
	}
	if r.escalate != "" {
		s += ", then " + brief(r.escalate, 60)
	}
	return s
}

// allows reports whether the rule lets something pass. What is unclear must then not match.
func (r rule) allows() bool { return r.then == Allow || r.then == always }

func (r rule) names(kind Kind, thread, tool string) bool {
	switch {
	case r.thread != "" && r.thread != thread:
		return false
	case r.tool == "":
		return kind == r.gate
	case r.allows():
		return kind == Tool && matchWildcard(r.tool, tool)
	}
	return kind == Tool && matchWildcard(fold(r.tool), fold(tool))
}

// isVague reports whether a tool's pattern names no tool in particular, such as "*" or "*_*".
func isVague(pattern string) bool { return strings.Trim(pattern, "*_-.:/") == "" }

func (r rule) matches(root *root, body value) outcome {
	j := judging{root, r.allows()}
	result := yes
	for _, c := range r.when {
		switch o := j.holds(c, body); {
		case o == no, o == unclear && j.allow:
			return no
		case o == refused:
			result = refused
		}
	}
	return result
}

func parseRule(v value) (rule, error) {
	if !v.isObject() {
		return rule{}, errors.New(`a rule is an object, such as {"tool": "profile_get", "then": "allow"}`)
	}
	r := rule{raw: compact(v.raw)}
	within, examples := "", make(map[string][]string)
	texts := map[string]*string{
		"tool": &r.tool, "gate": (*string)(&r.gate), "thread": &r.thread, "then": (*string)(&r.then), "within": &within,
		"escalate": &r.escalate,
	}
	for _, m := range v.list {
		var err error
		switch text := texts[m.key]; {
		case text != nil:
			if *text, err = m.string(); err == nil && *text == "" {
				err = errors.New("the text is empty")
			}
		case m.key == "when":
			r.when, err = parseConditions(m)
		case m.key == "match" || m.key == "not_match":
			if examples[m.key], err = m.strings(); err != nil {
				err = errors.New(`write names of tools, such as ["weight_delete"]; an example with arguments is not read any ` +
					"more: try the rules on calls with Policy.Judge or on the Rules page of the console")
			}
		default:
			return rule{}, fmt.Errorf("a rule has no field %q: it has tool, gate, thread, when, then, within, escalate, match, "+
				"not_match", brief(m.key, 60))
		}
		if err != nil {
			return rule{}, fmt.Errorf("%s: %w", m.key, err)
		}
	}
	if err := cmp.Or(r.setWithin(within), r.check()); err != nil {
		return rule{}, err
	}
	r.describe()
	for field, want := range map[string]bool{"match": true, "not_match": false} {
		for _, tool := range examples[field] {
			if r.names(Tool, r.thread, tool) != want {
				return rule{}, fmt.Errorf("%s: this does not hold for %q", field, brief(tool, 100))
			}
		}
	}
	return r, nil
}

func (r *rule) setWithin(text string) (err error) {
	if text == "" {
		return nil
	}
	if r.within, err = time.ParseDuration(text); err != nil || r.within <= 0 || r.within > maxTTL {
		return errors.New(`within: write a time such as "30s", "10m" or "2h"`)
	}
	return nil
}

func (r *rule) check() error {
	switch {
	case r.then == "":
		return errors.New(`"then" is missing: write allow, ask or deny`)
	case strictness[r.then] == 0:
		return fmt.Errorf("then: %q must be allow, ask, deny or always", brief(string(r.then), 60))
	case r.tool == "" && r.gate == "":
		return errors.New(`name a "tool", or a "gate": context or response`)
	case r.gate != "" && r.gate != Context && r.gate != Tool && r.gate != Response:
		return fmt.Errorf("gate: %q must be context, tool or response", brief(string(r.gate), 60))
	case r.tool != "" && r.gate != "" && r.gate != Tool:
		return fmt.Errorf("a rule about a tool cannot be about the %s gate: write two rules", r.gate)
	case r.tool == "" && r.gate == Tool:
		return errors.New(`a rule for the tool gate names a "tool"`)
	case r.then != Ask && (r.within > 0 || r.escalate != ""):
		return errors.New("within and escalate are for a rule that asks")
	case r.tool == "":
		return nil
	case strings.Contains(r.tool, "**"):
		return errors.New(`tool: "**" means the same as "*": write one`)
	case len(r.tool) > maxTool:
		return errors.New("tool: the pattern is too long for any tool's name")
	case strings.ContainsFunc(strings.ReplaceAll(r.tool, "*", ""), notInTool):
		return errors.New("tool: a pattern has letters a-z, A-Z, digits and _ - . : / and *, which matches any text; " +
			"nothing else is a wildcard")
	case r.then == always && strings.Contains(r.tool, "*"):
		return errors.New("a rule that always allows names one tool, without *")
	case isVague(r.tool) && r.then != Forbid:
		return fmt.Errorf("tool %q matches tools that nobody has thought of: it may only deny, not %s", r.tool, r.then)
	}
	return nil
}

func (v value) string() (string, error) {
	if !v.isString() {
		return "", errors.New("write a string")
	}
	return v.text, nil
}

func (v value) elements() ([]value, error) {
	if !v.isArray() || len(v.list) == 0 {
		return nil, errors.New("write a list of at least one value")
	}
	return v.list, nil
}
