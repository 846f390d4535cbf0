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

// frame is what the server sends. T says which of the other fields are set.
type frame struct {
	T string `json:"t"`

	// hello: for whom the page speaks, and the time of the server
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

	// snapshot: it replaces everything that the page has
	Events []*eventView `json:"events,omitempty"`
	Runs   []gate.Run   `json:"runs,omitempty"`

	Settings *settings `json:"settings,omitempty"` // settings

	// reply
	ID    string   `json:"id,omitempty"`
	Error *problem `json:"error,omitempty"`
	Data  any      `json:"data,omitempty"`
}

// eventView is one line of the timeline.
type eventView struct {
	Seq     uint64      `json:"seq"`
	Type    string      `json:"type"`
	At      time.Time   `json:"at"`
	Thread  string      `json:"thread,omitempty"`
	Run     string      `json:"run,omitempty"`
	Item    string      `json:"item,omitempty"`
	Call    string      `json:"call,omitempty"`
	Tool    string      `json:"tool,omitempty"`
	Action  gate.Action `json:"action,omitempty"`
	By      string      `json:"by,omitempty"`
	Rule    string      `json:"rule,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	Changes []string    `json:"changes,omitempty"` // of the rules or of auditing
}

// itemView is an item without its bodies, which the page asks for one by one.
type itemView struct {
	ID       string      `json:"id"`
	Seq      uint64      `json:"seq"`
	Kind     gate.Kind   `json:"kind"`
	Thread   string      `json:"thread"`
	Run      string      `json:"run"`
	Call     string      `json:"call,omitempty"`
	Tool     string      `json:"tool,omitempty"`
	Label    string      `json:"label,omitempty"`
	Digest   string      `json:"digest"`
	Status   gate.Status `json:"status"`
	Rule     string      `json:"rule,omitempty"`
	Edited   bool        `json:"edited,omitempty"`
	Action   gate.Action `json:"action,omitempty"`
	By       string      `json:"by,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Approver string      `json:"approver,omitempty"` // to whom it escalated
	Escalate string      `json:"escalate,omitempty"` // to whom it will escalate
	From     string      `json:"from,omitempty"`     // of a context: who speaks
	Text     string      `json:"text,omitempty"`     // for the chat: the message, the arguments or the approved answer
	Cut      bool        `json:"cut,omitempty"`      // Text is only the beginning
	At       time.Time   `json:"at"`
	Expires  time.Time   `json:"expires,omitzero"`
}

// Lengths of what a frame quotes, in bytes.
const (
	chatText  = 4 << 10
	maxSummed = 1 << 20 // of a body whose short values are looked for
	argsText  = 160
	noteText  = 1 << 10
)

func showItem(it gate.Item, message func(json.RawMessage) (from, text string)) itemView {
	v := itemView{
		ID: it.ID, Seq: it.Seq, Kind: it.Kind, Thread: it.Thread, Run: it.Run, Call: it.Call, Tool: it.Tool,
		Label: line(it.Label, noteText), Digest: it.Digest, Status: it.Status, Rule: line(it.Rule, noteText),
		Edited: it.Edited != nil, Action: it.Action, By: line(it.By, noteText),
		Reason: line(it.Reason, noteText), Approver: line(it.Approver, maxName), Escalate: line(it.Escalate, maxName),
		At: it.Proposed, Expires: it.Expires,
	}
	text, limit := "", chatText
	switch it.Kind {
	case gate.Context:
		v.From, text = message(it.ApprovedBody())
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

func showEvent(e gate.Event) *eventView {
	v := &eventView{
		Seq: e.Seq, Type: e.Type, At: e.At, Thread: e.Thread, Run: e.Run, Item: e.Item, Call: e.Call, Tool: e.Tool,
		Action: e.Action, By: line(e.By, noteText), Rule: line(e.Rule, noteText), Reason: line(e.Reason, noteText),
	}
	for _, c := range e.Changes {
		v.Changes = append(v.Changes, line(c, noteText))
	}
	return v
}

// inOrder puts items into the order of their proposals.
func inOrder(items []itemView) {
	slices.SortFunc(items, func(a, b itemView) int { return cmp.Compare(a.Seq, b.Seq) })
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
