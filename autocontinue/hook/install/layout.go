package install

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/tailscale/hujson"
)

// layout is how a person laid JSON out. What is added follows it.
type layout struct {
	newline string
	unit    string // of indentation; empty for a text on one line
}

func layoutOf(text []byte, root *hujson.Object) layout {
	l := layout{newline: "\n", unit: "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		l.newline = "\r\n"
	}
	if len(root.Members) > 0 {
		l.unit, _ = indentOf(root.Members[0].Name.BeforeExtra)
	}
	return l
}

// indentOf returns the white space after the last line break, and whether there is one.
func indentOf(e hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(e, '\n')
	if i < 0 {
		return "", false
	}
	return string(e[i+1:]), true
}

// addMember appends a member to an object that is depth levels below the root, and returns its value.
func (l layout) addMember(o *hujson.Object, depth int, key string, value any) *hujson.Value {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(key)}}
	var first, last *hujson.Value
	if n := len(o.Members); n > 0 {
		first, last = &o.Members[0].Name, &o.Members[n-1].Value
	}
	m.Value, m.Name.BeforeExtra = l.next(first, last, &o.AfterExtra, depth, value)
	if bytes.Contains(m.Name.BeforeExtra, []byte("\n")) {
		m.Value.BeforeExtra = hujson.Extra(" ")
	}
	o.Members = append(o.Members, m)
	return &o.Members[len(o.Members)-1].Value
}

// addElement appends an element to an array that is depth levels below the root.
func (l layout) addElement(a *hujson.Array, depth int, value any) {
	var first, last *hujson.Value
	if n := len(a.Elements); n > 0 {
		first, last = &a.Elements[0], &a.Elements[n-1]
	}
	v, before := l.next(first, last, &a.AfterExtra, depth, value)
	v.BeforeExtra = before
	a.Elements = append(a.Elements, v)
}

// next returns a value that comes after the last one in an object or an array, and the white space before it. First is
// nil in an empty one, and after is the white space before its end. The value stands on lines of its own, if the first
// one does. A comment that follows the last one stays with it.
func (l layout) next(
	first, last *hujson.Value, after *hujson.Extra, depth int, value any,
) (v hujson.Value, before hujson.Extra) {
	prefix, spread := strings.Repeat(l.unit, depth+1), l.unit != ""
	comment := ""
	switch {
	case first != nil:
		if prefix, spread = indentOf(first.BeforeExtra); last.AfterExtra != nil { // a trailing comma
			v.AfterExtra = hujson.Extra{}
		}
		if i := bytes.LastIndex(*after, []byte(l.newline)); i > 0 {
			comment, *after = string((*after)[:i]), (*after)[i:]
		}
	case spread && len(*after) == 0:
		*after = hujson.Extra(l.newline + strings.Repeat(l.unit, depth))
	}
	text := encode(value, "", "")
	switch {
	case spread:
		before = hujson.Extra(comment + l.newline + prefix)
		text = bytes.ReplaceAll(encode(value, prefix, cmp.Or(l.unit, "  ")), []byte("\n"), []byte(l.newline))
	case first != nil:
		before = hujson.Extra(comment + " ")
	}
	parsed, err := hujson.Parse(text)
	if err != nil {
		panic(err) // it was encoded just now
	}
	v.Value = parsed.Value
	return v, before
}
