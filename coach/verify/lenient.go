package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// list is a JSON list, null, or one value.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if string(b) == "null" {
		return nil
	}
	if b[0] == '[' {
		return json.Unmarshal(b, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*l = list[T]{one}
	return nil
}

// scalar is a JSON string, number, bool or null as text. A list of them is joined by commas, an object is not taken.
type scalar string

func (s *scalar) UnmarshalJSON(b []byte) error {
	var v any
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return err
	}
	text, ok := flat(v)
	if !ok {
		return errors.New("an object where text is asked for")
	}
	*s = scalar(text)
	return nil
}

func flat(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case map[string]any:
		return "", false
	case []any:
		var parts []string
		for _, x := range v {
			s, ok := flat(x)
			if !ok {
				return "", false
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, ", "), true
	}
	return fmt.Sprint(v), true
}

// number is a whole JSON number, one in quotes, or null. Text that begins with none is 0.
type number int

func (n *number) UnmarshalJSON(b []byte) error {
	var s scalar
	if err := s.UnmarshalJSON(b); err != nil {
		return err
	}
	text := strings.TrimSpace(string(s))
	if f, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(f) <= math.MaxInt32 {
		*n = number(f)
		return nil
	}
	end := 0
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	if i, err := strconv.Atoi(text[:end]); err == nil && i <= math.MaxInt32 {
		*n = number(i)
	}
	return nil
}

func strs(l []scalar) []string {
	var out []string
	for _, s := range l {
		if s != "" {
			out = append(out, string(s))
		}
	}
	return out
}
