package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// ruling is what a rule says.
type ruling string

const (
	allow  ruling = "allow"
	ask    ruling = "ask"
	forbid ruling = "deny"
	always ruling = "always" // allow, even where another rule asks
)

var statusOf = map[ruling]Status{allow: Approved, ask: Pending, forbid: Denied}

// Bounds of a policy.
const (
	maxPolicy = 1 << 20 // bytes
	maxRules  = 1_000
)

// verdict is the answer of a policy about one subject.
type verdict struct {
	then     ruling
	rule     string        // for people: the subject, conditions and outcome of the rule, or why none decided
	within   time.Duration // ask: how long a person has; 0 leaves it to Options.TTL
	escalate string        // ask: who is asked when that time is over
}

// Policy is a list of rules. The zero Policy has none: tools are denied, everything else is asked. A Policy does not
// change and is safe for concurrent use. Its JSON is the text that [ParsePolicy] reads.
type Policy struct {
	list *[]rule // a pointer, so that policies can be compared
}

// ParsePolicy reads a policy: a JSON array of rules, which README.md of this package describes. What it does not
// understand is an error.
//
//	[{"tool": "profile_get", "then": "allow"},
//	 {"tool": "*_delete", "then": "ask", "within": "10m", "escalate": "on call", "match": ["weight_delete"]},
//	 {"tool": "*_save", "when": [{"at": "/rows", "any": {"at": "/kcal", "over": 5000}}], "then": "deny"},
//	 {"tool": "bash", "when": [{"at": "/command", "command": ["git status *", "go test *"]}], "then": "allow"},
//	 {"gate": "response", "then": "allow"}]
func ParsePolicy(data []byte) (Policy, error) {
	if len(data) > maxPolicy {
		return Policy{}, fmt.Errorf("policy: it has %d bytes; the limit is %d", len(data), maxPolicy)
	}
	v, err := readJSON(data)
	if bad := (*bodyError)(nil); errors.As(err, &bad) {
		line := 1 + bytes.Count(data[:min(bad.offset, len(data))], []byte("\n"))
		return Policy{}, fmt.Errorf("policy: line %d: %s", line, bad)
	}
	rules, ok := v.([]any)
	if !ok || len(rules) > maxRules {
		return Policy{}, fmt.Errorf("policy: it is not a list of at most %d rules: write [rule, rule, …], or [] for none",
			maxRules)
	}
	var raws []json.RawMessage
	json.Unmarshal(data, &raws) // it was read before
	list := make([]rule, len(raws))
	for i, raw := range raws {
		r, err := parseRule(raw, rules[i])
		if list[i] = r; err != nil {
			name := brief(cmp.Or(r.tool, string(r.gate)), maxTool)
			return Policy{}, fmt.Errorf("policy: rule %d (%s): %w", i+1, name, err)
		}
	}
	return Policy{&list}, nil
}

func (p Policy) rules() []rule { return *cmp.Or(p.list, new([]rule)) }

// Warnings says which rules probably do not do what they should, such as one that tests a shell line with like.
func (p Policy) Warnings() (warnings []string) {
	for i, r := range p.rules() {
		for _, c := range r.when {
			if hint := c.shellHint(r.tool); hint != "" {
				warnings = append(warnings, fmt.Sprintf("rule %d (%s): %s", i+1, r.rule, hint))
			}
		}
	}
	return warnings
}

// String returns the rules as they were written, without white space, one a line. [ParsePolicy] reads it.
func (p Policy) String() string {
	var lines []string
	for _, r := range p.rules() {
		lines = append(lines, "\n  "+string(r.raw))
	}
	return "[" + strings.Join(lines, ",") + "\n]\n"
}

// MarshalJSON is [Policy.String].
func (p Policy) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON is [ParsePolicy].
func (p *Policy) UnmarshalJSON(data []byte) (err error) {
	*p, err = ParsePolicy(data)
	return err
}

