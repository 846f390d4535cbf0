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

	// event, snapshot
	Seq   uint64      `json:"seq,omitempty"`
	Event *gate.Event `json:"event,omitempty"`
	Items []itemView  `json:"items,omitempty"` // as they are now
	Run   *gate.Run   `json:"run,omitempty"`

	// snapshot: it replaces everything that the page has
	Events []*gate.Event `json:"events,omitempty"`
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
	if json.Unmarshal(body, &parts) != nil {
		return "", nil
	}
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

// Bounds of a snapshot, and of the events that a page may have missed and still get one by one.
const (
	snapshotEvents = 200
	snapshotRuns   = 200
	maxMissed      = 1000
)

// frame shows an event with the items that it concerns as they are now, which may be later than the event.
func (c *Console) frame(e gate.Event) frame {
	f := frame{T: "event", Seq: e.Seq, Event: showEvent(e)}
	switch {
	case e.Type == "RUN_FINISHED":
		for _, it := range c.cfg.Session.Items(e.Run) {
			if it.Status == gate.Withdrawn {
				f.Items = append(f.Items, showItem(it))
			}
		}
	case e.Item != "":
		if it, ok := c.cfg.Session.Item(e.Item); ok {
			f.Items = []itemView{showItem(it)}
		}
	}
	if e.Run != "" {
		f.Run = &gate.Run{ID: e.Run, Thread: e.Thread, Phase: c.cfg.Session.Phase(e.Run)}
	}
	return f
}

// after returns the frames after an event and the number of the last one. If they are not all there any more, or
// afresh is true, it returns one frame that replaces everything that a page has.
func (c *Console) after(seq uint64, afresh bool) (frames [][]byte, last uint64) {
	events, all := c.cfg.Session.Events(seq)
	if afresh || !all || len(events) > maxMissed {
		return c.snapshot()
	}
	for _, e := range events {
		frames, seq = append(frames, encode(c.frame(e))), e.Seq
	}
	return frames, seq
}

func (c *Console) snapshot() (frames [][]byte, last uint64) {
	head, _, _ := c.cfg.Session.Head()
	events, _ := c.cfg.Session.Events(head - min(head, snapshotEvents))
	f := frame{T: "snapshot"}
	for _, e := range events {
		f.Seq, f.Events = e.Seq, append(f.Events, showEvent(e))
	}
	seen := make(map[string]bool)
	add := func(items []gate.Item) {
		for _, it := range items {
			if !seen[it.ID] {
				seen[it.ID] = true
				f.Items = append(f.Items, showItem(it))
			}
		}
	}
	add(c.cfg.Session.Pending())
	add(c.cfg.Session.Unfinished())
	f.Runs = c.cfg.Session.Runs()
	f.Runs = f.Runs[max(0, len(f.Runs)-snapshotRuns):]
	for _, r := range f.Runs {
		add(c.cfg.Session.Items(r.ID))
	}
	slices.SortFunc(f.Items, func(a, b itemView) int { return cmp.Compare(a.Seq, b.Seq) })
	return [][]byte{encode(f)}, f.Seq
}
