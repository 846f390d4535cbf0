package agui

import (
	"encoding/json"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// The schemas of answers. A field for an edit tells a client that it may offer one. An edit replaces all of the
// arguments, payload or text.
var schemas = map[gate.Kind]json.RawMessage{
	gate.Tool:     schema(`"editedArgs":{"type":"object","description":"The new arguments, all of them."}`),
	gate.Context:  schema(`"editedPayload":{"type":"object","description":"The new payload, all of it."}`),
	gate.Response: schema(`"editedText":{"type":"string","description":"The text to show instead of the draft."}`),
}

func schema(edit string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"approved":{"type":"boolean"},` +
		`"digest":{"type":"string","description":"metadata.sidecoach.digest of the interrupt"},` +
		`"reason":{"type":"string","description":"With approved false: what the agent reads."},` + edit +
		`},"required":["approved","digest"],"additionalProperties":false}`)
}

var reasons = map[gate.Kind]string{
	gate.Tool: "tool_call", gate.Context: "sidecoach:context", gate.Response: "sidecoach:response",
}

// Interrupt returns the events that end a run of the protocol because something of the session's run waits for a
// person: the state, the messages so far, and the interrupts. It is nil if nothing waits.
func Interrupt(s Items, thread, run, sessionRun string) []Event {
	items := s.Items(sessionRun)
	var waiting []InterruptItem
	for _, it := range items {
		if it.Status != gate.Pending {
			continue
		}
		i := InterruptItem{
			ID: it.ID, Reason: reasons[it.Kind], Message: plaintext.Visible(it.Label), ResponseSchema: schemas[it.Kind],
			ExpiresAt: expiry(it.Expires), Metadata: Metadata{Proposal{Digest: it.Digest, Rule: it.Rule, Body: it.Body}},
		}
		if it.Kind == gate.Tool {
			i.ToolCallID = callID(it.Run, it.Call)
		}
		waiting = append(waiting, i)
	}
	if waiting == nil {
		return nil
	}
	return []Event{
		{Type: "STATE_SNAPSHOT", Snapshot: &State{Run: sessionRun, Phase: string(s.Phase(sessionRun))}},
		{Type: "MESSAGES_SNAPSHOT", Messages: messages(items)},
		{Type: "RUN_FINISHED", ThreadID: thread, RunID: run, Outcome: &Outcome{Type: "interrupt", Interrupts: waiting}},
	}
}

// messages returns the conversation of a run as far as it was approved. It has the calls that wait, too: in the
// protocol an interrupt belongs to a call that was sent.
func messages(items []gate.Item) []Message {
	list := []Message{}
	for _, it := range items {
		switch it.Kind {
		case gate.Context:
			var p struct {
				Message string `json:"message"`
			}
			if it.Status == gate.Redeemed && json.Unmarshal(it.ApprovedBody(), &p) == nil && p.Message != "" {
				list = append(list, Message{ID: it.ID, Role: "user", Content: p.Message})
			}
		case gate.Tool:
			id := callID(it.Run, it.Call)
			list = append(list, Message{ID: it.ID, Role: "assistant", ToolCalls: []ToolCall{
				{ID: id, Type: "function", Function: Function{Name: it.Tool, Arguments: string(it.ApprovedBody())}},
			}})
			switch it.Status {
			case gate.Done:
				list = append(list, Message{ID: it.ID + "-result", Role: "tool", ToolCallID: id, Content: text(it.Result)})
			case gate.Denied, gate.Expired:
				list = append(list, Message{ID: it.ID + "-result", Role: "tool", ToolCallID: id, Content: denial(it.Reason)})
			}
		case gate.Response:
			if words, _ := answer(it.ApprovedBody()); it.Status == gate.Redeemed {
				list = append(list, Message{ID: it.ID, Role: "assistant", Content: words})
			}
		}
	}
	return list
}
