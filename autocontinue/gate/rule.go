package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

	what string // for people: whom and what it is about, without the outcome
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

// names reports whether the rule is about a gate, conversation and tool, whatever the body.
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

// matches reports whether a rule speaks about a body.
func (j judging) matches(r rule, body value) outcome {
	j.allow = r.allows()
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
	examples := make(map[string][]value)
	var fields []string
	for _, m := range v.list {
		var err error
		var text string
		if m.key != "when" && m.key != "match" && m.key != "not_match" {
			text, err = m.text()
		}
		fields = append(fields, m.key)
		switch m.key {
		case "tool":
			r.tool = text
		case "gate":
			r.gate = Kind(text)
		case "thread":
			r.thread = text
		case "then":
			r.then = Then(text)
		case "within":
			r.within, err = parseWithin(text, err)
		case "escalate":
			r.escalate = text
		case "when":
			var list []value
			list, err = m.elements()
			for i := 0; i < len(list) && err == nil; i++ {
				var c condition
				c, err = parseCondition(list[i], true)
				r.when = append(r.when, c)
			}
		case "match", "not_match":
			examples[m.key], err = m.elements()
		default:
			return rule{}, fmt.Errorf("a rule has no field %q: it has tool, gate, thread, when, then, within, escalate, match, "+
				"not_match", brief(m.key, 60))
		}
		if err != nil {
			return rule{}, fmt.Errorf("%s: %w", m.key, err)
		}
		if text == "" && !slices.Contains([]string{"when", "match", "not_match"}, m.key) {
			return rule{}, fmt.Errorf("%s: the text is empty", m.key)
		}
	}
	if err := r.check(fields); err != nil {
		return rule{}, err
	}
	r.describe()
	for field, want := range map[string]bool{"match": true, "not_match": false} {
		for i, example := range examples[field] {
			if err := r.try(example, want); err != nil {
				return rule{}, fmt.Errorf("%s, example %d: %w", field, i+1, err)
			}
		}
	}
	return r, nil
}

func parseWithin(text string, err error) (time.Duration, error) {
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > maxTTL {
		return 0, errors.New(`write a time such as "30s", "10m" or "2h"`)
	}
	return d, nil
}

func (r rule) check(fields []string) error {
	has := func(field string) bool { return slices.Contains(fields, field) }
	switch {
	case !has("then"):
		return errors.New(`"then" is missing: write allow, ask or deny`)
	case r.then == "" || strictness[r.then] == 0:
		return fmt.Errorf("then: %q must be allow, ask, deny or always", brief(string(r.then), 60))
	case !has("tool") && !has("gate"):
		return errors.New(`name a "tool", or a "gate": context or response`)
	case has("gate") && r.gate != Context && r.gate != Tool && r.gate != Response:
		return fmt.Errorf("gate: %q must be context, tool or response", brief(string(r.gate), 60))
	case has("tool") && has("gate") && r.gate != Tool:
		return fmt.Errorf("a rule about a tool cannot be about the %s gate: write two rules", r.gate)
	case !has("tool") && r.gate == Tool:
		return errors.New(`a rule for the tool gate names a "tool"`)
	case r.then != Ask && (has("within") || has("escalate")):
		return errors.New("within and escalate are for a rule that asks")
	case !has("tool"):
		return nil
	case strings.Contains(r.tool, "**"):
		return errors.New(`tool: "**" means the same as "*": write one`)
	case len(r.tool) > maxTool:
		return errors.New("tool: the pattern is too long for any tool's name")
	case strings.ContainsFunc(strings.ReplaceAll(r.tool, "*", ""), notInTool):
		return errors.New("tool: a pattern has letters a-z, A-Z, digits and _ - . : / and *, which stands for any text; " +
			"nothing else is a wildcard")
	case r.then == always && strings.Contains(r.tool, "*"):
		return errors.New("a rule that always allows names one tool, without *")
	case isVague(r.tool) && r.then != Forbid:
		return fmt.Errorf("tool %q matches tools that nobody has thought of: it may only deny, not %s", r.tool, r.then)
	}
	return nil
}

// try compares the rule with one of its own examples.
func (r rule) try(example value, want bool) error {
	form := errors.New(`write {"body": {…}}`)
	if r.tool != "" {
		form = errors.New(`write a tool's name, or {"tool": "…", "args": {…}}`)
	}
	j := judging{root: &root{}, canonical: make(map[canonicalKey]string), texts: make(map[*byte]string)}
	got := false
	switch {
	case example.isString() && r.tool != "":
		name := unquote(example.raw)
		if err := checkTool(name); err != nil {
			return err
		}
		got = r.names(Tool, r.thread, name)
	case example.isObject():
		tool, body, kind := "", value{}, r.gate
		for _, m := range example.list {
			var err error
			switch {
			case m.key == "tool" && r.tool != "":
				if tool, err = m.text(); err == nil {
					err = checkTool(tool)
				}
			case m.key == "args" && r.tool != "", m.key == "body" && r.tool == "":
				if r.tool != "" {
					kind = Tool
				}
				_, body, err = readBody(kind, m.raw)
			default:
				err = form
			}
			if err != nil {
				return err
			}
		}
		if body.raw == nil || (tool == "") != (r.tool == "") {
			return form
		}
		got = r.names(kind, r.thread, tool) && j.matches(r, body) == yes
	default:
		return form
	}
	if got != want {
		return fmt.Errorf("%s does not hold: the rule %s", brief(string(example.raw), 100),
			map[bool]string{true: "matches it", false: "does not match it"}[got])
	}
	return nil
}

// text returns a string of a rule.
func (v value) text() (string, error) {
	if !v.isString() {
		return "", errors.New("write a string")
	}
	return unquote(v.raw), nil
}

// elements returns the elements of a list of a rule.
func (v value) elements() ([]value, error) {
	if !v.isArray() || len(v.list) == 0 {
		return nil, errors.New("write a list of at least one value")
	}
	return v.list, nil
}
