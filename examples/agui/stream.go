package agui

import (
	"encoding/json"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Items is the part of a [gate.Session] that this package reads.
type Items interface {
	Item(id string) (gate.Item, bool)
	Items(run string) []gate.Item
	Phase(run string) gate.Phase
}

// Begin returns the event that every run of the protocol begins with.
func Begin(thread, run string) Event { return Event{Type: "RUN_STARTED", ThreadID: thread, RunID: run} }

// Failed returns the event that ends a run of the protocol with an error, such as a decision that was refused.
func Failed(err error) Event {
	return Event{Type: "RUN_ERROR", Message: plaintext.VisibleLines(err.Error()), Code: "refused"}
}

// Map returns the events of the protocol for one event of the session; most have none. run is the run of the
// protocol. After a RUN_FINISHED or RUN_ERROR, send nothing more in that run.
func Map(s Items, run string, e gate.Event) []Event {
	at := e.At.UnixMilli()
	switch e.Type {
	case "TOOL_CALL_PROPOSED":
		return []Event{
			{Type: "TOOL_CALL_START", Timestamp: at, ToolCallID: callID(e.Run, e.Call), ToolCallName: e.Tool},
			{Type: "TOOL_CALL_ARGS", Timestamp: at, ToolCallID: callID(e.Run, e.Call), Delta: string(e.Args)},
			{Type: "TOOL_CALL_END", Timestamp: at, ToolCallID: callID(e.Run, e.Call)},
		}
	case "TOOL_CALL_RESULT":
		return []Event{result(e, text(e.Result))}
	case "TOOL_CALL_DENIED":
		return []Event{result(e, denial(e.Reason))}
	case "ITEM_EXPIRED":
		switch e.Kind {
		case gate.Tool:
			return []Event{result(e, denial(e.Reason))}
		case gate.Context:
			return []Event{{Type: "RUN_ERROR", Timestamp: at, Message: "the run was not approved in time", Code: "expired"}}
		}
	case "ITEM_REDEEMED":
		if it, ok := s.Item(e.Item); ok && e.Kind == gate.Response {
			return response(it, at)
		}
	case "RUN_STAGE_DENIED":
		return []Event{{Type: "RUN_ERROR", Timestamp: at, Message: because("the run was denied", e.Reason), Code: "denied"}}
	case "RUN_FINISHED":
		if e.Phase == "denied" {
			why := because("the run was stopped", e.Reason)
			return []Event{{Type: "RUN_ERROR", Timestamp: at, Message: why, Code: "stopped"}}
		}
		success := &Outcome{Type: "success"}
		return []Event{{Type: "RUN_FINISHED", Timestamp: at, ThreadID: e.Thread, RunID: run, Outcome: success}}
	}
	return nil
}

// callID is unique in a thread, as the protocol demands. In the session, a call's ID is unique in its run.
func callID(run, call string) string { return run + "/" + call }

func result(e gate.Event, content string) Event {
	return Event{
		Type: "TOOL_CALL_RESULT", Timestamp: e.At.UnixMilli(), MessageID: e.Item + "-result",
		ToolCallID: callID(e.Run, e.Call), Content: &content, Role: "tool",
	}
}

// denial is the result of a call that was not executed.
func denial(reason string) string {
	data, err := json.Marshal(map[string]any{"denied": true, "reason": reason})
	if err != nil {
		return `{"denied":true}`
	}
	return string(data)
}

// response returns the events of a response that was redeemed.
func response(it gate.Item, at int64) []Event {
	words, a2ui := answer(it.ApprovedBody())
	events := []Event{{Type: "TEXT_MESSAGE_START", Timestamp: at, MessageID: it.ID, Role: "assistant"}}
	if words != "" {
		events = append(events, Event{Type: "TEXT_MESSAGE_CONTENT", Timestamp: at, MessageID: it.ID, Delta: words})
	}
	events = append(events, Event{Type: "TEXT_MESSAGE_END", Timestamp: at, MessageID: it.ID})
	if a2ui != nil {
		events = append(events, Event{Type: "CUSTOM", Timestamp: at, Name: "a2ui", Value: a2ui})
	}
	return events
}

func answer(body json.RawMessage) (words string, a2ui json.RawMessage) {
	var parts struct {
		Text string          `json:"text"`
		A2UI json.RawMessage `json:"a2ui"`
	}
	if json.Unmarshal(body, &parts) != nil { // the session took it, so it can be read
		return "", nil
	}
	return parts.Text, parts.A2UI
}

// text returns a JSON string's text, and any other value as it is written.
func text(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

func because(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + ": " + plaintext.VisibleLines(reason)
}

func expiry(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
