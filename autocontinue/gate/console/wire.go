package console

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

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
	Of     string    `json:"of,omitempty"`   // what the numbers of events count in
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
	text, limit := "", chatText
	switch it.Kind {
	case gate.Context:
		v.From, text = messageOf(it.ApprovedBody())
		v.From = line(v.From, maxName)
	case gate.Tool:
		body := it.ApprovedBody()
		if len(body) <= maxSummed {
			body = shortFirst(body)
		}
		text, limit = string(body), argsText
	case gate.Response:
		if it.Status == gate.Approved || it.Status == gate.Redeemed {
			text, _ = answerOf(it.ApprovedBody())
		}
	}
	if v.Text, v.Cut = shown(text, limit), len(text) > limit; it.Kind == gate.Tool {
		v.Text = line(text, limit)
	}
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

// answerOf returns the parts of a response's body.
func answerOf(body json.RawMessage) (text string, a2ui json.RawMessage) {
	var parts struct {
		Text string          `json:"text"`
		A2UI json.RawMessage `json:"a2ui"`
	}
	json.Unmarshal(body, &parts) // the session has read it
	return parts.Text, parts.A2UI
}

// encode writes an answer. No field of one can fail.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		data = []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
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
