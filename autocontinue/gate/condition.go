package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Condition is one test of a body, at one place. Exactly one of the tests is set. A test that cannot be made, because
// nothing is at the place, or something of another type, holds for a rule that asks or denies and fails for one that allows.
// So does one whose way passes a key that differs from the pointer's in upper and lower case only, or that compares with a
// value of such keys.
type Condition struct {
	// At is a JSON pointer (RFC 6901) into the body, such as "/rows" or "/rows/0/kcal"; "" is the whole body.
	At string `json:"at"`

	CountOver  *int              `json:"count_over,omitempty"`  // an array or object with more elements
	CountUnder *int              `json:"count_under,omitempty"` // an array or object with fewer elements
	Over       json.RawMessage   `json:"over,omitempty"`        // a greater number, compared exactly
	Under      json.RawMessage   `json:"under,omitempty"`       // a smaller number
	Equals     json.RawMessage   `json:"equals,omitempty"`      // the same value: 1 is 1.0, the order of keys is nothing; null compares with every type
	OneOf      []json.RawMessage `json:"one_of,omitempty"`      // the same value as one of these
	Like       *string           `json:"like,omitempty"`        // a string; * in the pattern stands for any text
	Exists     *bool             `json:"exists,omitempty"`      // whether anything is there, be it null

	at pointer
}

// clone copies what a caller could change.
func (c Condition) clone() Condition {
	dup := func(p *int) *int {
		if p == nil {
			return nil
		}
		n := *p
		return &n
	}
	c.CountOver, c.CountUnder = dup(c.CountOver), dup(c.CountUnder)
	c.Over, c.Under, c.Equals, c.OneOf = clone(c.Over), clone(c.Under), clone(c.Equals), cloneAll(c.OneOf)
	if c.Like != nil {
		like := *c.Like
		c.Like = &like
	}
	if c.Exists != nil {
		exists := *c.Exists
		c.Exists = &exists
	}
	return c
}

// holds answers the test; readable is false when it cannot be made.
func (c Condition) holds(body json.RawMessage) (holds, readable bool) {
	raw, way := c.at.find(body)
	if c.Exists != nil {
		return (way == found) == *c.Exists, way != unclear
	}
	if way != found {
		return false, false
	}
	switch {
	case c.CountOver != nil:
		list, _, ok := members(raw)
		return len(list) > *c.CountOver, ok
	case c.CountUnder != nil:
		list, _, ok := members(raw)
		return len(list) < *c.CountUnder, ok
	case c.Over != nil:
		return isNumber(raw) && parseNumber(raw).compare(parseNumber(c.Over)) > 0, isNumber(raw)
	case c.Under != nil:
		return isNumber(raw) && parseNumber(raw).compare(parseNumber(c.Under)) < 0, isNumber(raw)
	case c.Equals != nil:
		return isOneOf(raw, c.Equals)
	case c.OneOf != nil:
		return isOneOf(raw, c.OneOf...)
	default:
		return raw[0] == '"' && matchWildcard(*c.Like, unquote(raw)), raw[0] == '"'
	}
}

// isOneOf compares a value with some of which at least one must be of its type: "5" is neither 5 nor surely another value,
// for there are readers that take it for 5. Whether it is null can be said of every value.
func isOneOf(raw json.RawMessage, list ...json.RawMessage) (holds, readable bool) {
	for _, one := range list {
		if same(raw, one, nil) {
			return true, true
		}
		readable = readable || typeOf(one) == typeOf(raw) || len(list) == 1 && typeOf(one) == 'n'
	}
	folded := func(one json.RawMessage) bool { return same(raw, one, fold) }
	return false, readable && !slices.ContainsFunc(list, folded)
}

// typeOf returns one character for each JSON type.
func typeOf(raw json.RawMessage) byte {
	switch c := raw[0]; {
	case isNumber(raw):
		return '0'
	case c == 'f':
		return 't'
	default:
		return c
	}
}

func same(a, b json.RawMessage, name func(string) string) bool {
	return string(canonical(nil, a, name)) == string(canonical(nil, b, name))
}

// String words the test, as in "/rows count_over 50".
func (c Condition) String() string {
	name, value := "", ""
	switch {
	case c.CountOver != nil:
		name, value = "count_over", strconv.Itoa(*c.CountOver)
	case c.CountUnder != nil:
		name, value = "count_under", strconv.Itoa(*c.CountUnder)
	case c.Over != nil:
		name, value = "over", string(c.Over)
	case c.Under != nil:
		name, value = "under", string(c.Under)
	case c.Equals != nil:
		name, value = "equals", string(c.Equals)
	case c.OneOf != nil:
		list, _ := json.Marshal(c.OneOf)
		name, value = "one_of", string(list)
	case c.Like != nil:
		name, value = "like", strconv.Quote(*c.Like)
	case c.Exists != nil:
		name, value = "exists", strconv.FormatBool(*c.Exists)
	}
	at := c.At
	if at == "" {
		at = "the body"
	}
	return at + " " + name + " " + value
}

func parseCondition(raw json.RawMessage) (Condition, error) {
	list, object, ok := members(raw)
	if !ok || !object {
		return Condition{}, errors.New(`a condition is an object, such as {"at": "/rows", "count_over": 50}`)
	}
	var c Condition
	at, tests := false, 0
	for _, m := range list {
		var err error
		tests++
		switch m.key {
		case "at":
			at = true
			tests--
			if c.At, err = parseText(m.raw); err == nil {
				c.at, err = parsePointer(c.At)
			}
		case "count_over":
			c.CountOver, err = parseCount(m.raw)
		case "count_under":
			c.CountUnder, err = parseCount(m.raw)
		case "over":
			c.Over, err = m.raw, wantNumber(m.raw)
		case "under":
			c.Under, err = m.raw, wantNumber(m.raw)
		case "equals":
			c.Equals = m.raw
		case "one_of":
			c.OneOf, err = parseList(m.raw)
		case "like":
			var like string
			like, err = parseText(m.raw)
			c.Like = &like
		case "exists":
			exists := string(m.raw) == "true"
			c.Exists = &exists
			if !exists && string(m.raw) != "false" {
				err = errors.New("write true or false")
			}
		default:
			return Condition{}, fmt.Errorf(`a condition has no field "%s": it has at and one of count_over, count_under, over, under, equals, one_of, like, exists`, brief(m.key, 60))
		}
		if err != nil {
			return Condition{}, fmt.Errorf("%s: %w", m.key, err)
		}
	}
	if !at {
		return Condition{}, errors.New(`a condition needs "at", a JSON pointer such as "/rows"`)
	}
	if tests != 1 {
		return Condition{}, fmt.Errorf(`the condition at "%s" has %d tests: write one; several conditions of one rule must all hold`, brief(c.At, 60), tests)
	}
	return c, nil
}

func parseText(raw json.RawMessage) (string, error) {
	if raw[0] != '"' {
		return "", errors.New("write a string")
	}
	return unquote(raw), nil
}

func parseCount(raw json.RawMessage) (*int, error) {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 {
		return nil, errors.New("write a whole number from 0 up")
	}
	return &n, nil
}

func wantNumber(raw json.RawMessage) error {
	if !isNumber(raw) {
		return errors.New("write a number")
	}
	return nil
}

func parseList(raw json.RawMessage) ([]json.RawMessage, error) {
	list, object, ok := members(raw)
	if !ok || object || len(list) == 0 {
		return nil, errors.New("write a list of at least one value")
	}
	values := make([]json.RawMessage, len(list))
	for i, m := range list {
		values[i] = m.raw
	}
	return values, nil
}
