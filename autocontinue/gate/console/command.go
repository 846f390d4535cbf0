package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// command is what a page asks for. T says which of the other fields it uses. It does not say who asks.
type command struct {
	T  string `json:"t"`  // decide, submit, stop, audited, try, policy
	ID string `json:"id"` // of the command, for its reply

	// decide
	Item   string      `json:"item"` // also of policy
	Digest string      `json:"digest"`
	Action gate.Action `json:"action"`
	Reason string      `json:"reason"`
	Body   string      `json:"body"` // edit: the new body; respond: the result

	// submit, stop
	Thread  string `json:"thread"`
	Message string `json:"message"`
	Run     string `json:"run"`

	// audited, try, policy
	On    bool      `json:"on"`
	Rules string    `json:"rules"`
	Was   string    `json:"was"` // the rules that the page shows
	Gate  gate.Kind `json:"gate"`
	Tool  string    `json:"tool"`
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
	case !c.mayAsk(name):
		err = problem{"rate", "too many commands; wait a second"}
	default:
		reply.Data, err = c.do(ctx, name, cmd)
	}
	if err != nil {
		p := problemOf(err)
		reply.Data, reply.Error = nil, &p
	}
	return reply
}

func (c *Console) do(ctx context.Context, name string, cmd command) (any, error) {
	now, session := c.cfg.Now(), c.cfg.Session
	switch cmd.T {
	case "decide":
		_, err := session.Resolve(now, gate.Decision{
			Item: cmd.Item, Digest: cmd.Digest, Action: cmd.Action, By: name, Reason: cmd.Reason, Body: []byte(cmd.Body),
		})
		return nil, err
	case "submit":
		return nil, c.submit(ctx, name, cmd)
	case "stop":
		return nil, session.StopRun(now, cmd.Run, name, cmd.Reason)
	case "audited":
		return nil, session.SetAudited(now, name, cmd.On)
	case "try":
		return c.try(cmd.Rules)
	case "policy":
		return nil, c.save(now, name, cmd)
	}
	return nil, problem{"input", "there is no such command; reload the page"}
}

func (c *Console) submit(ctx context.Context, name string, cmd command) error {
	switch {
	case c.cfg.Submit == nil:
		return problem{"illegal", "this console takes no messages"}
	case plaintext.IsBlank(cmd.Message):
		return problem{"input", "write something first"}
	case len(cmd.Message) > maxMessage:
		return problem{"input", fmt.Sprintf("a message has at most %d KB", maxMessage>>10)}
	case cmd.Thread == "" || len(cmd.Thread) > maxThread:
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
	{gate.ErrDecided, "decided"}, {gate.ErrStale, "stale"}, {gate.ErrDenied, "policy"}, {gate.ErrInput, "input"},
	{gate.ErrIllegal, "illegal"}, {gate.ErrJournal, "journal"},
}

// problemOf words an error for a person. The item says who was first.
func problemOf(err error) problem {
	if p, ok := errors.AsType[problem](err); ok {
		return p
	}
	message := line(err.Error(), noteText)
	for _, k := range codes {
		if errors.Is(err, k.err) {
			return problem{k.code, strings.TrimPrefix(message, k.err.Error()+": ")}
		}
	}
	return problem{"internal", message}
}
