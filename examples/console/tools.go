package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// rules are the rules of a first start. Later the rules in policy.json hold, which the page edits.
const rules = `[
  {"tool": "profile_get", "then": "allow"},
  {"tool": "weight_list", "then": "allow"},
  {"tool": "*_delete", "then": "ask", "match": ["weight_delete"]},
  {"tool": "*_save_batch", "then": "ask"},
  {"tool": "*_save_batch", "when": [{"at": "/rows", "count_over": 50}], "then": "deny"}
]
`

// tools are the agent's tools. They only pretend.
var tools = map[string]func(args json.RawMessage) any{
	"profile_get": func(json.RawMessage) any { return map[string]any{"name": "Kim", "age": 34, "unit": "kg"} },
	"weight_list": func(json.RawMessage) any { return map[string]any{"count": 3, "latest": 72.2} },
	"weight_save_batch": func(args json.RawMessage) any {
		var in struct{ Rows []json.RawMessage }
		if err := json.Unmarshal(args, &in); err != nil {
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"saved": len(in.Rows)}
	},
	"weight_delete": func(json.RawMessage) any { return map[string]any{"deleted": 1} },
	"note_delete":   func(json.RawMessage) any { return map[string]any{"deleted": 1} },
}

func toolNames() []string {
	var names []string
	for name := range tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// execute runs a tool with the approved bytes.
func execute(tool string, args json.RawMessage) (json.RawMessage, error) {
	f, ok := tools[tool]
	if !ok {
		return nil, fmt.Errorf("there is no tool %q", tool)
	}
	return json.Marshal(f(args))
}
