package classifytest

//lint:file-ignore ST1005 These are the sentences of a server, which begin with capitals.

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var schemaName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check says what a strict endpoint would refuse in a request.
func check(body []byte) error {
	c, err := parseChat(body)
	if err != nil {
		return errors.New("We could not parse the JSON body of your request")
	}
	if c.Model == "" {
		return errors.New("you must provide a model parameter")
	}
	if len(c.Messages) == 0 {
		return errors.New("Invalid 'messages': empty array. Expected an array with minimum length 1")
	}
	for i, m := range c.Messages {
		if !m.Content.ok {
			return fmt.Errorf("Invalid type for 'messages[%d].content': expected a string or an array of parts", i)
		}
	}
	return c.checkFormat()
}

func (c chat) checkFormat() error {
	switch f := c.Format; {
	case f == nil || f.Type == "text":
		return nil
	case f.Type == "json_object":
		for _, m := range c.Messages {
			if strings.Contains(strings.ToLower(m.Content.text), "json") {
				return nil
			}
		}
		return errors.New("'messages' must contain the word 'json', to use 'response_format' of type 'json_object'")
	case f.Type != "json_schema":
		return fmt.Errorf("Invalid value: %.20q in response_format.type", f.Type)
	case f.Schema == nil:
		return errors.New("Missing required parameter: 'response_format.json_schema'")
	case !schemaName.MatchString(f.Schema.Name):
		return errors.New("Invalid 'response_format.json_schema.name': expected '^[a-zA-Z0-9_-]{1,64}$'")
	case !f.Schema.Strict:
		return nil
	}
	var root map[string]any
	err := json.Unmarshal(c.Format.Schema.Schema, &root)
	if err == nil && root["type"] != "object" {
		err = errors.New("schema must be a JSON Schema of 'type: \"object\"'")
	}
	if err == nil {
		err = checkSchema(root)
	}
	if err != nil {
		return fmt.Errorf("Invalid schema for response_format '%s': %w", c.Format.Schema.Name, err)
	}
	return nil
}

// checkSchema holds a schema and those inside it to the rules for strict ones: each object is closed, and each property
// is required.
func checkSchema(v any) error {
	if list, ok := v.([]any); ok {
		for _, inner := range list {
			if err := checkSchema(inner); err != nil {
				return err
			}
		}
	}
	s, _ := v.(map[string]any)
	if properties, ok := s["properties"].(map[string]any); ok || s["type"] == "object" {
		if s["additionalProperties"] != false {
			return errors.New("'additionalProperties' is required to be supplied and to be false")
		}
		required, _ := s["required"].([]any)
		for name := range properties {
			if !slices.Contains(required, any(name)) {
				return fmt.Errorf("'required' must have every key in properties. Missing '%s'", name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if err := checkSchema(s[name]); err != nil {
			return err
		}
	}
	return nil
}
