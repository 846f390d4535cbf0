package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// client is one open page.
type client struct {
	visitor
	conn *websocket.Conn
	news chan struct{} // something is new; holds one, so that telling never waits
	end  func()        // ends the page

	mu       sync.Mutex // of what the page was sent, which follows
	seq      uint64     // of the last event
	settings sentSettings
}

// sentSettings is what the settings that a page has were made of. The zero value is for a page without any.
type sentSettings struct {
	policy        gate.Policy
	audited, sent bool
}

// socket serves one page until it leaves, is too slow, or its cookie ends.
func (c *Console) socket(w http.ResponseWriter, r *http.Request, who visitor) (any, error) {
	// Not the request's context: that of a hijacked connection says nothing more.
	ctx, end := context.WithCancel(context.WithoutCancel(r.Context()))
	defer end()
	cl := &client{visitor: who, news: make(chan struct{}, 1), end: end}
	if of := r.URL.Query().Get("of"); of == "" || of == c.history { // otherwise the number is of another history
		cl.seq, _ = strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	}
	if !c.join(cl) {
		return nil, problem{"closed", "too many pages are open; close some of them"}
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.clients, cl)
		c.handlers.Done()
	}()
	if _, ok := c.visitor(r); !ok { // signed out meanwhile
		end()
	}
	var err error
	if cl.conn, err = websocket.Accept(w, r, nil); err != nil { // it compares Origin and Host once more
		return nil, nil // it has answered
	}
	defer cl.conn.CloseNow()
	cl.conn.SetReadLimit(c.cfg.limits.message)
	c.send(ctx, cl, encode(frame{
		T: "hello", Name: cl.Name, Thread: c.cfg.Thread, Of: c.history, Chat: c.cfg.Submit != nil, Now: c.cfg.Now().UTC(),
	}))
	var listening sync.WaitGroup
	listening.Go(func() { c.listen(ctx, cl) })
	c.talk(ctx, cl)
	end()
	listening.Wait()
	return nil, nil
}

// join counts a page in, unless too many are open.
func (c *Console) join(cl *client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := 0
	for other := range c.clients {
		if other.Name == cl.Name {
			own++
		}
	}
	if c.closed.Load() || len(c.clients) >= c.cfg.limits.sockets || own >= max(1, c.cfg.limits.sockets/2) {
		return false
	}
	c.clients[cl] = struct{}{}
	c.handlers.Add(1)
	return true
}

// each calls f for every open page.
func (c *Console) each(f func(*client)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cl := range c.clients {
		f(cl)
	}
}

// listen takes the commands of a page, one after another.
func (c *Console) listen(ctx context.Context, cl *client) {
	defer cl.end()
	for {
		_, data, err := cl.conn.Read(ctx)
		if err != nil {
			return
		}
		if _, ok := c.lookup(cl.hash); !ok {
			return
		}
		// What a command brought about is seen before its reply.
		if c.catchUp(ctx, cl, encode(c.command(ctx, cl.Name, data))) != nil {
			return
		}
	}
}

// talk sends what is new until something ends it.
func (c *Console) talk(ctx context.Context, cl *client) {
	beat := time.NewTicker(c.cfg.limits.beat)
	defer beat.Stop()
	for err := c.catchUp(ctx, cl); err == nil; {
		select {
		case <-ctx.Done():
			return
		case <-cl.news:
			err = c.catchUp(ctx, cl)
		case <-beat.C:
			now := c.cfg.Now()
			if !now.Before(cl.Until) {
				return
			}
			err = c.catchUp(ctx, cl, encode(frame{T: "beat", Now: now.UTC()}))
		}
	}
}

// catchUp sends what a page does not know yet, and then more frames.
func (c *Console) catchUp(ctx context.Context, cl *client, more ...[]byte) error {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	var frames [][]byte
	if f := c.after(cl.seq, cl.seq == 0 && !cl.settings.sent); f.T == "snapshot" || len(f.Events) > 0 {
		frames, cl.seq = append(frames, encode(f)), f.Seq
	}
	if now := (sentSettings{c.cfg.Session.Policy(), c.cfg.Session.Audited(), true}); now != cl.settings {
		cl.settings = now
		frames = append(frames, encode(frame{T: "settings", Settings: c.settings()}))
	}
	for _, f := range append(frames, more...) {
		if err := c.send(ctx, cl, f); err != nil {
			return err
		}
	}
	return nil
}

func (c *Console) send(ctx context.Context, cl *client, frame []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.limits.write)
	defer cancel()
	return cl.conn.Write(ctx, websocket.MessageText, frame)
}

// problem says to the page why something was not done.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (p problem) Error() string { return p.Message }

