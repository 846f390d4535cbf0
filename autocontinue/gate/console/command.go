package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// command is what a page asks for. T says which of the other fields it uses; who asks is not among them.
type command struct {
	T  string `json:"t"`  // decide, submit, stop, audited, ask, policy
	ID string `json:"id"` // of the command, for its reply

	// decide
	Item   string      `json:"item"`
	Digest string      `json:"digest"`
	Action gate.Action `json:"action"`
	Reason string      `json:"reason"`
	Body   *string     `json:"body"` // edit: the new payload, arguments or a2ui as JSON text; respond: the result
	Text   *string     `json:"text"` // edit of a response: its new text

	// submit
	Thread  string `json:"thread"`
	Message string `json:"message"`

	Run string `json:"run"` // stop

	// ask, policy, audited
	On      bool      `json:"on"`
	Gate    gate.Kind `json:"gate"`
	Tool    string    `json:"tool"`
	Version string    `json:"version"`
	Rules   string    `json:"rules"`
}

const (
	maxID      = 64
	maxMessage = 64 << 10
	maxThread  = 200
	submitTime = 30 * time.Second
)

// command does what a page asks for and says what came of it.
func (c *Console) command(ctx context.Context, name string, data []byte) frame {
	var cmd command
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&cmd)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("more than one message")
		}
	}
	reply := frame{T: "reply", ID: head(cmd.ID, maxID)}
	switch {
	case err != nil:
		err = refusal{"input", "the message is not one that this console knows; reload the page"}
	case cmd.ID == "" || len(cmd.ID) > maxID:
		err = refusal{"input", "a command needs an ID of at most 64 bytes"}
	default:
		err = c.do(ctx, name, cmd)
	}
	if err != nil {
		reply.Error = c.problem(err, cmd.Item)
	}
	return reply
}

func (c *Console) do(ctx context.Context, name string, cmd command) error {
	now := c.cfg.Now()
	switch cmd.T {
	case "decide":
		return c.decide(now, name, cmd)
	case "submit":
		return c.submit(ctx, name, cmd)
	case "stop":
		return c.cfg.Session.StopRun(now, cmd.Run, name, cmd.Reason)
	case "audited":
		return c.cfg.Session.SetAudited(now, name, cmd.On)
	case "ask":
		return c.changed(c.rules.ask(now, name, c.cfg.Session, cmd))
	case "policy":
		return c.changed(c.rules.save(now, name, c.cfg.Session, cmd.Version, cmd.Rules))
	default:
		return refusal{"input", "there is no such command; reload the page"}
	}
}

// changed lets everybody see new rules, also when they differ in nothing but their layout.
func (c *Console) changed(err error) error {
	if err == nil {
		c.news()
	}
	return err
}

func (c *Console) decide(now time.Time, name string, cmd command) error {
	d := gate.Decision{Item: cmd.Item, Digest: cmd.Digest, Action: cmd.Action, By: name, Reason: cmd.Reason}
	switch cmd.Action {
	case gate.Edit:
		it, ok := c.cfg.Session.Item(cmd.Item)
		switch {
		case !ok: // Resolve says so
		case it.Kind == gate.Response:
			body, err := response(cmd.Text, cmd.Body)
			if err != nil {
				return err
			}
			d.Body = body
		case cmd.Body == nil || cmd.Text != nil:
			return refusal{"input", "an edit needs the new body"}
		default:
			d.Body = json.RawMessage(*cmd.Body)
		}
	case gate.Respond:
		if cmd.Body == nil || cmd.Text != nil {
			return refusal{"input", "a stand-in result needs a body"}
		}
		d.Body = json.RawMessage(*cmd.Body)
	default:
		if cmd.Body != nil || cmd.Text != nil {
			return refusal{"input", "only an edit and a stand-in result have a body"}
		}
	}
	_, err := c.cfg.Session.Resolve(now, d)
	return err
}

// response builds the body of a response from its two parts. The a2ui must be one JSON value by itself, or it could bring
// a text of its own.
func response(text, a2ui *string) (json.RawMessage, error) {
	if text == nil {
		return nil, refusal{"input", "an edit of a response needs its text"}
	}
	var b bytes.Buffer
	b.WriteString(`{"text":`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(*text); err != nil {
		return nil, err
	}
	if a2ui != nil && strings.TrimSpace(*a2ui) != "" {
		if !json.Valid([]byte(*a2ui)) {
			return nil, refusal{"body", "the interface part is not valid JSON"}
		}
		b.WriteString(`,"a2ui":`)
		b.WriteString(*a2ui)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (c *Console) submit(ctx context.Context, name string, cmd command) error {
	switch {
	case c.cfg.Submit == nil:
		return refusal{"illegal", "this console takes no messages"}
	case strings.TrimSpace(cmd.Message) == "":
		return refusal{"input", "write something first"}
	case len(cmd.Message) > maxMessage:
		return refusal{"input", fmt.Sprintf("a message has at most %d KB", maxMessage>>10)}
	case cmd.Thread == "" || len(cmd.Thread) > maxThread || !utf8.ValidString(cmd.Thread):
		return refusal{"input", "the message names no thread"}
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, auditorKey{}, name), submitTime)
	defer cancel()
	if err := c.cfg.Submit(ctx, cmd.Thread, cmd.Message); err != nil {
		return refusal{"submit", "the agent did not take the message: " + line(err.Error(), noteText)}
	}
	return nil
}

// refusal is an error that is the page's own.
type refusal struct{ code, message string }

func (r refusal) Error() string { return r.message }

// codes are what the page tells apart.
var codes = []struct {
	err  error
	code string
}{
	{gate.ErrDecided, "decided"}, {gate.ErrStale, "stale"}, {gate.ErrExpired, "expired"}, {gate.ErrUnknown, "unknown"},
	{gate.ErrPolicy, "policy"}, {gate.ErrSchema, "schema"}, {gate.ErrBody, "body"}, {gate.ErrInput, "input"},
	{gate.ErrIllegal, "illegal"}, {gate.ErrJournal, "journal"},
}

// problem words an error for a human. Who was first is what they want to know most.
func (c *Console) problem(err error, item string) *problem {
	if r, ok := errors.AsType[refusal](err); ok {
		return &problem{r.code, r.message}
	}
	code := "internal"
	for _, k := range codes {
		if errors.Is(err, k.err) {
			code = k.code
			break
		}
	}
	message := line(err.Error(), noteText)
	if it, ok := c.cfg.Session.Item(item); ok && code == "decided" {
		switch by := line(it.By, maxName); {
		case it.Status == gate.Withdrawn:
			message = "Too late: the run has ended, so nothing waits here any more."
		case by != "":
			message = fmt.Sprintf("Already decided: %s by %s%s.", past[it.Action], by, at(it.Decided))
		}
	}
	return &problem{code, message}
}

var past = map[gate.Action]string{
	gate.Approve: "approved", gate.Edit: "edited and approved", gate.Deny: "denied", gate.Respond: "answered", gate.Stop: "stopped",
	"": "decided",
}

func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(" at 15:04:05 UTC")
}
