package hook

import (
	"bytes"
	"encoding/json"
)

// Presence says whether a payload held a value.
type Presence uint8

// The presences. A host that leaves a field out, or gives null, says something else than one that gives "" or false.
const (
	Absent Presence = iota // the field was left out
	Null                   // it was null
	Given                  // it had a value
)

// Field is a value that a payload may leave out. The zero value is absent. As JSON it is its value, or null; with omitzero
// an absent one is left out.
type Field[T any] struct {
	Value T // zero unless Given
	Is    Presence
}

// Value returns a field that was given.
func Value[T any](v T) Field[T] { return Field[T]{Value: v, Is: Given} }

// Get returns the value and whether there was one.
func (f Field[T]) Get() (T, bool) { return f.Value, f.Is == Given }

// IsZero reports whether the field was left out.
func (f Field[T]) IsZero() bool { return f.Is == Absent }

// MarshalJSON writes the value, or null.
func (f Field[T]) MarshalJSON() ([]byte, error) {
	if f.Is != Given {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(f.Value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads a value or null.
func (f *Field[T]) UnmarshalJSON(data []byte) error {
	if string(bytes.TrimSpace(data)) == "null" {
		*f = Field[T]{Is: Null}
		return nil
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*f = Value(v)
	return nil
}
