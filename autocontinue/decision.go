package autocontinue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach"
)

// Action is what the host does with an output. In JSON and as text it is "deliver", "continue" or "suppress".
type Action int

// The three actions. The zero value shows the output to the human.
const (
	Deliver  Action = iota // show the output to the human
	Continue               // send Decision.Message to the agent
	Suppress               // do nothing: this pause was already handled
)

var actions = [...]string{Deliver: "deliver", Continue: "continue", Suppress: "suppress"}

// String returns the action's text, or "Action(n)" for another value.
func (a Action) String() string {
	if a < 0 || int(a) >= len(actions) {
		return fmt.Sprintf("Action(%d)", int(a))
	}
	return actions[a]
}

// MarshalText returns the action's text. Another value is an error.
func (a Action) MarshalText() ([]byte, error) {
	if a < 0 || int(a) >= len(actions) {
		return nil, fmt.Errorf("autocontinue: unknown action %d", int(a))
	}
	return []byte(actions[a]), nil
}

// UnmarshalText accepts the three texts and nothing else.
func (a *Action) UnmarshalText(text []byte) error {
	i := slices.Index(actions[:], string(text))
	if i < 0 {
		return fmt.Errorf("autocontinue: unknown action %.20q", text)
	}
	*a = Action(i)
	return nil
}

// Outcome is how a pause ended, for people and dashboards:
//
//   - completed: the work is done, and the output shows it
//   - needs_human: the human must read the output and act
//   - failed: the run broke
//   - stalled: the same gap again, despite coaching
//   - capped: the turn has used all its continuations
//   - continuing: the agent is continued
//   - duplicate: this pause was already handled
type Outcome string

// Reason is the code of the row of the table that held, see [Decide]: "cap". It determines action and outcome.
type Reason string

// verdict is what a reason means. The note is for the human; only a delivered output has one.
type verdict struct {
	action  Action
	outcome Outcome
	note    string
}

const notContinued = ", so the agent was not continued."

// errorNote is for an output that is an error. It is true of a crash, and of a failure that the agent only reports.
const errorNote = "The output reports a failure" + notContinued

// verdicts has every reason, in the order of the table.
var verdicts = map[Reason]verdict{
	"run_closed":          {Suppress, "duplicate", ""},
	"run_reused":          {Deliver, "needs_human", "This run was already handled. Its new text was not checked."},
	"same_text":           {Suppress, "duplicate", ""},
	"superseded":          {Deliver, "needs_human", "You wrote something after this output" + notContinued},
	"crash_guard":         {Deliver, "failed", "The run broke. A broken run is never continued."},
	"hold":                {Deliver, "needs_human", "The agent must not be continued now."},
	"question":            {Deliver, "needs_human", "The agent asks you something."},
	"blocker":             {Deliver, "needs_human", "The agent needs something from you to go on."},
	"next_stage":          {Continue, "continuing", ""},
	"completion":          {Deliver, "completed", "The agent is done and shows it."},
	"low_confidence":      {Deliver, "needs_human", "It is not clear what the agent wants" + notContinued},
	"waiting":             {Deliver, "needs_human", "This turn already waits for you" + notContinued},
	"repeat":              {Deliver, "stalled", "The agent stopped at the same gap again despite coaching."},
	"cap":                 {Deliver, "capped", "The agent was continued as often as one turn allows."},
	"rejected_completion": {Continue, "continuing", ""},
	"progress":            {Continue, "continuing", ""},
	"empty":               {Continue, "continuing", ""},
	"error":               {Deliver, "needs_human", "The output could not be judged" + notContinued},
}

// Decision is what to do with one output, and why.
type Decision struct {
	// ID is the host's key to act once: a hash of session, run and output ID, 32 hexadecimal digits. Without an output
	// ID, the state's sequence number takes its place; the ID is then unique until the store forgets the session. After
	// an error for an output without ID it is empty: nothing was recorded.
	ID      string  `json:"id"`
	Action  Action  `json:"action"`
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason"`            // code of the table
	Note    string  `json:"note,omitempty"`    // with deliver: one sentence for the human, why the loop stopped here
	Message string  `json:"message,omitempty"` // with continue: send exactly this

	Tier      coach.Tier         `json:"tier,omitempty"`     // with continue: where the message comes from
	Attempt   int                `json:"attempt,omitempty"`  // with continue: number of this coaching for the same gap
	Continues int                `json:"continues"`          // used in this turn, this one included
	Verified  VerificationStatus `json:"verified,omitempty"` // Verified, Unverified, or "" when nothing was verified
	Goal      string             `json:"goal,omitempty"`     // how far the session's goal is: "1 of 3 met"
	Stage     int                `json:"stage,omitempty"`    // how many of Output.Stages are done
	Replayed  bool               `json:"replayed,omitempty"` // recorded earlier for the same output ID; Result is zero
	// Degraded says what could not be used and why, in the form "plan: …": a plan, a judge, a verifier, a message, a
	// reused run, an output ID that came with another text. It is for the host's log; the decision stands.
	Degraded []string        `json:"degraded,omitempty"`
	Result   classify.Result `json:"classification"` // zero when the text was not read
}

const (
	maxDegraded  = 200 // characters of one entry of Decision.Degraded
	manyDegraded = 8   // entries
	maxHold      = 120 // characters of Output.Hold in a note
	maxVerified  = 250 // characters of Verification.Note in a note
	maxGoal      = 600 // characters of Goal.Note in a note
)

func (d *Decision) degrade(why ...string) {
	for _, w := range why {
		if len(d.Degraded) < manyDegraded {
			d.Degraded = append(d.Degraded, shown(w, maxDegraded))
		}
	}
}

// shown returns foreign words for a note: on one line, without secrets and without a forged prefix of ours.
func shown(s string, most int) string {
	return plaintext.Disarm(plaintext.MaskedLine(s, most))
}

// verifiedNote adds to a note what a verifier said.
func verifiedNote(note string, status VerificationStatus, said string) string {
	switch status {
	case Unverified:
		note += " It could not be verified."
	case Verified:
		note += " It was verified."
	}
	if said = shown(said, maxVerified); said != "" && status != "" {
		note += " " + said
	}
	return note
}

// goalNote returns note, or what is the case without one, and how far the goal is.
func goalNote(note string, reason Reason, g Goal) string {
	return strings.TrimSpace(cmp.Or(note, verdicts[reason].note) + " " + shown(g.Note, maxGoal))
}

func capNote(limit int, goal Goal) string {
	whose := "for one turn"
	if goal.Cap != "" {
		whose = "of " + shown(goal.Cap, maxHold)
	}
	switch limit {
	case 0:
		return "Continuing the agent is switched off."
	case 1:
		return "The agent was continued once, which is the limit " + whose + "."
	}
	return fmt.Sprintf("The agent was continued %d times, which is the limit %s.", limit, whose)
}
