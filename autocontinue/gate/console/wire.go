package console

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// problem is why something was not done, for the page.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// frame is what the server sends. T says which of the other fields are set.
type frame struct {
	T string `json:"t"`

	// hello: who the page speaks for, and the server's time, for ages.
	Name   string    `json:"name,omitempty"`
	Thread string    `json:"thread,omitempty"`
	Of     string    `json:"of,omitempty"`   // what the numbers of events count in
	Chat   bool      `json:"chat,omitempty"` // messages can be sent
	Now    time.Time `json:"now,omitzero"`   // hello, beat

	// event, snapshot
	Seq   uint64     `json:"seq,omitempty"`
	Event *eventView `json:"event,omitempty"`
	Items []itemView `json:"items,omitempty"` // as they are now
	Run   *gate.Run  `json:"run,omitempty"`

	// snapshot: the last events, in place of everything the page has
	Events []json.RawMessage `json:"events,omitempty"`
	Runs   []gate.Run        `json:"runs,omitempty"`

	Settings *settings `json:"settings,omitempty"` // settings

	// reply
	ID    string   `json:"id,omitempty"`
	Error *problem `json:"error,omitempty"`
}

// eventView is one line of the timeline.
type eventView struct {
	Seq    uint64         `json:"seq"`
	Type   gate.EventType `json:"type"`
	At     time.Time      `json:"at"`
	Thread string         `json:"thread,omitempty"`
	Run    string         `json:"run,omitempty"`
	Item   string         `json:"item,omitempty"`
	Tool   string         `json:"tool,omitempty"`
	Action gate.Action    `json:"action,omitempty"`
	By     string         `json:"by,omitempty"`
	Reason string         `json:"reason,omitempty"`
}

// itemView is an item without its bodies, which are asked for one by one.
type itemView struct {
	ID      string      `json:"id"`
	Kind    gate.Kind   `json:"kind"`
	Thread  string      `json:"thread"`
	Run     string      `json:"run"`
	Call    string      `json:"call,omitempty"`
	Tool    string      `json:"tool,omitempty"`
	Label   string      `json:"label,omitempty"`
	Digest  string      `json:"digest"`
	Status  gate.Status `json:"status"`
	Rule    string      `json:"rule,omitempty"`
	Size    int         `json:"size"` // bytes of the proposed body
	Edited  bool        `json:"edited,omitempty"`
	Action  gate.Action `json:"action,omitempty"`
	By      string      `json:"by,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	From    string      `json:"from,omitempty"` // of a context: who speaks
	Text    string      `json:"text,omitempty"` // for the chat: the message, the arguments or the approved answer, or its beginning
	Cut     bool        `json:"cut,omitempty"`  // Text is only the beginning
	At      time.Time   `json:"at"`
	Expires time.Time   `json:"expires,omitzero"`
	Decided time.Time   `json:"decided,omitzero"`
}

// Lengths of what a frame quotes, in bytes.
const (
	chatText = 4 << 10
	argsText = 160
	noteText = 1 << 10
)

func showItem(it gate.Item, message func(json.RawMessage) (from, text string)) itemView {
	v := itemView{
		ID: it.ID, Kind: it.Kind, Thread: it.Thread, Run: it.Run, Call: it.Call, Tool: it.Tool,
		Label: line(it.Label, noteText), Digest: it.Digest, Status: it.Status, Rule: line(it.Rule, noteText),
		Size: len(it.Body), Edited: it.Edited != nil, Action: it.Action, By: line(it.By, noteText), Reason: line(it.Reason, noteText),
		At: it.Proposed, Expires: it.Expires, Decided: it.Decided,
	}
	switch it.Kind {
	case gate.Context:
		v.From, v.Text = message(it.ApprovedBody())
		v.From = line(v.From, maxName)
		v.Cut = len(v.Text) > chatText
		v.Text = shown(v.Text, chatText)
	case gate.Tool:
		body := it.ApprovedBody()
		v.Cut = len(body) > argsText
		v.Text = line(string(body[:min(len(body), argsText)]), argsText)
	case gate.Response:
		if it.Status == gate.Approved || it.Status == gate.Redeemed || it.Status == gate.Done {
			v.Text, _ = answerOf(it.ApprovedBody())
			v.Cut = len(v.Text) > chatText
			v.Text = shown(v.Text, chatText)
		}
	}
	return v
}

func showEvent(e gate.Event) *eventView {
	return &eventView{
		Seq: e.Seq, Type: e.Type, At: e.At, Thread: e.Thread, Run: e.Run, Item: e.Item, Tool: e.Tool,
		Action: e.Action, By: line(e.By, noteText), Reason: line(e.Reason, noteText),
	}
}

// byAge puts items into the order in which they were proposed.
func byAge(items []itemView) {
	slices.SortStableFunc(items, func(a, b itemView) int { return a.At.Compare(b.At) })
}

// answerOf returns the parts of a response's body.
func answerOf(body json.RawMessage) (text string, a2ui json.RawMessage) {
	var parts struct {
		Text string          `json:"text"`
		A2UI json.RawMessage `json:"a2ui"`
	}
	if json.Unmarshal(body, &parts) != nil {
		return "", nil
	}
	return parts.Text, parts.A2UI
}

func encode(f frame) []byte {
	data, err := json.Marshal(f)
	if err != nil { // no field of a frame can fail
		data, _ = json.Marshal(frame{T: "reply", ID: f.ID, Error: &problem{"internal", "the answer could not be written"}})
	}
	return data
}
