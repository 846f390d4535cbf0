package evaluate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// shape is which keys a JSON value may have. A nil one is free: only a key that is there twice is wrong with it.
type shape struct {
	keys  []string
	under map[string]*shape
	items *shape // of a list
}

// caseShape is the shape of a line. The keys are those of Case, so that a new field is known here too.
var caseShape = shapeOf(reflect.TypeFor[Case]())

func shapeOf(t reflect.Type) *shape {
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.Slice:
		return &shape{items: shapeOf(t.Elem())}
	case reflect.Struct:
		s := shape{under: make(map[string]*shape)}
		for f := range t.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			s.keys = append(s.keys, key)
			s.under[key] = shapeOf(f.Type)
		}
		return &s
	}
	return nil
}

// checkKeys calls fault for every key of a line, which is valid JSON, that encoding/json would pass over or take for
// another: one that is there twice, one in another letter case, an unknown one.
func checkKeys(line []byte, fault func(error)) {
	w := keyWalk{json.NewDecoder(bytes.NewReader(line)), fault}
	w.value("", caseShape)
}

type keyWalk struct {
	dec   *json.Decoder
	fault func(error)
}

// value reads the next value, which stands at a path.
func (w keyWalk) value(at string, s *shape) {
	switch w.token() {
	case json.Delim('{'):
		w.object(at, s)
	case json.Delim('['):
		var items *shape
		if s != nil {
			items = s.items
		}
		for i := 0; w.dec.More(); i++ {
			w.value(fmt.Sprintf("%s[%d]", at, i), items)
		}
		w.token()
	}
}

func (w keyWalk) object(at string, s *shape) {
	seen := make(map[string]bool)
	for w.dec.More() {
		key, _ := w.token().(string)
		path := strings.TrimPrefix(at+"."+key, ".")
		var under *shape
		if s != nil && s.under != nil {
			under = s.under[key]
		}
		switch {
		case seen[key]:
			w.fault(fmt.Errorf("key %s: it is there twice; remove one of them", quoted(path)))
		case s != nil && s.under != nil && !slices.Contains(s.keys, key):
			w.fault(unknown(at, key, path, s.keys))
		}
		seen[key] = true
		w.value(path, under)
	}
	w.token()
}

// unknown is the fault of a key that is none of an object's.
func unknown(at, key, path string, keys []string) error {
	if i := slices.IndexFunc(keys, func(k string) bool { return strings.EqualFold(k, key) }); i >= 0 {
		return fmt.Errorf("unknown key %s: letter case counts; write %q", quoted(path), keys[i])
	}
	return fmt.Errorf("unknown key %s: %s takes %s; keys of your own go under meta", quoted(path), cmp.Or(at, "a case"), join(keys))
}

// token is the next one; the line was found valid before.
func (w keyWalk) token() json.Token {
	t, err := w.dec.Token()
	if err != nil {
		return nil
	}
	return t
}