// Judge returns the status that a subject gets: Approved, Denied, or Pending if a person is asked. rule tells people
// which rule decided, or why none did. Only Kind, Thread, Tool and Body count, and the body need not come from a
// session. The rules, in order:
//
//  1. A subject that no session would accept, such as one with a bad body, is denied.
//  2. Of the rules that match, the strictest wins: deny, always, ask, allow. Their order does not count.
//  3. A tool that no rule names is unknown, and denied. A pattern such as "*" names none.
//  4. Everything else is asked.
//
// A policy alone knows no files: it takes a path as it is written. [Session.Judge] resolves it.
func (p Policy) Judge(sub Subject) (status Status, rule string) {
	v := p.judge(&root{}, sub)
	return statusOf[v.then], v.rule
}

// Overview returns what the rules without conditions say about a gate, or about a tool, and which of them decided.
// unless are the rules with conditions that are stricter.
func (p Policy) Overview(kind Kind, tool string) (status Status, why string, unless []string) {
	always := slices.DeleteFunc(slices.Clone(p.rules()), rule.isConditional)
	v := Policy{&always}.judge(nil, Subject{Kind: kind, Tool: tool, Body: []byte(`{"text":""}`)})
	for _, r := range p.rules() {
		if r.isConditional() && r.names(kind, r.thread, tool) && strictness[r.then] > strictness[v.then] && !r.allows() {
			unless = append(unless, r.rule)
		}
	}
	return statusOf[v.then], v.rule, unless
}

func (p Policy) judge(root *root, sub Subject) verdict {
	_, body, err := readBody(sub.Kind, sub.Body, maxMaxBody)
	if err = cmp.Or(sub.Kind.check(), err); err == nil && sub.Kind == Tool {
		err = checkTool(sub.Tool)
	}
	if err != nil {
		return verdict{then: forbid, rule: "it cannot be read: " + err.Error()}
	}
	const forever = time.Duration(math.MaxInt64)
	known := sub.Kind != Tool
	var best verdict
	for _, r := range p.rules() {
		if !r.names(sub.Kind, sub.Thread, sub.Tool) {
			continue
		}
		known = known || !isVague(r.tool)
		v := r.verdict
		switch r.matches(root, body) {
		case refused:
			v = verdict{then: forbid, rule: "it cannot be read safely: " + r.rule}
		case no:
			continue
		}
		// Of two that ask, the one with less time wins.
		if cmp.Or(strictness[best.then]-strictness[v.then],
			cmp.Compare(cmp.Or(v.within, forever), cmp.Or(best.within, forever)), cmp.Compare(v.rule, best.rule)) < 0 {
			best = v
		}
	}
	switch {
	case best.then == forbid:
	case !known:
		return verdict{then: forbid, rule: "no rule names this tool"}
	case best.then == "":
		return verdict{then: ask, rule: "no rule matches"}
	case best.then == always:
		best.then = allow
	}
	return best
}

var strictness = map[ruling]int{"": 0, allow: 1, ask: 2, always: 3, forbid: 4}

// changesTo says for people which rules differ between two policies. The order of rules does not count.
func (p Policy) changesTo(q Policy) []string {
	var changes []string
	differ := func(change string, from, to Policy) {
		for _, r := range from.rules() {
			if !slices.ContainsFunc(to.rules(), func(o rule) bool { return o.rule == r.rule }) {
				changes = append(changes, change+" "+r.rule)
			}
		}
	}
	differ("removed", p, q)
	differ("added", q, p)
	if len(changes) == 0 {
		changes = []string{"only the order, the layout or the examples of the rules changed"}
	}
	return changes
}

// matchWildcard reports whether s matches a pattern in which each * matches any text, also none.
func matchWildcard(pattern, s string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	s, ok := strings.CutPrefix(s, first)
	if !ok || !wild {
		return ok && s == ""
	}
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		if _, s, ok = strings.Cut(s, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}
