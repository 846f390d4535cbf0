package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// object holds the members of a JSON object by their exact names.
type object map[string]json.RawMessage

// readObject reads a payload. Its errors quote nothing of it.
func readObject(payload []byte) (object, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxPayload>>20)
	}
	if bytes.HasPrefix(payload, []byte{0xff, 0xfe}) || bytes.HasPrefix(payload, []byte{0xfe, 0xff}) {
		return nil, errors.New("it is UTF-16, where UTF-8 is needed")
	}
	payload = bytes.TrimPrefix(payload, []byte("\ufeff"))
	trimmed := bytes.TrimSpace(payload)
	if len(trimmed) == 0 {
		return nil, errors.New("it is empty")
	}
	if trimmed[0] != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	var o object
	if err := json.Unmarshal(payload, &o); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("it is not valid JSON, at byte %d of %d", e.Offset, len(payload))
		}
		return nil, errors.New("it is not valid JSON")
	}
	return o, nil
}

// fields reads members of an object and remembers the first that is not what it should be.
type fields struct {
	o   object
	err error
}

func read[T any](f *fields, key, want string) (v Field[T]) {
	raw, ok := f.o[key]
	if !ok {
		return v
	}
	if err := v.UnmarshalJSON(raw); err != nil {
		if f.err == nil {
			f.err = fmt.Errorf("%q is not %s", key, want)
		}
		return Field[T]{}
	}
	return v
}

func (f *fields) text(key string) Field[string] { return read[string](f, key, "a string") }
func (f *fields) flag(key string) Field[bool]   { return read[bool](f, key, "true or false") }

// list reads an array, whatever its elements are.
func (f *fields) list(key string) Field[[]json.RawMessage] {
	return read[[]json.RawMessage](f, key, "an array")
}

// need reads a string that must be there.
func (f *fields) need(key string) string {
	v := f.text(key)
	if f.err == nil && (v.Is != Given || v.Value == "") {
		f.err = fmt.Errorf("%q is missing", key)
	}
	return v.Value
}

// tasks reads an array of background work. An element that cannot be read is work all the same.
func (f *fields) tasks(key string) Field[[]Task] {
	list := f.list(key)
	tasks := Field[[]Task]{Is: list.Is}
	if list.Is == Given {
		tasks.Value = make([]Task, len(list.Value))
	}
	for i, raw := range list.Value {
		if o, err := readObject(raw); err == nil {
			of := fields{o: o}
			tasks.Value[i] = Task{ID: of.text("id").Value, Type: of.text("type").Value, Status: of.text("status").Value}
		}
	}
	return tasks
}

// count reads how many elements an array has.
func (f *fields) count(key string) Field[int] {
	list := f.list(key)
	return Field[int]{Value: len(list.Value), Is: list.Is}
}

// encode writes an answer as one line.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil // none of the answers can fail
	}
	return b.Bytes()
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
