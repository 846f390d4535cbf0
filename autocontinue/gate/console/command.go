package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// command is what a page asks for. T says which of the other fields it uses. It does not say who asks.
type command struct {
	T  string `json:"t"`  // decide, submit, stop, audited, ask, policy, try, suggest, allow
	ID string `json:"id"` // of the command, for its reply

	// decide, suggest, allow
	Item   string            `json:"item"`
	Digest string            `json:"digest"`
	Action gate.Action       `json:"action"`
	Reason string            `json:"reason"`
	Body   *string           `json:"body"`   // edit: the new payload, arguments or a2ui as JSON; respond: the result
	Text   *string           `json:"text"`   // edit of a response: its new text
	Fields map[string]string `json:"fields"` // edit: in place of body, the values to replace, as JSON

	// submit, stop
	Thread  string `json:"thread"`
	Message string `json:"message"`
	Run     string `json:"run"`

	// audited, ask, policy, try, allow
	On      bool      `json:"on"`
	Gate    gate.Kind `json:"gate"`
	Tool    string    `json:"tool"`
	Version string    `json:"version"`
	Rules   string    `json:"rules"` // allow: one rule
}

const (
	maxID      = 64
	maxMessage = 64 << 10
	maxThread  = 200
	submitTime = 30 * time.Second
)

// command does what a page asks for and replies.
func (c *Console) command(ctx context.Context, name string, data []byte) frame {
	var cmd command
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&cmd)
	reply := frame{T: "reply", ID: head(cmd.ID, maxID)}
	switch {
	case err != nil || dec.More():
		err = problem{"input", "the console does not know this message; reload the page"}
	case cmd.ID == "" || len(cmd.ID) > maxID:
		err = problem{"input", "a command needs an ID of at most 64 bytes"}
	default:
		reply.Data, err = c.do(ctx, name, cmd)
	}
	if err != nil {
		reply.Data, reply.Error = nil, c.problem(err, cmd.Item)
	}
	return reply
}

func (c *Console) do(ctx context.Context, name string, cmd command) (data any, err error) {
	now, session := c.cfg.Now(), c.cfg.Session
	switch cmd.T {
	case "decide":
		err = c.decide(now, name, cmd)
	case "submit":
		err = c.submit(ctx, name, cmd)
	case "stop":
		err = session.StopRun(now, cmd.Run, name, cmd.Reason)
	case "audited":
		err = session.SetAudited(now, name, cmd.On)
	case "suggest":
		data, err = c.suggest(cmd.Item)
	case "try":
		data, err = try(session, cmd.Rules)
	case "ask":
		err = c.rules.ask(now, name, cmd)
	case "policy":
		err = c.rules.save(now, name, cmd.Version, cmd.Rules)
	case "allow":
		err = c.allow(now, name, cmd)
	default:
		err = problem{"input", "there is no such command; reload the page"}
	}
	if err == nil && cmd.T == "policy" {
		c.news() // also if only the layout changed
	}
	return data, err
}

func (c *Console) decide(now time.Time, name string, cmd command) error {
	d := gate.Decision{Item: cmd.Item, Digest: cmd.Digest, Action: cmd.Action, By: name, Reason: cmd.Reason}
	var err error
	switch hasBody := cmd.Body != nil || cmd.Text != nil || cmd.Fields != nil; {
	case cmd.Action == gate.Edit:
		if it, ok := c.cfg.Session.Item(cmd.Item); ok { // otherwise Resolve says so
			d.Body, err = cmd.edit(it)
		}
	case cmd.Action == gate.Respond && (cmd.Body == nil || cmd.Text != nil || cmd.Fields != nil):
		return problem{"input", "an answer in the tool's place needs a body"}
	case cmd.Action == gate.Respond:
		d.Body = json.RawMessage(*cmd.Body)
	case hasBody:
		return problem{"input", "only an edit and an answer in the tool's place have a body"}
	}
	if err == nil {
		_, err = c.cfg.Session.Resolve(now, d)
	}
	return err
}

