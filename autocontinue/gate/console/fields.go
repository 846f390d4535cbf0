package console

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// field is one value of a flat object, for a form.
type field struct {
	Key     string   `json:"key"`
	Label   string   `json:"label"`
	Help    string   `json:"help,omitempty"`
	Type    string   `json:"type"`              // text, number, boolean, or json for anything else
	Value   string   `json:"value"`             // text: as a person edits it; otherwise JSON
	Choices []string `json:"choices,omitempty"` // JSON
	Absent  bool     `json:"absent,omitempty"`  // only the schema has it
}

// Bounds of an object that is flat enough for a form.
const (
	maxFields    = 30
	maxFieldText = 4 << 10 // bytes of a value
)

// property is what a JSON Schema says about a field.
type property struct {
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Type        any               `json:"type"`
	Enum        []json.RawMessage `json:"enum"`
}

// fields returns the values of an item's body for a form; nil if the body is not flat enough.
func (c *Console) fields(it gate.Item) []field {
	var schema struct {
		Properties map[string]property `json:"properties"`
	}
	if c.cfg.Schema != nil {
		json.Unmarshal(c.cfg.Schema(it.Subject), &schema) // without a schema that can be read, labels are keys
	}
	list := members(it.Body)
	for _, key := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.ContainsFunc(list, func(m member) bool { return m.key == key }) {
			list = append(list, member{key: key})
		}
	}
	if len(list) > maxFields {
		return nil
	}
	var fields []field
	for _, m := range list {
		if len(m.value) > maxFieldText || strings.HasPrefix(string(m.value), "[{") {
			return nil
		}
		p := schema.Properties[m.key]
		f := field{
			Key: m.key, Label: line(cmp.Or(p.Title, m.key), maxLabel), Help: line(p.Description, noteText),
			Type: typeOf(m.value, p), Absent: m.value == nil,
		}
		if f.Type == "text" {
			var s string
			json.Unmarshal(m.value, &s) // an absent one is empty
			f.Value = typable(s)
		} else if m.value != nil {
			f.Value = pretty(m.value)
		}
		for _, choice := range p.Enum {
			f.Choices = append(f.Choices, pretty(choice))
		}
		fields = append(fields, f)
	}
	return fields
}

const maxLabel = 100

// typeOf returns the type of a value or, if it is absent, the one of the schema.
func typeOf(value json.RawMessage, p property) string {
	switch {
	case value == nil:
		known := map[string]string{"string": "text", "number": "number", "integer": "number", "boolean": "boolean"}
		name, _ := p.Type.(string)
		return cmp.Or(known[name], "json")
	case value[0] == '"':
		return "text"
	case value[0] == 't' || value[0] == 'f':
		return "boolean"
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		return "number"
	}
	return "json"
}

// patch returns a body in which some values are replaced. What nobody touched stays as it is, byte for byte.
func patch(body json.RawMessage, changes map[string]string) (json.RawMessage, error) {
	list := members(body)
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		value := json.RawMessage(changes[key])
		if !json.Valid(value) {
			return nil, problem{"input", "The value of " + line(key, maxLabel) + " is not JSON."}
		}
		i := slices.IndexFunc(list, func(m member) bool { return m.key == key })
		if i < 0 {
			i = len(list)
			list = append(list, member{key: key})
		}
		var was, typed string
		if json.Unmarshal(list[i].value, &was) == nil && json.Unmarshal(value, &typed) == nil {
			value = json.RawMessage(quoted(restore(was, typed)))
		}
		list[i].value = value
	}
	return object(list), nil
}
