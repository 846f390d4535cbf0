package autocontinue

import (
	"cmp"
	"context"
	"slices"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/sidecoach/sidecoach/skills"
)

// Output is what an agent printed last at a pause, and what the host knows about it. Only Session is required.
type Output struct {
	// Session names one conversation with one agent. A sub-agent has its own session. Empty is an error.
	Session string `json:"session"`
	// Turn names the human's message that led here, on continued runs too. Empty is the current turn, for hosts that
	// call [AutoContinue.Reset] instead.
	Turn string `json:"turn,omitempty"`
	// Run names one execution of the agent, from a prompt to its pause. Every continuation starts a new run, which needs
	// a new name. Empty makes every output its own run.
	Run string `json:"run,omitempty"`
	// ID names this report of the pause within the session. It stays the same when a queue delivers the report again.
	// Empty never replays. Never derive it from the text: the same words at a later pause are a new output.
	ID string `json:"id,omitempty"`

	Text     string `json:"text"`                // what the agent printed last
	Request  string `json:"request,omitempty"`   // the human's words of the turn, on continued runs too
	Phase    string `json:"phase,omitempty"`     // of the work, for skills: "build"; one that no skill knows is ignored
	PlanFile string `json:"plan_file,omitempty"` // name of the plan in Config.Plans

	// Stages are the stages of the session's goal in order: the triggers or phases of skills, see row 8a of [Decide].
	// Other stages than those of the output before start with the first one.
	Stages []string `json:"stages,omitempty"`

	Failed   bool                `json:"failed,omitempty"`   // the run crashed or was cut off; Text may be the error
	Hold     string              `json:"hold,omitempty"`     // why the host forbids continuing: "plan mode", "aborted"
	Evidence []classify.Evidence `json:"evidence,omitempty"` // what the host saw itself; outweighs prose
	Work     classify.Work       `json:"work,omitzero"`      // what the turn did, from the transcript; outweighs prose

	// Continues is how often the host knows that it continued this turn. The larger of this and the state's count holds.
	Continues int `json:"continues,omitempty"`
}

// Facts is what [Decide] decides about. [AutoContinue.Judge] gathers them.
type Facts struct {
	Output       Output
	Result       classify.Result
	Coach        coach.Context // what coaching may use; see Decide for the fields it fills
	Verification Verification
	Stages       []skills.Skill // of Output.Stages
	OnlyAsked    bool           // the turn only answers a question, which ends no stage; see [OnlyAsked]
	Degraded     []string       // for Decision.Degraded
	// Resets is State.Resets when the output came in. If the state in Decide has another number, the human has spoken
	// since, and the output's turn is over. 0 is unknown: the turn is then not over for this reason.
	Resets int
}

// VerificationStatus is what a verification found.
type VerificationStatus string

// The statuses. The empty one says that nothing was verified; any other value counts as Unverified.
const (
	Verified   VerificationStatus = "verified"   // the claims hold
	Unverified VerificationStatus = "unverified" // could not be told; changes nothing
	Rejected   VerificationStatus = "rejected"   // the claims do not hold: a completion becomes a rejected completion
)

// Verification is what a [Verifier] found. The zero value says that nothing was verified.
type Verification struct {
	Status   VerificationStatus
	Feedback string   // with Rejected: what is wrong, the worst item in the first line
	Human    []string // the human's own words in Feedback: commands in backquotes
	Note     string   // with Verified and Unverified: what was checked, or why not; a sentence for Decision.Note
	Checked  bool     // the host's own checks ran, and nothing new failed: the output need not show that
	Goal     *Goal    // how far the session's goal is; nil without a goal
}

// Goal is what was seen of the goal of a session. While it is not met, a completion is a rejected completion, unless
// further stages are ahead. When it is met, a status is a completion.
type Goal struct {
	Met     bool     // each criterion was seen to hold
	Open    string   // what does not hold and what was seen, a line each; empty if nothing was seen that does not
	Human   []string // the human's own words in Open: commands in backquotes, criteria
	Results string   // what each check saw; two outputs with the same results leave the same gap, and others do not
	Cap     string   // whose cap Policy.MaxContinues is, for Decision.Note: "the goal"; empty is that of one turn
	Limit   string   // why nothing more is continued for the goal: a sentence for Decision.Note
	Note    string   // how far it is: sentences for Decision.Note
	Counts  string   // the same for Decision.Goal: "1 of 3 met"
}

// open reports whether the goal has something to do.
func (g Goal) open() bool { return !g.Met && g.Open != "" }

// goal returns the goal of the session, the zero Goal if there is none.
func (v Verification) goal() Goal { return *cmp.Or(v.Goal, new(Goal)) }

// redact returns o without the secrets in what the agent and the human wrote, see [plaintext.Redact]. At the end of ctx
// it returns o without any of these texts.
func (o Output) redact(ctx context.Context, secrets []string) (Output, error) {
	o.Evidence, o.Work.Checks = slices.Clone(o.Evidence), slices.Clone(o.Work.Checks)
	o.Work.Files, o.Work.Ran = slices.Clone(o.Work.Files), slices.Clone(o.Work.Ran)
	var err error
	mask := func(text *string) {
		var failed error
		*text, failed = plaintext.RedactContext(ctx, *text, secrets...)
		err = cmp.Or(err, failed)
	}
	mask(&o.Text)
	mask(&o.Request)
	mask(&o.Hold)
	for i := range o.Evidence {
		mask(&o.Evidence[i].Text)
	}
	for i := range o.Work.Checks {
		mask(&o.Work.Checks[i].Command)
	}
	for _, list := range [][]string{o.Work.Files, o.Work.Ran} {
		for i := range list {
			mask(&list[i])
		}
	}
	return o, wrap("read the output", err)
}

const (
	// Never as Policy.MaxContinues continues nothing.
	Never = -1
	// NoGate as Policy.MinConfidence switches the check of the confidence off.
	NoGate = -1
	// DefaultMaxContinues is what Policy.MaxContinues 0 means.
	DefaultMaxContinues = 3

	limitContinues = 1000
)

// Policy says how far the loop may go. The zero value is the default policy.
//
// [New] refuses a policy outside these ranges. The pure functions have no error to return, so they take the careful
// side: any other negative MaxContinues continues nothing, and a larger one is 1,000. With a MinConfidence that is not
// a number, or above 1, no status is sure enough; any other negative one is the default.
type Policy struct {
	MaxContinues  int          // of one turn: 0 is DefaultMaxContinues, Never is none, at most 1,000
	MinConfidence float64      // of a status that is continued: 0 is classify.DefaultThreshold, NoGate is any, at most 1
	Coach         *coach.Coach // words the messages; nil is the default coach
}

func (p Policy) maxContinues() int {
	return min(max(cmp.Or(p.MaxContinues, DefaultMaxContinues), 0), limitContinues)
}

func (p Policy) minConfidence() float64 {
	if p.MinConfidence == 0 || p.MinConfidence < 0 && p.MinConfidence != NoGate {
		return classify.DefaultThreshold
	}
	return p.MinConfidence
}

// unsure reports whether confidence is too low to continue a status. A confidence that is not a number is too low.
func (p Policy) unsure(confidence float64) bool {
	least := p.minConfidence()
	return least != NoGate && !(confidence >= least)
}
