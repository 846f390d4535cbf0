package gate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a JSON body beside its size. They are far above what tools are called with.
const (
	maxDepth    = 100 // nested arrays and objects
	maxValues   = 1 << 20
	maxExponent = 6 // digits of a number's exponent
)

// value is one JSON value of a text that [readJSON] accepted.
type value struct {
	raw    json.RawMessage
	text   string  // of a string
	key    string  // in an object
	folded string  // the key without its case
	list   []value // the elements of an array, or the members of an object

	// Equal values have the same sum, however they are written: 1.0 is 1, and the order of keys does not count. loose is a
	// sum for which keys that differ in case only are the same.
	sum, loose [sha256.Size]byte
}

// bodyError says why a text was refused, without quoting it.
type bodyError struct {
	offset  int // of the byte, from 0
	problem string
}

func (e *bodyError) Error() string { return fmt.Sprintf("%s (at byte %d)", e.problem, e.offset) }
func (e *bodyError) Unwrap() error { return ErrInput }

// readJSON reads one JSON value that all readers understand in the same way. encoding/json checks the grammar. readJSON
// also refuses invalid UTF-8, half a surrogate pair, two keys that are equal or differ in case only, and too deep or
// too many values.
func readJSON(data []byte) (value, error) {
	if !utf8.Valid(data) {
		return value{}, &bodyError{bytes.IndexRune(data, utf8.RuneError), "the text is not UTF-8"}
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return value{}, notJSON(data, err)
	}
	for _, at := range escape.FindAllSubmatchIndex(data, -1) {
		if at[2] >= 0 {
			return value{}, &bodyError{at[0], "an escape is half of a surrogate pair"}
		}
	}
	r := jsonReader{data: data, tokens: json.NewDecoder(bytes.NewReader(data))}
	r.tokens.UseNumber()
	return r.value(0)
}

// escape matches an escape in a string. Its group is half of a surrogate pair: readers replace it, drop it or fail.
var escape = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]|(u[dD][89a-fA-F])|.)`)

// notJSON words an error of encoding/json without the character that it quotes.
func notJSON(data []byte, err error) error {
	at := len(data)
	if syntax, ok := err.(*json.SyntaxError); ok && syntax.Offset > 0 {
		at = int(syntax.Offset) - 1
	}
	if strings.Contains(err.Error(), "max depth") { // encoding/json's own, far above ours
		return tooDeep(at)
	}
	return &bodyError{at, "the text is not one JSON value"}
}

func tooDeep(at int) error {
	return &bodyError{at, fmt.Sprintf("more than %d arrays and objects are nested", maxDepth)}
}

// compact returns the text of a value without the white space between its tokens.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	json.Compact(&b, raw) // it is JSON
	return b.Bytes()
}

// jsonReader reads a text that is JSON.
type jsonReader struct {
	data   []byte
	tokens *json.Decoder
	values int
}

// token returns the next token and where it begins.
func (r *jsonReader) token() (token json.Token, start int) {
	from := r.tokens.InputOffset()
	token, _ = r.tokens.Token()
	end := int(r.tokens.InputOffset())
	return token, end - len(bytes.TrimLeft(r.data[from:end], " \t\r\n,:"))
}

func (r *jsonReader) value(depth int) (v value, err error) {
	token, start := r.token()
	if r.values++; r.values > maxValues {
		return v, &bodyError{start, fmt.Sprintf("it has more than %d values", maxValues)}
	}
	switch token := token.(type) {
	case string:
		v.text = token
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(string(token)), "e")
		if len(strings.TrimLeft(exponent, "+-0")) > maxExponent {
			return v, &bodyError{start, fmt.Sprintf("a number's exponent has more than %d digits", maxExponent)}
		}
	case json.Delim:
		if depth == maxDepth {
			return v, tooDeep(start)
		}
		for keys := make(map[string]string); r.tokens.More(); {
			var key, folded string
			if token == '{' {
				name, at := r.token()
				key, _ = name.(string)
				folded = fold(key)
				if other, taken := keys[folded]; taken && other == key {
					return v, &bodyError{at, "one object has a key twice: readers disagree on its value"}
				} else if taken {
					return v, &bodyError{at, "two keys of one object differ in case only: some readers treat them as one"}
				}
				keys[folded] = key
			}
			m, err := r.value(depth + 1)
			if err != nil {
				return v, err
			}
			m.key, m.folded = key, folded
			v.list = append(v.list, m)
		}
		r.token()
	}
	v.raw = r.data[start:r.tokens.InputOffset()]
	v.sum = v.hash(false)
	if v.loose = v.sum; len(v.list) > 0 {
		v.loose = v.hash(true)
	}
	return v, nil
}

// fold maps names that differ in case only to one name, by Unicode's simple folding, and the Turkish letters i to i.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

func (v value) isString() bool { return v.raw[0] == '"' }
func (v value) isNumber() bool { return v.raw[0] == '-' || v.raw[0] >= '0' && v.raw[0] <= '9' }
func (v value) isObject() bool { return v.raw[0] == '{' }
func (v value) isArray() bool  { return v.raw[0] == '[' }

// kind returns one byte for each JSON type.
func (v value) kind() byte {
	switch {
	case v.isNumber():
		return '0'
	case v.raw[0] == 'f':
		return 't'
	}
	return v.raw[0]
}

func (v value) hash(loose bool) [sha256.Size]byte {
	b := []byte{v.kind()}
	switch {
	case v.isString():
		b = append(b, v.text...)
	case v.isNumber():
		n := parseNumber(v.raw)
		b = strconv.AppendInt(strconv.AppendBool(appendText(b, n.digits), n.negative), int64(n.point), 10)
	case v.isObject() || v.isArray():
		parts := make([]string, len(v.list))
		for i, m := range v.list {
			if loose {
				m.key, m.sum = m.folded, m.loose
			}
			parts[i] = string(append(appendText(nil, m.key), m.sum[:]...))
		}
		if v.isObject() {
			slices.Sort(parts)
		}
		b = append(b, strings.Join(parts, "")...)
	default:
		b = v.raw
	}
	return sha256.Sum256(b)
}

// appendText appends a text after its length, so that two lists of texts never look the same.
func appendText(dst []byte, s string) []byte {
	return append(append(strconv.AppendInt(dst, int64(len(s)), 10), ':'), s...)
}

// number is 0.digits times ten to the power of point, exactly. Zero has no digits.
type number struct {
	negative bool
	digits   string
	point    int
}

func parseNumber(raw []byte) number {
	mantissa, power := string(raw), 0
	if e := bytes.IndexAny(raw, "eE"); e >= 0 {
		mantissa = string(raw[:e])
		power, _ = strconv.Atoi(string(raw[e+1:])) // maxExponent bounds it, leading zeros aside
	}
	text, negative := strings.CutPrefix(mantissa, "-")
	whole, part, _ := strings.Cut(text, ".")
	digits := whole + part
	stripped := strings.TrimLeft(digits, "0")
	point := power + len(whole) - (len(digits) - len(stripped))
	if stripped = strings.TrimRight(stripped, "0"); stripped == "" {
		return number{}
	}
	return number{negative, stripped, point}
}

// compare returns a number below, equal to or above 0, as a is below, equal to or above b.
func (n number) compare(o number) int {
	sign := func(n number) int {
		if n.digits == "" {
			return 0
		}
		return map[bool]int{true: -1, false: 1}[n.negative]
	}
	return cmp.Or(cmp.Compare(sign(n), sign(o)),
		sign(n)*cmp.Or(cmp.Compare(n.point, o.point), strings.Compare(n.digits, o.digits)))
}
