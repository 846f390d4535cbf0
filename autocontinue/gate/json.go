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

// bodyError says why a text was refused, without quoting it.
type bodyError struct {
	offset  int // of the byte, from 0
	problem string
}

func (e *bodyError) Error() string { return fmt.Sprintf("%s (at byte %d)", e.problem, e.offset) }
func (e *bodyError) Unwrap() error { return ErrInput }

// readJSON reads one JSON value that all readers understand in the same way: a map[string]any, []any, string,
// json.Number, bool or nil. encoding/json checks the grammar. readJSON also refuses invalid UTF-8, half a surrogate
// pair, two keys that are equal or differ in case only, and too deep or too many values.
func readJSON(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, &bodyError{bytes.IndexRune(data, utf8.RuneError), "the text is not UTF-8"}
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		at := len(data)
		if syntax, ok := err.(*json.SyntaxError); ok && syntax.Offset > 0 {
			at = int(syntax.Offset) - 1
		}
		return nil, &bodyError{at, "the text is not one JSON value"} // err quotes a character
	}
	for _, at := range escape.FindAllSubmatchIndex(data, -1) {
		if at[2] >= 0 {
			return nil, &bodyError{at[0], "an escape is half of a surrogate pair"}
		}
	}
	r := jsonReader{tokens: json.NewDecoder(bytes.NewReader(data))}
	r.tokens.UseNumber()
	return r.value(0)
}

// escape matches an escape in a string. Its group is half of a surrogate pair: readers replace it, drop it or fail.
var escape = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]|(u[dD][89a-fA-F])|.)`)

// compact returns the text of a value without the white space between its tokens.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	json.Compact(&b, raw) // it is JSON
	return b.Bytes()
}

// jsonReader reads a text that is JSON.
type jsonReader struct {
	tokens *json.Decoder
	values int
}

// refuse says what is wrong with the last token.
func (r *jsonReader) refuse(format string, args ...any) error {
	return &bodyError{int(r.tokens.InputOffset()), fmt.Sprintf(format, args...)}
}

func (r *jsonReader) value(depth int) (any, error) {
	token, _ := r.tokens.Token()
	if r.values++; r.values > maxValues {
		return nil, r.refuse("it has more than %d values", maxValues)
	}
	if n, ok := token.(json.Number); ok {
		_, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
		if len(strings.TrimLeft(exponent, "+-0")) > maxExponent {
			return nil, r.refuse("a number's exponent has more than %d digits", maxExponent)
		}
	}
	if _, nested := token.(json.Delim); !nested {
		return token, nil
	} else if depth == maxDepth {
		return nil, r.refuse("more than %d arrays and objects are nested", maxDepth)
	}
	object, list, keys := make(map[string]any), []any{}, make(map[string]string)
	for r.tokens.More() {
		var key string
		if token == json.Delim('{') {
			name, _ := r.tokens.Token()
			key, _ = name.(string)
			if other, taken := keys[fold(key)]; taken && other == key {
				return nil, r.refuse("one object has a key twice: readers disagree on its value")
			} else if taken {
				return nil, r.refuse("two keys of one object differ in case only: some readers treat them as one")
			}
			keys[fold(key)] = key
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		object[key], list = v, append(list, v)
	}
	r.tokens.Token()
	if token == json.Delim('[') {
		return list, nil
	}
	return object, nil
}

// fold maps names that differ in case only to one name, by Unicode's simple folding, and the Turkish letters i to i.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

func asIs(key string) string { return key }

// sum is equal for equal values, however they are written: 1.0 is 1, and the order of keys does not count. Keys are
// equal if key maps them to the same text.
func sum(v any, key func(string) string) [sha256.Size]byte {
	b := fmt.Appendf(nil, "%T ", v)
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for k, m := range v {
			s := sum(m, key)
			members = append(members, string(append(appendText(nil, key(k)), s[:]...)))
		}
		slices.Sort(members)
		b = append(b, strings.Join(members, "")...)
	case []any:
		for _, m := range v {
			s := sum(m, key)
			b = append(b, s[:]...)
		}
	case json.Number:
		b = fmt.Append(b, parseNumber(v))
	default:
		b = fmt.Append(b, v)
	}
	return sha256.Sum256(b)
}

// appendText appends a text after its length, so that two lists of texts never look the same.
func appendText(dst []byte, s string) []byte {
	return append(append(strconv.AppendInt(dst, int64(len(s)), 10), ':'), s...)
}

// number is sign times 0.digits times ten to the power of point, exactly. Zero is the zero value.
type number struct {
	sign   int
	digits string
	point  int
}

func parseNumber(n json.Number) number {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	power, _ := strconv.Atoi(exponent) // maxExponent bounds it, leading zeros aside
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, part, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+part, "0")
	point := power + len(digits) - len(part)
	if digits = strings.TrimRight(digits, "0"); digits == "" {
		return number{}
	}
	return number{map[bool]int{true: -1, false: 1}[negative], digits, point}
}

// compare returns a number below, equal to or above 0, as a is below, equal to or above b.
func compare(a, b json.Number) int {
	x, y := parseNumber(a), parseNumber(b)
	size := cmp.Or(cmp.Compare(x.point, y.point), cmp.Compare(x.digits, y.digits))
	return cmp.Or(cmp.Compare(x.sign, y.sign), x.sign*size)
}
