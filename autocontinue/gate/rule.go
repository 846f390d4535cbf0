package gate

import (
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
	then     ruling
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
func (r rule) allows() bool { return r.then == allow || r.then == always }

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

func (r rule) isConditional() bool { return len(r.when) > 0 || r.thread != "" }

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

// parseRule returns what it has read, also with an error.
func parseRule(v value) (r rule, err error) {
	if !v.isObject() {
		return r, errors.New(`a rule is an object, such as {"tool": "profile_get", "then": "allow"}`)
	}
	r.raw = compact(v.raw)
	within, examples := "", make(map[string][]string)
	texts := map[string]*string{
		"tool": &r.tool, "gate": (*string)(&r.gate), "thread": &r.thread, "then": (*string)(&r.then), "within": &within,
		"escalate": &r.escalate,
	}
	for _, m := range v.list {
		switch text := texts[m.key]; {
		case text != nil:
			if *text = m.text; m.text == "" {
				err = errors.New("write a string that is not empty")
			}
		case m.key == "when":
			r.when, err = parseConditions(m)
		case m.key == "match" || m.key == "not_match":
			if examples[m.key] = m.strings(); examples[m.key] == nil {
				err = errors.New(`write names of tools, such as ["weight_delete"]`)
			}
		default:
			err = errors.New("a rule has only tool, gate, thread, when, then, within, escalate, match, not_match")
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", brief(m.key, 60), err)
		}
	}
	if within != "" {
		if r.within, _ = time.ParseDuration(within); r.within <= 0 || r.within > maxTTL {
			return r, errors.New(`within: write a time such as "30s", "10m" or "2h"`)
		}
	}
	if err := r.check(); err != nil {
		return r, err
	}
	r.describe()
	for field, list := range examples {
		for _, tool := range list {
			if r.names(Tool, r.thread, tool) != (field == "match") {
				return r, fmt.Errorf("%s: this does not hold for %q", field, brief(tool, 100))
			}
		}
	}
	return r, nil
}

func (r *rule) check() error {
	switch {
	case strictness[r.then] == 0:
		return fmt.Errorf(`"then" must be allow, ask, deny or always, not %q`, brief(string(r.then), 60))
	case r.tool == "" && r.gate != Context && r.gate != Response:
		return errors.New(`name a "tool", or a "gate": context or response`)
	case r.tool != "" && r.gate != "" && r.gate != Tool:
		return fmt.Errorf("a rule about a tool cannot be about the %s gate: write two rules", brief(string(r.gate), 60))
	case r.then != ask && (r.within > 0 || r.escalate != ""):
		return errors.New("within and escalate are for a rule that asks")
	case r.tool == "":
		return nil
	case strings.ContainsFunc(strings.ReplaceAll(r.tool, "*", ""), notInTool):
		return errors.New("tool: a pattern has letters a-z, A-Z, digits and _ - . : / and *, which matches any text; " +
			"nothing else is a wildcard")
	case r.then == always && strings.Contains(r.tool, "*"):
		return errors.New("a rule that always allows names one tool, without *")
	case isVague(r.tool) && r.then != forbid:
		return fmt.Errorf("tool %q matches tools that nobody has thought of: it may only deny, not %s",
			brief(r.tool, maxTool), r.then)
	}
	return nil
}
