package session

import (
	"encoding/json"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// What a client says to a session, and asks it.
const (
	SignalWord   = "word"   // [Word]: the human speaks, and opens a turn
	SignalOutput = "output" // [autocontinue.Output]: the agent paused; its ID is required
	SignalAnswer = "answer" // [gate.Decision]: approve, edit, deny, respond or stop
	SignalEnd    = "end"    // no argument: finish what is going on, then the session is over; the human is no longer heard
	QueryState   = "state"  // [View]
)

// Word is what the human says.
type Word struct {
	// of the message: the same again is not heard twice. It names the turn; empty is one of our own
	ID       string `json:"id,omitempty"`
	Text     string `json:"text"`
	PlanFile string `json:"plan_file,omitempty"`
}

// Prompt is what the agent gets.
type Prompt struct {
	Session  string   `json:"session"`
	Turn     string   `json:"turn"`
	Run      string   `json:"run"`
	From     string   `json:"from"` // "human" or "coach"
	Message  string   `json:"message"`
	Decision string   `json:"decision,omitempty"` // ID of the decision that the message is
	Answers  []Answer `json:"answers,omitempty"`  // what became of the calls that the run asked for before
}

// Reply is what a run of the agent ends in: a pause, or calls of tools it asks for.
type Reply struct {
	Text     string              `json:"text"`
	Failed   bool                `json:"failed,omitempty"`
	Stopped  bool                `json:"stopped,omitempty"` // it was killed because nobody waits for it any more
	Evidence []classify.Evidence `json:"evidence,omitempty"`
	Calls    []Call              `json:"calls,omitempty"`
}

// Call is one call of a tool.
type Call struct {
	ID   string          `json:"id"` // unique in the run
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"` // an object
}

// Answer is what became of a call.
type Answer struct {
	Call   string          `json:"call"`
	Tool   string          `json:"tool"`
	Status string          `json:"status"`           // done, answered (by a human in its place), denied, expired, failed
	Reason string          `json:"reason,omitempty"` // why it was not done
	Result json.RawMessage `json:"result,omitempty"`
}

// Effect is what a decision says is to be done.
type Effect struct {
	Key     string              `json:"key"` // do it once for each: the decision's ID
	Session string              `json:"session"`
	Turn    string              `json:"turn,omitempty"`
	Run     string              `json:"run,omitempty"`
	Action  autocontinue.Action `json:"action"`
	Reason  autocontinue.Reason `json:"reason"`
	Text    string              `json:"text"` // deliver: the output to show; continue: the message to send
	Note    string              `json:"note,omitempty"`
}
