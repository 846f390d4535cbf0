package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// check refuses what the agent and its tools cannot use, from the agent and from the person who edits.
func check(sub gate.Subject) error {
	switch sub.Kind {
	case gate.Context:
		var p payload
		if err := json.Unmarshal(sub.Body, &p); err != nil {
			return errors.New("the agent does not accept this payload: from, message and model are strings, " +
				"tools is a list of strings")
		}
		if strings.TrimSpace(p.Message) == "" {
			return errors.New("the message is empty")
		}
		// The agent must be able to tell that a continuation is not the human's word.
		if turnOf(sub.Run) != sub.Run && !strings.HasPrefix(p.Message, plaintext.Prefix) {
			return fmt.Errorf("a continuation keeps its beginning, %q", plaintext.Prefix)
		}
	case gate.Tool:
		if _, ok := tools[sub.Tool]; !ok {
			return errors.New("the agent has no such tool")
		}
		if strings.HasSuffix(sub.Tool, "_save_batch") {
			return checkRows(sub.Body)
		}
	}
	return nil
}

func checkRows(args json.RawMessage) error {
	var in struct {
		Rows []struct {
			Day    string      `json:"day"`
			Weight json.Number `json:"weight"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(args, &in); err != nil || len(in.Rows) == 0 {
		return errors.New(`"rows" is a list of objects, each with a day and a weight`)
	}
	for i, r := range in.Rows {
		if r.Day == "" || r.Weight == "" {
			return fmt.Errorf("row %d needs a day and a weight", i+1)
		}
	}
	return nil
}

// formOf describes the fields that a person edits.
func formOf(sub gate.Subject) json.RawMessage {
	switch {
	case sub.Kind == gate.Context:
		return json.RawMessage(`{"properties": {
			"from": {"title": "Speaker", "enum": ["human", "System Coach"]},
			"message": {"title": "Message", "description": "What the agent reads."},
			"model": {"title": "Model", "enum": ["scripted-1", "scripted-2"]},
			"temperature": {"title": "Temperature", "type": "number"},
			"tools": {"title": "Tools", "description": "Tools that the agent may call."}}}`)
	case sub.Tool == "weight_delete":
		return json.RawMessage(`{"properties": {
			"id": {"title": "Entry"}, "day": {"title": "Day"}, "weight": {"title": "Weight in kg"},
			"note": {"title": "Note", "type": "string", "description": "Optional."}}}`)
	}
	return nil
}
