package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
	return plaintext.Visible(plaintext.Cut(s, limit))
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
	case !toolName.MatchString(strings.ReplaceAll(r.tool, "*", "_")):
		return errors.New("tool: a pattern has up to 128 letters a-z, A-Z, digits and _ - . : / and *, which matches any " +
			"text; nothing else is a wildcard")
	case r.then == always && strings.Contains(r.tool, "*"):
		return errors.New("a rule that always allows names one tool, without *")
	case isVague(r.tool) && r.then != forbid:
		return fmt.Errorf("tool %q matches tools that nobody has thought of: it may only deny, not %s",
			brief(r.tool, maxTool), r.then)
	}
	return nil
}

// outcome says whether a condition holds.
type outcome int

const (
	no outcome = iota
	yes
	unclear // the test cannot be made
	refused // nothing of this kind passes, whatever the rule says
)

// condition is one test of a body, at one place. [ParsePolicy] describes the tests.
type condition struct {
	at      string   // a JSON pointer (RFC 6901)
	pointer []string // at, split and unescaped
	test    string   // its name in JSON
	arg     value
	forms   []form     // command
	paths   []string   // path
	element *condition // any, all
}

// String words the condition, as in "/rows count_over 50".
func (c condition) String() string {
	at := c.at
	if at == "" {
		at = "the body"
	}
	if c.element != nil {
		return at + " " + c.test + " (" + c.element.String() + ")"
	}
	return at + " " + c.test + " " + string(compact(c.arg.raw))
}

func (c condition) tests(test string) bool {
	return c.test == test || c.element != nil && c.element.tests(test)
}

func parseConditions(v value) (when []condition, err error) {
	if !v.isArray() || len(v.list) == 0 {
		return nil, errors.New("write a list of conditions")
	}
	for _, m := range v.list {
		c, err := parseCondition(m, true)
		if err != nil {
			return nil, err
		}
		when = append(when, c)
	}
	return when, nil
}

func parseCondition(v value, top bool) (c condition, err error) {
	if !v.isObject() {
		return c, errors.New(`a condition is an object, such as {"at": "/rows", "count_over": 50}`)
	}
	at, tests := !top, 0
	for _, m := range v.list {
		if m.key == "at" {
			at, c.at = true, m.text
			c.pointer, err = parsePointer(m)
		} else {
			tests++
			c.test, c.arg = m.key, m
			err = c.parseTest()
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", brief(m.key, 60), err)
		}
	}
	if !at || tests != 1 {
		return c, fmt.Errorf(`the condition at %q must have "at", a JSON pointer such as "/rows", and one test: it has %d; `+
			"several conditions of one rule must all hold", brief(c.at, 60), tests)
	}
	return c, nil
}

func (c *condition) parseTest() (err error) {
	fits, want := true, ""
	switch c.test {
	case "equals":
	case "exists":
		fits, want = c.arg.kind() == 't', "true or false"
	case "one_of":
		fits, want = c.arg.isArray() && len(c.arg.list) > 0, "a list of at least one value"
	case "over", "under":
		fits, want = c.arg.isNumber(), "a number"
	case "count_over", "count_under":
		fits, want = c.arg.count() >= 0, "a whole number from 0 up"
	case "like":
		fits, want = c.arg.isString(), "a string"
	case "command":
		c.forms, err = parseForms(c.arg.strings())
	case "path":
		c.paths, err = parsePaths(c.arg.strings())
	case "any", "all":
		c.element = new(condition)
		*c.element, err = parseCondition(c.arg, false)
	default:
		return errors.New("there is no such test: write exists, equals, one_of, over, under, count_over, count_under, " +
			"like, command, path, any or all")
	}
	if !fits {
		return errors.New("write " + want)
	}
	return err
}

// count returns a whole number; -1 for any other value.
func (v value) count() int {
	n, err := strconv.Atoi(string(v.raw))
	if err != nil {
		return -1
	}
	return n
}

// strings returns a string, or a list of strings; nil for any other value.
func (v value) strings() (texts []string) {
	list := v.list
	if v.isString() {
		list = []value{v}
	}
	for _, one := range list {
		if v.isObject() || !one.isString() {
			return nil
		}
		texts = append(texts, one.text)
	}
	return texts
}

func parsePointer(v value) ([]string, error) {
	if v.text == "" && v.isString() {
		return nil, nil
	}
	if !strings.HasPrefix(v.text, "/") {
		return nil, errors.New(`a JSON pointer begins with a slash, such as "/rows"; an empty one is the whole body`)
	}
	parts := strings.Split(v.text[1:], "/")
	for i, part := range parts {
		if part == "*" {
			join := func(parts []string) string { return brief(strings.Join(append([]string{""}, parts...), "/"), 60) }
			return nil, fmt.Errorf(`"*" is not a wildcard here: write {"at": "%s", "any": {"at": "%s", …}}, or "all"`,
				join(parts[:i]), join(parts[i+1:]))
		}
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(part), "~") {
			return nil, errors.New(`in a JSON pointer "~" is written "~0" and "/" is written "~1"`)
		}
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts, nil
}

