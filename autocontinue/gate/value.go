package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// What follows reads text that passed strict.

// member is one element of an object or, without a key, of an array.
type member struct {
	key string
	raw json.RawMessage
}

// members returns what an object or an array holds, in order; ok is false for any other value.
func members(raw json.RawMessage) (list []member, object, ok bool) {
	w := walker{data: raw}
	w.space()
	if raw[w.i] != '{' && raw[w.i] != '[' {
		return nil, false, false
	}
	object = raw[w.i] == '{'
	end := byte(']')
	if object {
		end = '}'
	}
	for w.i++; ; w.i++ {
		if w.space(); raw[w.i] == end {
			return list, object, true
		}
		var m member
		if object {
			m.key = unquote(w.text())
			w.space()
			w.i++
			w.space()
		}
		start := w.i
		w.skip()
		m.raw = raw[start:w.i]
		list = append(list, m)
		if w.space(); raw[w.i] == end {
			return list, object, true
		}
	}
}

// skip passes over one value.
func (w *walker) skip() {
	depth := 0
	for {
		switch w.data[w.i] {
		case '{', '[':
			depth++
			w.i++
		case '}', ']':
			depth--
			w.i++
		case '"':
			w.text()
		case ',', ':', ' ', '\t', '\n', '\r':
			w.i++
			continue
		default:
			w.token()
		}
		if depth == 0 {
			return
		}
	}
}

// canonical appends a value in a form that is the same for the same value, however it was written: keys sorted, strings
// unescaped, 1.0 as 1. No two values share one, but for what name does to their keys; nil leaves them as they are.
func canonical(dst []byte, raw json.RawMessage, name func(string) string) []byte {
	switch c := raw[0]; c {
	case '"':
		return appendText(append(dst, '"'), unquote(raw))
	case '{', '[':
		list, object, _ := members(raw)
		if object {
			for i := range list {
				if name != nil {
					list[i].key = name(list[i].key)
				}
			}
			slices.SortFunc(list, func(a, b member) int { return cmp.Compare(a.key, b.key) })
		}
		dst = append(dst, c)
		for _, m := range list {
			if object {
				dst = appendText(dst, m.key)
			}
			dst = canonical(dst, m.raw, name)
		}
		return append(dst, c+2) // } or ]
	case 't', 'f', 'n':
		return append(dst, c)
	default:
		n := parseNumber(raw)
		dst = append(dst, '#')
		if n.negative {
			dst = append(dst, '-')
		}
		dst = appendText(dst, n.digits)
		return append(strconv.AppendInt(dst, int64(n.point), 10), ';')
	}
}

// appendText appends a text after its length, so that what follows cannot be taken for a part of it.
func appendText(dst []byte, s string) []byte {
	dst = strconv.AppendInt(dst, int64(len(s)), 10)
	return append(append(dst, ':'), s...)
}

// number is 0.digits times ten to the power of point, exactly. Zero has no digits.
type number struct {
	negative bool
	digits   string
	point    int
}

func parseNumber(raw []byte) number {
	mantissa, power := raw, 0
	if e := bytes.IndexAny(raw, "eE"); e >= 0 {
		mantissa = raw[:e]
		power, _ = strconv.Atoi(strings.TrimPrefix(string(raw[e+1:]), "+")) // bounded by powerFits, leading zeros aside
	}
	text, negative := strings.CutPrefix(string(mantissa), "-")
	whole, part, _ := strings.Cut(text, ".")
	digits := whole + part
	stripped := strings.TrimLeft(digits, "0")
	point := power + len(whole) - (len(digits) - len(stripped))
	stripped = strings.TrimRight(stripped, "0")
	if stripped == "" {
		return number{}
	}
	return number{negative, stripped, point}
}

// compare returns a negative number, 0 or a positive one, as a is below, equal to or above b.
func (a number) compare(b number) int {
	sign := func(n number) int {
		switch {
		case n.digits == "":
			return 0
		case n.negative:
			return -1
		}
		return 1
	}
	if c := cmp.Compare(sign(a), sign(b)); c != 0 || sign(a) == 0 {
		return c
	}
	c := cmp.Compare(a.point, b.point)
	if c == 0 {
		c = strings.Compare(a.digits, b.digits)
	}
	return c * sign(a)
}

func isNumber(raw []byte) bool { return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' }