// frame is what the server sends. T says which of the other fields are set.
type frame struct {
	T string `json:"t"`

	// hello: for whom the page speaks, and the time of the server
	Name   string    `json:"name,omitempty"`
	Thread string    `json:"thread,omitempty"`
	Of     string    `json:"of,omitempty"`   // the history in which events are numbered
	Chat   bool      `json:"chat,omitempty"` // messages can be sent
	Now    time.Time `json:"now,omitzero"`   // hello, beat

	// events; and snapshot, which replaces everything that the page has
	Seq    uint64        `json:"seq,omitempty"` // of the last event
	Events []*gate.Event `json:"events,omitempty"`
	Items  []itemView    `json:"items,omitempty"` // as they are now
	Runs   []gate.Run    `json:"runs,omitempty"`

	Settings *settings `json:"settings,omitempty"` // settings

	// reply
	ID    string   `json:"id,omitempty"`
	Error *problem `json:"error,omitempty"`
	Data  any      `json:"data,omitempty"`
}

// itemView is an item for the page, without its bodies, which the page asks for one by one.
type itemView struct {
	gate.Item
	Edited bool   `json:"edited,omitempty"`
	From   string `json:"from,omitempty"` // of a context: who speaks
	Text   string `json:"text,omitempty"` // for the chat: the message, the arguments or the approved answer
	Cut    bool   `json:"cut,omitempty"`  // Text is only the beginning
}

// Lengths of what a frame quotes, in bytes.
const (
	chatText  = 4 << 10
	maxSummed = 1 << 20 // of a body whose short values are looked for
	argsText  = 160
	noteText  = 1 << 10
)

func showItem(it gate.Item) itemView {
	v := itemView{Item: it, Edited: it.Edited != nil}
	v.Body, v.Item.Edited, v.Result = nil, nil, nil
	makeVisible(&v.Label, &v.Rule, &v.By, &v.Reason, &v.Approver, &v.Escalate)
	body, text, limit := it.ApprovedBody(), "", chatText
	words := struct{ From, Message, Text string }{From: "human"} // who speaks and what, and the text of a response
	if it.Kind != gate.Tool {
		json.Unmarshal(body, &words) // what is not a string stays as it is
	} else if len(body) <= maxSummed {
		body = shortFirst(body)
	}
	switch {
	case it.Kind == gate.Context:
		v.From, text = line(words.From, maxName), words.Message
	case it.Kind == gate.Tool:
		text, limit = string(body), argsText
	case it.Status == gate.Approved || it.Status == gate.Redeemed:
		text = words.Text
	}
	v.Text, v.Cut = shown(text, limit), len(text) > limit
	return v
}

// showEvent returns an event for the page, without its bodies.
func showEvent(e gate.Event) *gate.Event {
	e.Payload, e.PayloadEdits, e.Args, e.ArgsOverride, e.Result = nil, nil, nil, nil, nil
	e.DraftText, e.DraftA2UI, e.FinalText, e.FinalA2UI, e.Policy = nil, nil, nil, nil, nil
	e.Changes = slices.Clone(e.Changes)
	makeVisible(&e.Label, &e.Rule, &e.By, &e.Reason, &e.Escalate)
	for i := range e.Changes {
		makeVisible(&e.Changes[i])
	}
	return &e
}

func makeVisible(texts ...*string) {
	for _, text := range texts {
		*text = line(*text, noteText)
	}
}

// encode writes an answer. No field of one can fail.
func encode(v any) []byte {
	data, _ := json.Marshal(v)
	return data
}

// Bounds of a snapshot, and of the events that a page may have missed and still get.
const (
	snapshotEvents = 200
	snapshotRuns   = 200
	maxMissed      = 1000
)

// after returns a frame with the events after a number, and the items and runs that they concern as they are now. If
// these events are not all there any more, or afresh is true, the frame replaces everything that a page has.
func (c *Console) after(seq uint64, afresh bool) frame {
	session := c.cfg.Session
	f, runs := frame{T: "events", Seq: seq}, session.Runs()
	events, all := session.Events(seq)
	var items []gate.Item
	if afresh || !all || len(events) > maxMissed {
		head, _, _ := session.Head()
		f = frame{T: "snapshot"}
		events, _ = session.Events(head - min(head, snapshotEvents))
		items = append(session.Pending(), session.Unfinished()...)
		runs = runs[max(0, len(runs)-snapshotRuns):]
		for _, r := range runs {
			items = append(items, session.Items(r.ID)...)
		}
	} else {
		concerned := make(map[string]bool)
		for _, e := range events {
			concerned[e.Run] = true
			if it, ok := session.Item(e.Item); ok {
				items = append(items, it)
			} else if e.Type == "RUN_FINISHED" {
				items = append(items, session.Items(e.Run)...)
			}
		}
		runs = slices.DeleteFunc(runs, func(r gate.Run) bool { return !concerned[r.ID] })
	}
	f.Runs = runs
	for _, e := range events {
		f.Seq, f.Events = e.Seq, append(f.Events, showEvent(e))
	}
	slices.SortFunc(items, func(a, b gate.Item) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, it := range slices.CompactFunc(items, func(a, b gate.Item) bool { return a.ID == b.ID }) {
		f.Items = append(f.Items, showItem(it))
	}
	return f
}

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
