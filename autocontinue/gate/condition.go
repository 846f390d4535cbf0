package gate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
	number  number     // over, under
	count   int        // count_over, count_under
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
	list, err := v.elements()
	for i := 0; i < len(list) && err == nil; i++ {
		var c condition
		c, err = parseCondition(list[i], true)
		when = append(when, c)
	}
	return when, err
}

func parseCondition(v value, top bool) (condition, error) {
	if !v.isObject() {
		return condition{}, errors.New(`a condition is an object, such as {"at": "/rows", "count_over": 50}`)
	}
	var c condition
	at, tests := !top, 0
	for _, m := range v.list {
		var err error
		if m.key == "at" {
			at = true
			if c.at, err = m.string(); err == nil {
				c.pointer, err = parsePointer(c.at)
			}
		} else {
			tests++
			c.test, c.arg = m.key, m
			err = c.parseTest()
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", brief(m.key, 60), err)
		}
	}
	if !at {
		return c, errors.New(`a condition needs "at", a JSON pointer such as "/rows"`)
	}
	if tests != 1 {
		return c, fmt.Errorf("the condition at %q has %d tests: write one; several conditions of one rule must all hold",
			brief(c.at, 60), tests)
	}
	return c, nil
}

func (c *condition) parseTest() (err error) {
	switch c.test {
	case "exists":
		if c.arg.kind() != 't' {
			return errors.New("write true or false")
		}
	case "equals":
	case "one_of":
		_, err = c.arg.elements()
	case "like":
		_, err = c.arg.string()
	case "over", "under":
		if !c.arg.isNumber() {
			return errors.New("write a number")
		}
		c.number = parseNumber(c.arg.raw)
	case "count_over", "count_under":
		if c.count, err = strconv.Atoi(string(c.arg.raw)); err != nil || c.count < 0 {
			return errors.New("write a whole number from 0 up")
		}
	case "command":
		c.forms, err = parseForms(c.arg)
	case "path":
		c.paths, err = parsePaths(c.arg)
	case "any", "all":
		var element condition
		element, err = parseCondition(c.arg, false)
		c.element = &element
	default:
		return errors.New("there is no such test: write exists, equals, one_of, over, under, count_over, count_under, " +
			"like, command, path, any or all")
	}
	return err
}

func (v value) strings() ([]string, error) {
	list := []value{v}
	if !v.isString() {
		list, _ = v.elements()
	}
	var texts []string
	for _, one := range list {
		if one.isString() {
			texts = append(texts, one.text)
		}
	}
	if len(texts) == 0 || len(texts) < len(list) {
		return nil, errors.New("write a string, or a list of strings")
	}
	return texts, nil
}

func parsePointer(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, errors.New(`a JSON pointer begins with a slash, such as "/rows"; an empty one is the whole body`)
	}
	parts := strings.Split(s[1:], "/")
	for i, part := range parts {
		switch plain := strings.NewReplacer("~0", "", "~1", "").Replace(part); {
		case part == "*":
			join := func(parts []string) string { return brief(strings.Join(append([]string{""}, parts...), "/"), 60) }
			return nil, fmt.Errorf(`"*" is not a wildcard here: write {"at": "%s", "any": {"at": "%s", …}}, or "all"`,
				join(parts[:i]), join(parts[i+1:]))
		case part == "-":
			return nil, errors.New(`"-" in a JSON pointer is the place after the last element: nothing is there`)
		case strings.Contains(plain, "~"):
			return nil, errors.New(`in a JSON pointer "~" is written "~0" and "/" is written "~1"`)
		}
	}
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
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
		return is(len(v.list) > c.count)
	case c.test == "count_under" && counted:
		return is(len(v.list) < c.count)
	case c.test == "over" && v.isNumber():
		return is(parseNumber(v.raw).compare(c.number) > 0)
	case c.test == "under" && v.isNumber():
		return is(parseNumber(v.raw).compare(c.number) < 0)
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
	comparable := false
	for _, one := range list {
		if v.equal(one, false) {
			return yes
		}
		comparable = comparable || one.kind() == v.kind() || len(list) == 1 && one.kind() == 'n'
	}
	if !comparable || slices.ContainsFunc(list, func(one value) bool { return v.equal(one, true) }) {
		return unclear
	}
	return no
}

// shellHint says what is wrong with a condition that tests a shell line or a path as a text; empty if nothing is.
func (c condition) shellHint(tool string) string {
	if c.element != nil {
		return c.element.shellHint(tool)
	}
	if c.test != "like" {
		return ""
	}
	field := tool
	if len(c.pointer) > 0 {
		field = c.pointer[len(c.pointer)-1]
	}
	if hasWord(field+" "+tool, "shell-field") {
		return fmt.Sprintf("%s is probably a shell line, and like does not see ; | $(…) or >: test it with command", c)
	}
	if hasWord(field, "path-field") {
		return fmt.Sprintf("%s is probably a path, and like does not see .. or links: test it with path", c)
	}
	return ""
}

func hasWord(name, list string) bool {
	parts := strings.FieldsFunc(fold(name), func(r rune) bool { return strings.ContainsRune("_-.:/ *", r) })
	return slices.ContainsFunc(parts, func(part string) bool { return listed()[list][part] })
}
