package autocontinue

import (
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

// Output is what an agent printed last at a pause, and what the host knows about it. Only Session is required.
type Output struct {
	// Session names one conversation with one agent; a sub-agent is a session of its own. Empty is an error.
	Session string `json:"session"`
	// Turn names the human's message that led here, on continued runs too. Empty is the current turn, for hosts that call
	// [AutoContinue.Reset] instead.
	Turn string `json:"turn,omitempty"`
	// Run names one execution of the agent, from a prompt to its pause. Empty makes every output a run of its own.
	Run string `json:"run,omitempty"`
	// ID names this report of the pause within the session, unchanged when a queue delivers it again. Empty never replays.
	// Never derive it from the text: the same words at a later pause are a new output, which is how stalling is seen.
	ID string `json:"id,omitempty"`

	Text    string `json:"text"`              // what the agent printed last
	Request string `json:"request,omitempty"` // the human's words of the turn, on continued runs too
	// Phase of the work, for skills: "build", in any letter case. One that no skill of Config.Skills knows is ignored, as if it
	// were empty: the phases are the host's, and only some of them may have a skill.
	Phase    string `json:"phase,omitempty"`
	PlanFile string `json:"plan_file,omitempty"` // name of the plan in Config.Plans

	Failed   bool                `json:"failed,omitempty"`   // the run crashed or was cut off; Text may be the error
	Hold     string              `json:"hold,omitempty"`     // why the host forbids continuing: "plan mode", "aborted", "background work"
	Evidence []classify.Evidence `json:"evidence,omitempty"` // what the host saw itself; outweighs prose
	Work     classify.Work       `json:"work,omitzero"`      // what the agent did, from its transcript; outweighs prose

	Continues int `json:"continues,omitempty"` // how often the host knows it continued this turn; the larger of this and State's holds
	Resets    int `json:"resets,omitempty"`    // set by Handle: State.Resets when the output came in; other than the state's now, its turn is over
}

// Decision is what to do with one output, and why.
type Decision struct {
	// ID is the host's key to act once: a hash of session, run and output ID or, without one, of the state's sequence
	// number; 32 hexadecimal digits. It is empty after an error when the output has no ID: nothing was recorded then. Without
	// an output ID it is unique for as long as the store does not forget the session.
	ID        string          `json:"id"`
	Action    Action          `json:"action"`
	Outcome   Outcome         `json:"outcome"`
	Reason    Reason          `json:"reason"`             // code of the table
	Note      string          `json:"note,omitempty"`     // with deliver, one sentence for the human: why the loop stopped here
	Message   string          `json:"message,omitempty"`  // with continue: send exactly this
	Tier      coach.Tier      `json:"tier,omitempty"`     // with continue: where the message comes from
	Attempt   int             `json:"attempt,omitempty"`  // with continue: which coaching this is for the same gap in this turn, 1 the first
	Continues int             `json:"continues"`          // used in this turn, this one included
	Verified  string          `json:"verified,omitempty"` // Verified or Unverified, what a verifier said; empty when none looked, or it rejected
	Replayed  bool            `json:"replayed,omitempty"` // recorded earlier for the same output ID; Result is zero then
	Degraded  []string        `json:"degraded,omitempty"` // what could not be used, and why: "plan: …", "llm: …", "verifier: …"
	Result    classify.Result `json:"classification"`     // zero when no classifier had to be asked
}

// Facts is what [Decide] decides about.
type Facts struct {
	Output       Output
	Result       classify.Result
	Coach        coach.Context // what coaching may use; see Decide for the fields it fills
	Verification Verification
	Degraded     []string // for Decision.Degraded
}

// Verification is what a [Verifier] found. The zero value: nobody looked.
type Verification struct {
	Status   string // Verified, Unverified or Rejected; anything else counts as Unverified
	Feedback string // with Rejected: what is wrong, the worst item in the first line
	Note     string // with Verified and Unverified: what was looked at or why not, a sentence for Decision.Note of a completion
}

// The statuses of a [Verification].
const (
	Verified   = "verified"   // the claims hold
	Unverified = "unverified" // could not be told; changes nothing
	Rejected   = "rejected"   // the claims do not hold: a completion becomes a rejected completion
)
