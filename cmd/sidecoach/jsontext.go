package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// jsonValue is a value in a JSON text, and where it stands there. Texts are edited by these places, so that whatever is not
// edited stays as it is to the byte: the order of keys, the layout, long numbers.
type jsonValue struct {
	start, end int
	kind       byte        // '{', '[', or any other first byte
	children   []jsonChild // of an object or array
}

// jsonChild is a member of an object, or an element of an array, which has no key.
type jsonChild struct {
	key   string
	start int // of the key, where there is one
	value jsonValue
}

const maxNesting = 100 // of settings that people write

// parseJSON reads a text that holds one JSON value, and white space. The error says where the text is not plain JSON.
func parseJSON(text []byte) (jsonValue, error) {
	var whole json.RawMessage // checks the syntax, and no more
	if err := json.Unmarshal(text, &whole); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			before := text[:min(max(int(e.Offset)-1, 0), len(text))]
			line := bytes.Count(before, []byte("\n")) + 1
			return jsonValue{}, fmt.Errorf("it is not plain JSON: line %d: %w", line, err)
		}
		return jsonValue{}, err
	}
	p := jsonParser{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	return p.value(0)
}

type jsonParser struct {
	text []byte
	dec  *json.Decoder
}

// next returns the next token and where it begins and ends.
func (p *jsonParser) next() (token json.Token, start, end int, err error) {
	start = int(p.dec.InputOffset())
	for start < len(p.text) && strings.IndexByte(" \t\r\n,:", p.text[start]) >= 0 {
		start++
	}
	token, err = p.dec.Token()
	return token, start, int(p.dec.InputOffset()), err
}

func (p *jsonParser) value(depth int) (jsonValue, error) {
	if depth > maxNesting {
		return jsonValue{}, fmt.Errorf("it is nested deeper than %d", maxNesting)
	}
	token, start, end, err := p.next()
	if err != nil {
		return jsonValue{}, err
	}
	v := jsonValue{start: start, end: end, kind: p.text[start]}
	if _, ok := token.(json.Delim); !ok {
		return v, nil
	}
	for p.dec.More() {
		var c jsonChild
		if v.kind == '{' {
			key, at, _, err := p.next()
			if err != nil {
				return v, err
			}
			c.key, _ = key.(string)
			c.start = at
		}
		if c.value, err = p.value(depth + 1); err != nil {
			return v, err
		}
		if v.kind == '[' {
			c.start = c.value.start
		}
		v.children = append(v.children, c)
	}
	_, _, v.end, err = p.next()
	return v, err
}

// member returns the value of a key, nil if there is none. A key that stands there twice is an error: hosts differ in which
// one counts.
func (v *jsonValue) member(key string) (*jsonValue, error) {
	var found *jsonValue
	for i := range v.children {
		if v.kind == '{' && v.children[i].key == key {
			if found != nil {
				return nil, fmt.Errorf("%q stands there twice", key)
			}
			found = &v.children[i].value
		}
	}
	return found, nil
}

// text returns a string's text; other values are no string.
func (v *jsonValue) text(of []byte) (s string, ok bool) {
	return s, v.kind == '"' && json.Unmarshal(of[v.start:v.end], &s) == nil
}

// layout is how a JSON text is laid out.
type layout struct {
	unit    string // of indentation; empty is a text on one line
	newline string
}

// layoutOf looks at the root of a text.
func layoutOf(text []byte, root jsonValue) layout {
	l := layout{unit: "  ", newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		l.newline = "\r\n"
	}
	if len(root.children) > 0 {
		l.unit = lineBefore(text, root.children[0].start, root.start+1)
	}
	return l
}

// lineBefore returns the white space between the last line break and at, "" where there is none after from.
func lineBefore(text []byte, at, from int) string {
	i := bytes.LastIndexByte(text[from:at], '\n')
	if i < 0 {
		return ""
	}
	return string(text[from+i+1 : at])
}

// insert returns the text with a child added as the last one of a container that lies depth levels below the root.
func (l layout) insert(text []byte, into jsonValue, depth int, key string, value any) ([]byte, error) {
	prefix := strings.Repeat(l.unit, depth+1)
	spread := l.unit != ""
	if n := len(into.children); n > 0 {
		first := into.children[0].start
		if spread = bytes.IndexByte(text[into.start:first], '\n') >= 0; spread {
			prefix = lineBefore(text, first, into.start)
		}
	}
	child, err := l.marshal(key, value, prefix, spread)
	if err != nil {
		return nil, err
	}
	at, until := into.start+1, into.end-1
	switch n := len(into.children); {
	case n > 0 && spread:
		at = into.children[n-1].value.end
		until, child = at, ","+l.newline+prefix+child
	case n > 0:
		at = into.children[n-1].value.end
		until, child = at, ", "+child
	case spread:
		child = l.newline + prefix + child + l.newline + strings.Repeat(l.unit, depth)
	}
	return splice(text, at, until, child), nil
}

// marshal writes a member, or with an empty key an element.
func (l layout) marshal(key string, value any, prefix string, spread bool) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	colon := ":"
	if spread {
		enc.SetIndent(prefix, l.unitOr("  "))
		colon = ": "
	}
	if err := enc.Encode(value); err != nil {
		return "", err
	}
	text := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", l.newline)
	if key == "" {
		return text, nil
	}
	name, err := json.Marshal(key)
	return string(name) + colon + text, err
}

func (l layout) unitOr(unit string) string {
	if l.unit != "" {
		return l.unit
	}
	return unit
}

// without returns the text without a child of a container.
func without(text []byte, from jsonValue, i int) []byte {
	switch {
	case len(from.children) == 1:
		return splice(text, from.start+1, from.end-1, "")
	case i == 0:
		return splice(text, from.children[0].start, from.children[1].start, "")
	}
	return splice(text, from.children[i-1].value.end, from.children[i].value.end, "")
}

// splice returns the text with another one from start to end.
func splice(text []byte, start, end int, with string) []byte {
	out := make([]byte, 0, len(text)+len(with))
	out = append(out, text[:start]...)
	out = append(out, with...)
	return append(out, text[end:]...)
}