// find follows a pointer. It returns yes and the value; no if an object or array has nothing there; or unclear if the
// pointer leads through something else, or past a key that some readers treat as the named one.
func (v value) find(pointer []string) (value, outcome) {
	for _, part := range pointer {
		i := -1
		switch {
		case v.isObject():
			if i = slices.IndexFunc(v.list, func(m value) bool { return m.key == part }); i >= 0 {
				break
			}
			folded := fold(part)
			if slices.ContainsFunc(v.list, func(m value) bool { return m.folded == folded }) {
				return value{}, unclear
			}
			return value{}, no
		case v.isArray():
			n, err := strconv.Atoi(part)
			if err != nil || n < 0 || strconv.Itoa(n) != part {
				return value{}, unclear
			}
			if n >= len(v.list) {
				return value{}, no
			}
			i = n
		default:
			return value{}, unclear
		}
		v = v.list[i]
	}
	return v, yes
}

// judging is how the conditions of one rule are judged.
type judging struct {
	root  *root
	allow bool // the rule allows: what is unclear must not match
}

func (j judging) holds(c condition, body value) outcome {
	v, found := body.find(c.pointer)
	if c.test == "exists" {
		if found == unclear {
			return unclear
		}
		return is((found == yes) == (string(c.arg.raw) == "true"))
	}
	if found != yes {
		return unclear
	}
	counted, isText := v.isObject() || v.isArray(), v.isString()
	switch {
	case c.test == "equals":
		return v.isOneOf([]value{c.arg})
	case c.test == "one_of":
		return v.isOneOf(c.arg.list)
	case c.test == "count_over" && counted:
		return is(len(v.list) > c.arg.count())
	case c.test == "count_under" && counted:
		return is(len(v.list) < c.arg.count())
	case c.test == "over" && v.isNumber():
		return is(parseNumber(v.raw).compare(parseNumber(c.arg.raw)) > 0)
	case c.test == "under" && v.isNumber():
		return is(parseNumber(v.raw).compare(parseNumber(c.arg.raw)) < 0)
	case c.test == "like" && isText:
		return is(matchWildcard(c.arg.text, v.text))
	case c.test == "command" && isText:
		return commandHolds(c.forms, v.text, j.allow)
	case c.test == "path" && isText:
		return j.root.holds(c.paths, v.text, j.allow)
	case c.test == "any" && counted:
		return j.elements(c, v, yes, no)
	case c.test == "all" && counted && len(v.list) > 0:
		return j.elements(c, v, no, yes)
	}
	return unclear
}

func is(holds bool) outcome {
	if holds {
		return yes
	}
	return no
}

// elements tests each element. One element with the outcome decides decides; otherwise the rest do.
func (j judging) elements(c condition, v value, decides, otherwise outcome) outcome {
	result := otherwise
	for _, element := range v.list {
		switch o := j.holds(*c.element, element); {
		case o == refused:
			return refused
		case o == decides:
			result = decides
		case o == unclear && result == otherwise:
			result = unclear
		}
	}
	return result
}

// isOneOf compares a value with a list. It is unclear if no value of the list has its type: some readers treat "5" as
// 5. A list of null alone fits every type.
func (v value) isOneOf(list []value) outcome {
	result := unclear
	for _, one := range list {
		if v.sum == one.sum {
			return yes
		}
		if one.kind() == v.kind() || len(list) == 1 && one.kind() == 'n' {
			result = no
		}
	}
	if slices.ContainsFunc(list, func(one value) bool { return v.loose == one.loose }) {
		return unclear
	}
	return result
}

// shellHint says what is wrong with a condition that tests a shell line or a path as a text; empty if nothing is.
func (c condition) shellHint(tool string) string {
	if c.element != nil {
		return c.element.shellHint(tool)
	}
	field := tool
	if len(c.pointer) > 0 {
		field = c.pointer[len(c.pointer)-1]
	}
	switch {
	case c.test != "like":
	case hasWord(field+" "+tool, "shell-field"):
		return fmt.Sprintf("%s is probably a shell line, and like does not see ; | $(…) or >: test it with command", c)
	case hasWord(field, "path-field"):
		return fmt.Sprintf("%s is probably a path, and like does not see .. or links: test it with path", c)
	}
	return ""
}

func hasWord(name, list string) bool {
	parts := strings.FieldsFunc(fold(name), func(r rune) bool { return strings.ContainsRune("_-.:/ *", r) })
	return slices.ContainsFunc(parts, func(part string) bool { return listed()[list][part] })
}
