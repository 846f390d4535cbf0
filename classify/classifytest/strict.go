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
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, m.Role) {
			return fmt.Errorf("Invalid value: %.20q in messages[%d].role", m.Role, i)
		}
		if _, ok := m.text(); !ok {
			return fmt.Errorf("Invalid type for 'messages[%d].content': expected a string or an array of parts", i)
		}
	}
	if c.Stream {
		return errors.New("Unsupported value: 'stream' is not supported by this server")
	}
	if c.MaxTokens != nil && c.MaxCompletionTokens != nil {
		return errors.New("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported")
	}
	for _, n := range []*int{c.MaxTokens, c.MaxCompletionTokens} {
		if n != nil && *n < 1 {
			return errors.New("Invalid token limit: expected a value >= 1")
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
			if text, _ := m.text(); strings.Contains(strings.ToLower(text), "json") {
				return nil
			}
		}
		return errors.New("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'")
	case f.Type != "json_schema":
		return fmt.Errorf("Invalid value: %.20q in response_format.type", f.Type)
	case f.Schema == nil:
		return errors.New("Missing required parameter: 'response_format.json_schema'")
	case !schemaName.MatchString(f.Schema.Name):
		return errors.New("Invalid 'response_format.json_schema.name': expected a string that matches '^[a-zA-Z0-9_-]+$', 64 characters at most")
	case !f.Schema.Strict:
		return nil
	}
	var root map[string]any
	if err := json.Unmarshal(c.Format.Schema.Schema, &root); err != nil || root["type"] != "object" {
		return fmt.Errorf("Invalid schema for response_format '%s': schema must be a JSON Schema of 'type: \"object\"'",
			c.Format.Schema.Name)
	}
	if err := checkSchema(root, "()"); err != nil {
		return fmt.Errorf("Invalid schema for response_format '%s': %w", c.Format.Schema.Name, err)
	}
	return nil
}

// unsupported are the keywords that strict schemas may not have.
var unsupported = []string{"allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else"}

// checkSchema holds a schema and those inside it to the rules for strict ones: each object closed, each property
// required.
func checkSchema(s map[string]any, at string) error {
	for _, k := range unsupported {
		if _, ok := s[k]; ok {
			return fmt.Errorf("In context=%s, '%s' is not permitted", at, k)
		}
	}
	properties, isObject := s["properties"].(map[string]any)
	if isObject || s["type"] == "object" {
		if s["additionalProperties"] != false {
			return fmt.Errorf("In context=%s, 'additionalProperties' is required to be supplied and to be false", at)
		}
		required, _ := s["required"].([]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !slices.Contains(required, any(name)) {
				return fmt.Errorf("In context=%s, 'required' is required to be supplied and to be an array including every key in properties. Missing '%s'", at, name)
			}
		}
		if len(required) != len(properties) {
			return fmt.Errorf("In context=%s, 'required' has keys that are no properties", at)
		}
	}
	inner := map[string]any{"items": s["items"]}
	maps.Copy(inner, properties)
	for _, list := range []string{"$defs", "definitions"} {
		defs, _ := s[list].(map[string]any)
		for name, d := range defs {
			inner[list+"/"+name] = d
		}
	}
	choices, _ := s["anyOf"].([]any)
	for i, d := range choices {
		inner[fmt.Sprintf("anyOf/%d", i)] = d
	}
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		if sub, ok := inner[name].(map[string]any); ok {
			if err := checkSchema(sub, "('"+name+"')"); err != nil {
				return err
			}
		}
	}
	return nil
}
