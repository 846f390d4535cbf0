package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a JSON body beside its size. Far above what tools are called with, far below what makes reading one costly.
const (
	maxDepth   = 100    // arrays and objects in one another
	maxMembers = 10_000 // keys of one object
	maxValues  = 1 << 20
	maxPower   = 6 // digits of a number's exponent
)

// BodyError says why a body, a result or a stand-in was refused. It holds nothing of the text itself.
type BodyError struct {
	Offset  int    // the byte, from 0, at which it was seen
	Problem string // a sentence without its subject, such as "a key stands twice in one object"
}

func (e *BodyError) Error() string { return fmt.Sprintf("%s (at byte %d)", e.Problem, e.Offset) }

// Unwrap makes the error an [ErrBody].
func (e *BodyError) Unwrap() error { return ErrBody }

// strict reads one JSON value that every reader reads alike, and returns it without the white space between its tokens.
// encoding/json knows the grammar; what it lets pass is refused here: text that is not UTF-8, half a surrogate pair, keys
// that stand twice or differ in case only, and what is too deep or too many.
func strict(data []byte) (json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, &BodyError{invalidAt(data), "the text is not UTF-8"}
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, notJSON(data, err)
	}
	w := walker{data: data}
	if err := w.value(0); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(len(data))
	if err := json.Compact(&b, data); err != nil {
		return nil, &BodyError{0, "the text is not JSON"}
	}
	return b.Bytes(), nil
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// notJSON words what encoding/json said, without the character it quotes.
func notJSON(data []byte, err error) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return &BodyError{0, "there is nothing: give one JSON value"}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	var first json.RawMessage
	if dec.Decode(&first) == nil {
		return &BodyError{int(dec.InputOffset()), "there is more after the first JSON value"}
	}
	at := len(data)
	if syntax, ok := err.(*json.SyntaxError); ok && syntax.Offset > 0 {
		at = int(syntax.Offset) - 1
	}
	if strings.Contains(err.Error(), "max depth") { // encoding/json's own, far above ours, and it reads no further
		return tooDeep(at)
	}
	return &BodyError{at, "the text is not JSON"}
}

func tooDeep(at int) error {
	return &BodyError{at, fmt.Sprintf("more than %d arrays and objects are in one another", maxDepth)}
}

// walker goes once through text that is known to be JSON.
type walker struct {
	data   []byte
	i      int
	values int
}

func (w *walker) space() {
	for w.i < len(w.data) && (w.data[w.i] == ' ' || w.data[w.i] == '\t' || w.data[w.i] == '\n' || w.data[w.i] == '\r') {
		w.i++
	}
}

// token skips a number or a name.
func (w *walker) token() []byte {
	start := w.i
	for ; w.i < len(w.data); w.i++ {
		switch w.data[w.i] {
		case ' ', '\t', '\n', '\r', ',', ']', '}':
			return w.data[start:w.i]
		}
	}
	return w.data[start:]
}

// text skips a string and returns it with its quotation marks.
func (w *walker) text() []byte {
	start := w.i
	for w.i++; w.data[w.i] != '"'; w.i++ {
		if w.data[w.i] == '\\' {
			w.i++
		}
	}
	w.i++
	return w.data[start:w.i]
}

func (w *walker) value(depth int) error {
	w.space()
	if w.values++; w.values > maxValues {
		return &BodyError{w.i, fmt.Sprintf("more than %d values are in it", maxValues)}
	}
	switch c := w.data[w.i]; c {
	case '{', '[':
		if depth == maxDepth {
			return tooDeep(w.i)
		}
		if c == '{' {
			return w.object(depth)
		}
		return w.array(depth)
	case '"':
		start := w.i
		return surrogates(w.text(), start)
	default:
		start := w.i
		if t := w.token(); (c == '-' || c >= '0' && c <= '9') && !powerFits(t) {
			return &BodyError{start, fmt.Sprintf("a number's exponent has more than %d digits", maxPower)}
		}
		return nil
	}
}

func (w *walker) array(depth int) error {
	for w.i++; ; w.i++ {
		if w.space(); w.data[w.i] == ']' {
			break
		}
		if err := w.value(depth + 1); err != nil {
			return err
		}
		if w.space(); w.data[w.i] == ']' {
			break
		}
	}
	w.i++
	return nil
}

func (w *walker) object(depth int) error {
	seen := make(map[string]string)
	for w.i++; ; w.i++ {
		if w.space(); w.data[w.i] == '}' {
			break
		}
		start := w.i
		token := w.text()
		if err := surrogates(token, start); err != nil {
			return err
		}
		key := unquote(token)
		folded := fold(key)
		if other, ok := seen[folded]; ok && other == key {
			return &BodyError{start, "a key stands twice in one object: readers differ in which one they take"}
		} else if ok {
			return &BodyError{start, "two keys of one object differ in upper and lower case only: some readers take them for one"}
		}
		if len(seen) == maxMembers {
			return &BodyError{start, fmt.Sprintf("an object has more than %d keys", maxMembers)}
		}
		seen[folded] = key
		w.space()
		w.i++ // the colon
		if err := w.value(depth + 1); err != nil {
			return err
		}
		if w.space(); w.data[w.i] == '}' {
			break
		}
	}
	w.i++
	return nil
}

// unquote returns what a JSON string says.
func unquote(token []byte) string {
	if inner := token[1 : len(token)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(token, &s); err != nil {
		return string(token) // not reached: the text is known to be JSON
	}
	return s
}

// surrogates refuses half of a pair, which readers replace, drop or refuse.
func surrogates(token []byte, offset int) error {
	for i := 0; i < len(token); i++ {
		if token[i] != '\\' {
			continue
		}
		i++
		if token[i] != 'u' {
			continue
		}
		switch unit := hex4(token[i+1:]); {
		case unit >= 0xd800 && unit < 0xdc00:
			if rest := token[i+5:]; len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' || hex4(rest[2:])&0xfc00 != 0xdc00 {
				return &BodyError{offset + i - 1, "an escape is half of a pair: it stands for no character"}
			}
			i += 6
		case unit >= 0xdc00 && unit < 0xe000:
			return &BodyError{offset + i - 1, "an escape is half of a pair: it stands for no character"}
		}
		i += 4
	}
	return nil
}

func hex4(b []byte) (v int) {
	for _, c := range b[:4] {
		switch {
		case c >= 'a':
			c -= 'a' - 10
		case c >= 'A':
			c -= 'A' - 10
		default:
			c -= '0'
		}
		v = v<<4 | int(c)
	}
	return v
}

// fold maps names that differ in case only to one: by Unicode's simple folding, as encoding/json does, and with the Turkish
// letters i, whose upper or lower case is the common one for readers that compare so.
func fold(s string) string {
	b := make([]rune, 0, len(s))
	for _, r := range s {
		if r == 'ı' || r == 'İ' {
			r = 'i'
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		b = append(b, least)
	}
	return string(b)
}

// powerFits reports whether a number's exponent is short enough to count with.
func powerFits(number []byte) bool {
	e := bytes.IndexAny(number, "eE")
	return e < 0 || len(bytes.TrimLeft(number[e+1:], "+-0")) <= maxPower
}
