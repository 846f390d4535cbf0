package session

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// Session is what a run of the workflow begins with. Whoever starts one gives Name and Config; the rest is what a run
// that continues as new leaves to the next.
type Session struct {
	Name   string `json:"name"`
	Config Config `json:"config"`

	State   autocontinue.State `json:"state,omitzero"`
	Turn    string             `json:"turn,omitempty"`
	Request string             `json:"request,omitempty"`
	Plan    string             `json:"plan,omitempty"`
	Outputs []Pause            `json:"outputs,omitempty"`  // not judged yet, oldest first
	Steps   []Step             `json:"steps,omitempty"`    // what the agent is to be sent, the first perhaps begun
	RunGate []byte             `json:"run_gate,omitempty"` // journal of the gate of the step that is begun
	Heard   []string           `json:"heard,omitempty"`    // IDs of the words heard last
	Turns   []string           `json:"turns,omitempty"`    // the turns of late, the current one last
	Done    []string           `json:"done,omitempty"`     // keys of the outputs handled last
	Ending  bool               `json:"ending,omitempty"`
	Counts  Counts             `json:"counts,omitzero"`
	Refused []string           `json:"refused,omitempty"` // the last signals that could not be used, and why
}

// Pause is an output that is not judged yet.
type Pause struct {
	autocontinue.Output
	Resets int `json:"resets,omitempty"` // of the state, when the output came; 0 for an output whose turn has a name
}

// Step is one message on its way to the agent, and the run it becomes.
type Step struct {
	Run      string `json:"run,omitempty"` // empty until it is begun
	From     string `json:"from"`
	Message  string `json:"message"`
	Decision string `json:"decision,omitempty"`
	Turn     string `json:"turn"`
	Request  string `json:"request"`
	Plan     string `json:"plan,omitempty"`
	Resets   int    `json:"resets"` // of the state, when the message came up

	Item  string   `json:"item,omitempty"`  // of the message, at the gate
	Calls []string `json:"calls,omitempty"` // items of the calls that are not all answered
}

// Counts is what happened in a session since it began.
type Counts struct {
	Runs       int            `json:"runs"`       // runs of the workflow
	Words      int            `json:"words"`      // heard
	Agents     int            `json:"agents"`     // runs of the agent begun
	Outputs    int            `json:"outputs"`    // reports handled
	Replayed   int            `json:"replayed"`   // of them, repeated under their ID
	Suppressed int            `json:"suppressed"` // of them, of a pause that was dealt with
	Delivered  int            `json:"delivered"`
	Continued  int            `json:"continued"`
	Fallbacks  int            `json:"fallbacks"` // judged by the heuristic because the model did not
	Undone     int            `json:"undone"`    // effects that were refused for good
	Reasons    map[string]int `json:"reasons,omitempty"`
}

const (
	maxHeard   = 64
	maxTurns   = 64
	maxDone    = 1000
	maxRefused = 8
)

// View is what the query returns.
type View struct {
	Session   string      `json:"session"`
	Turn      string      `json:"turn,omitempty"`
	Doing     string      `json:"doing"` // "waiting", "approval", "agent", "tool", "judging", "acting"
	Run       string      `json:"run,omitempty"`
	Continues int         `json:"continues"`
	Handed    bool        `json:"handed_over"`
	Backlog   int         `json:"backlog"`
	Ending    bool        `json:"ending,omitempty"`
	Asked     []gate.Item `json:"asked,omitempty"` // approvals that wait for a human
	Last      *Effect     `json:"last,omitempty"`  // in this run of the workflow
	Counts    Counts      `json:"counts"`
	Refused   []string    `json:"refused,omitempty"`
}

// keyOf stands for an output's ID where a thousand of them are kept.
func keyOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// remember appends to a list that is kept short.
func remember(list []string, s string, most int) []string {
	list = append(list, s)
	return list[max(0, len(list)-most):]
}