// edit returns the new body of an item. Text that a person did not touch stays as it was.
func (cmd command) edit(it gate.Item) (json.RawMessage, error) {
	switch {
	case it.Kind == gate.Response && cmd.Text != nil && cmd.Fields == nil:
		text, a2ui := answerOf(it.Body)
		if text != *cmd.Text && *cmd.Text != typable(text) {
			text = restore(text, *cmd.Text)
		}
		if cmd.Body != nil && !plaintext.IsBlank(*cmd.Body) {
			// It must be one JSON value by itself. Otherwise it could bring another text.
			if a2ui = json.RawMessage(*cmd.Body); !json.Valid(a2ui) {
				return nil, problem{"input", "the interface part is not valid JSON"}
			}
		} else if cmd.Body != nil {
			a2ui = nil
		}
		list := []member{{"text", json.RawMessage(quoted(text))}}
		if a2ui != nil {
			list = append(list, member{"a2ui", a2ui})
		}
		return object(list), nil
	case it.Kind != gate.Response && cmd.Fields != nil && cmd.Body == nil && cmd.Text == nil:
		return patch(it.Body, cmd.Fields)
	case it.Kind != gate.Response && cmd.Body != nil && cmd.Text == nil && cmd.Fields == nil:
		return json.RawMessage(*cmd.Body), nil
	}
	return nil, problem{"input", "an edit needs the new body: the text of a response, fields, or JSON"}
}

func (c *Console) submit(ctx context.Context, name string, cmd command) error {
	switch {
	case c.cfg.Submit == nil:
		return problem{"illegal", "this console takes no messages"}
	case plaintext.IsBlank(cmd.Message):
		return problem{"input", "write something first"}
	case len(cmd.Message) > maxMessage:
		return problem{"input", fmt.Sprintf("a message has at most %d KB", maxMessage>>10)}
	case cmd.Thread == "" || len(cmd.Thread) > maxThread || !utf8.ValidString(cmd.Thread):
		return problem{"input", "the message names no thread"}
	}
	ctx, cancel := context.WithTimeout(ctx, submitTime)
	defer cancel()
	if err := c.cfg.Submit(ctx, name, cmd.Thread, cmd.Message); err != nil {
		return problem{"submit", "the agent did not take the message: " + line(err.Error(), noteText)}
	}
	return nil
}

// codes are what the page tells apart.
var codes = []struct {
	err  error
	code string
}{
	{gate.ErrDecided, "decided"}, {gate.ErrStale, "stale"}, {gate.ErrExpired, "expired"}, {gate.ErrUnknown, "unknown"},
	{gate.ErrDenied, "policy"}, {gate.ErrInput, "input"}, {gate.ErrIllegal, "illegal"}, {gate.ErrJournal, "journal"},
}

// problem words an error for a person. What they want to know most is who was first.
func (c *Console) problem(err error, item string) *problem {
	if p, ok := errors.AsType[problem](err); ok {
		return &p
	}
	code, message := "internal", line(err.Error(), noteText)
	for _, k := range codes {
		if errors.Is(err, k.err) {
			code, message = k.code, strings.TrimPrefix(message, k.err.Error()+": ")
			break
		}
	}
	if it, ok := c.cfg.Session.Item(item); ok && code == "decided" {
		switch by := line(it.By, maxName); {
		case it.Status == gate.Withdrawn:
			message = "Too late: the run has ended."
		case by != "":
			message = fmt.Sprintf("Already decided: %s by %s at %s UTC.", past[it.Action], by, it.Decided.Format(time.TimeOnly))
		}
	}
	return &problem{code, message}
}

var past = map[gate.Action]string{
	gate.Approve: "approved", gate.Edit: "edited and approved", gate.Deny: "denied", gate.Respond: "answered",
	gate.Stop: "stopped", "": "decided",
}
