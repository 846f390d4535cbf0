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
	var first, last *hujson.Value
	if n := len(o.Members); n > 0 {
		first, last = &o.Members[0].Name, &o.Members[n-1].Value
	}
	name := hujson.Value{Value: hujson.String(key)}
	var v hujson.Value
	spread, prefix := l.indent(&name, &v, first, last, &o.AfterExtra, depth)
	v.Value = l.value(value, spread, prefix)
	if spread {
		v.BeforeExtra = hujson.Extra(" ")
	}
	o.Members = append(o.Members, hujson.ObjectMember{Name: name, Value: v})
	return &o.Members[len(o.Members)-1].Value
}

// addElement appends an element to an array that is depth levels below the root.
func (l layout) addElement(a *hujson.Array, depth int, value any) {
	var first, last *hujson.Value
	if n := len(a.Elements); n > 0 {
		first, last = &a.Elements[0], &a.Elements[n-1]
	}
	var v hujson.Value
	spread, prefix := l.indent(&v, &v, first, last, &a.AfterExtra, depth)
	v.Value = l.value(value, spread, prefix)
	a.Elements = append(a.Elements, v)
}

// value returns what a value looks like: on lines of its own behind prefix, or on one line.
func (l layout) value(value any, spread bool, prefix string) hujson.ValueTrimmed {
	text := encode(value, "", "")
	if spread {
		text = bytes.ReplaceAll(encode(value, prefix, cmp.Or(l.unit, "  ")), []byte("\n"), []byte(l.newline))
	}
	parsed, err := hujson.Parse(text)
	if err != nil {
		panic(err) // it was encoded just now
	}
	return parsed.Value
}

// indent sets the white space around something that comes last in an object or an array, from start to end. A comment
// that follows the last one so far stays with it. Spread says that each stands on a line of its own, behind prefix.
func (l layout) indent(
	start, end, first, last *hujson.Value, after *hujson.Extra, depth int,
) (spread bool, prefix string) {
	prefix, spread = strings.Repeat(l.unit, depth+1), l.unit != ""
	if first == nil {
		if spread && len(*after) == 0 {
			*after = hujson.Extra(l.newline + strings.Repeat(l.unit, depth))
		}
	} else {
		var own string
		if own, spread = indentOf(first.BeforeExtra); spread {
			prefix = own
		}
	}
	if last != nil && last.AfterExtra != nil { // a trailing comma
		end.AfterExtra = hujson.Extra{}
	}
	comment := ""
	if i := bytes.LastIndex(*after, []byte(l.newline)); first != nil && i > 0 {
		comment, *after = string((*after)[:i]), (*after)[i:]
	}
	switch {
	case spread:
		start.BeforeExtra = hujson.Extra(comment + l.newline + prefix)
	case first != nil:
		start.BeforeExtra = hujson.Extra(comment + " ")
	}
	return spread, prefix
}
