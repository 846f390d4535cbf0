package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of what a subject and a decision carry beside bodies, in bytes.
const (
	maxID     = 256 // a thread, run or call
	maxTool   = 128
	maxLabel  = 1 << 10
	maxName   = 256 // who decides
	maxReason = 4 << 10
)

// Kind says which of the three gates a subject stands before.
type Kind string

// The gates, in the order in which a run meets them.
const (
	Context  Kind = "context"  // the payload of a run, before it is sent to the agent
	Tool     Kind = "tool"     // one call of a tool, before it is executed
	Response Kind = "response" // what the agent answers, before it is shown or stored
)

// Subject is what is proposed. Everything but the label is part of the item's digest.
type Subject struct {
	Kind   Kind   `json:"kind"`
	Thread string `json:"thread"` // the conversation; required
	Run    string `json:"run"`    // one execution of the agent, unique in the session; required
	Call   string `json:"call,omitempty"`
	Tool   string `json:"tool,omitempty"` // Call, unique in the run, and Tool are required for a tool and empty otherwise

	// Label is one line for humans, written by the host. It decides nothing.
	Label string `json:"label,omitempty"`

	// Body is one JSON object: the payload of a context, the arguments of a tool, or the text and a2ui of a response (text is
	// a string, a2ui any JSON and may be absent; nothing else). White space between its tokens is removed at the door, and
	// the text of a response is written in one way; keys keep their order and numbers their digits.
	Body json.RawMessage `json:"body"`
}

// check refuses a subject that lacks a field or has one too many. The body is another matter, see readBody.
func (sub Subject) check() error {
	switch sub.Kind {
	case Context, Response:
		if sub.Call != "" || sub.Tool != "" {
			return fmt.Errorf("%w: a %s has no call and no tool", ErrInput, sub.Kind)
		}
	case Tool:
		if err := checkID("call", sub.Call); err != nil {
			return err
		}
		if err := checkTool(sub.Tool); err != nil {
			return fmt.Errorf("%w: %w", ErrInput, err)
		}
	default:
		return fmt.Errorf("%w: the kind is none of context, tool, response", ErrInput)
	}
	if err := checkID("thread", sub.Thread); err != nil {
		return err
	}
	if err := checkID("run", sub.Run); err != nil {
		return err
	}
	return checkText("label", sub.Label, maxLabel)
}

func checkID(field, id string) error {
	if id == "" {
		return fmt.Errorf("%w: the %s ID is empty", ErrInput, field)
	}
	if strings.ContainsFunc(id, hidden) {
		return fmt.Errorf("%w: the %s ID holds a character that nobody would see", ErrInput, field)
	}
	return checkText(field+" ID", id, maxID)
}

func checkText(field, text string, limit int) error {
	if len(text) > limit {
		return fmt.Errorf("%w: the %s has %d bytes, at most %d are taken", ErrInput, field, len(text), limit)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: the %s is not UTF-8", ErrInput, field)
	}
	return nil
}

func checkTool(name string) error {
	if name == "" {
		return errors.New("the tool's name is empty")
	}
	if len(name) > maxTool {
		return fmt.Errorf("the tool's name has %d bytes, at most %d are taken", len(name), maxTool)
	}
	for _, r := range name {
		if !toolRune(r) {
			return errors.New("a tool's name has letters a-z, A-Z, digits and _ - . : / only")
		}
	}
	return nil
}

// readBody returns the body of a subject of that kind as it is kept.
func readBody(kind Kind, data []byte) (json.RawMessage, error) {
	body, err := strict(data)
	if err != nil {
		return nil, err
	}
	if body[0] != '{' {
		return nil, &BodyError{0, "it is not a JSON object"}
	}
	if kind != Response {
		return body, nil
	}
	list, _, _ := members(body)
	var text, a2ui json.RawMessage
	for _, m := range list {
		switch m.key {
		case "text":
			text = m.raw
		case "a2ui":
			a2ui = m.raw
		default:
			return nil, &BodyError{0, "a response has text and a2ui and nothing else"}
		}
	}
	if len(text) == 0 || text[0] != '"' {
		return nil, &BodyError{0, "a response needs text, a string"}
	}
	return response(unquote(text), a2ui), nil
}

// response writes the body of a response, which events hold in two parts.
func response(text string, a2ui json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"text":`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(text) // a string is always encoded, and a buffer always written
	b.Truncate(b.Len() - 1)
	if a2ui != nil {
		b.WriteString(`,"a2ui":`)
		b.Write(a2ui)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// parts is the inverse of response.
func parts(body json.RawMessage) (text string, a2ui json.RawMessage) {
	list, _, _ := members(body)
	text = unquote(list[0].raw)
	if len(list) == 2 {
		a2ui = list[1].raw
	}
	return text, a2ui
}
