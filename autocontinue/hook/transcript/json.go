package transcript

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// value is a JSON value that a host wrote. A member that is missing or has another type than asked for is empty.
type value struct{ any }

func parse(data []byte) (v value, ok bool) {
	err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &v.any)
	return v, err == nil
}

func (v value) at(path ...string) value {
	for _, key := range path {
		object, _ := v.any.(map[string]any)
		v = value{object[key]}
	}
	return v
}

func (v value) isObject() bool {
	_, ok := v.any.(map[string]any)
	return ok
}

func (v value) has(key string) bool { return v.at(key).any != nil }

// text returns a text or a number, as text.
func (v value) text(path ...string) string {
	switch m := v.at(path...).any.(type) {
	case string:
		return m
	case float64:
		return strconv.FormatFloat(m, 'f', -1, 64)
	}
	return ""
}

// first returns the first of these members that is not empty.
func (v value) first(keys ...string) string {
	for _, key := range keys {
		if text := v.text(key); text != "" {
			return text
		}
	}
	return ""
}

func (v value) isTrue(path ...string) bool  { return v.at(path...).any == true }
func (v value) isFalse(path ...string) bool { return v.at(path...).any == false }

func (v value) list(path ...string) []value {
	items, _ := v.at(path...).any.([]any)
	list := make([]value, len(items))
	for i, item := range items {
		list[i].any = item
	}
	return list
}

// words returns a text, or the texts of an array's blocks.
func (v value) words(path ...string) string {
	v = v.at(path...)
	var said []string
	for _, item := range v.list() {
		if item.has("text") {
			said = append(said, item.text("text"))
		}
	}
	return v.text() + strings.Join(said, "\n")
}

// script returns what a shell is given by the first of these members: a text, or the words of a command.
func (v value) script(keys ...string) string {
	for _, key := range keys {
		if text := v.text(key); text != "" {
			return text
		}
		var words []string
		for _, word := range v.list(key) {
			words = append(words, "'"+strings.ReplaceAll(word.text(), "'", `'\''`)+"'")
		}
		if words != nil {
			return strings.Join(words, " ")
		}
	}
	return ""
}
