package autocontinue

import "fmt"

// Action is what the host does with an output. In JSON and as text it is "deliver", "continue" or "suppress".
type Action int

// The three actions. The zero value shows the output to the human.
const (
	Deliver  Action = iota // show the output to the human
	Continue               // send Decision.Message to the agent
	Suppress               // do nothing: this pause was dealt with
)

var actions = [...]string{Deliver: "deliver", Continue: "continue", Suppress: "suppress"}

// String returns the action's text, or "Action(n)" for a value that is none of the three.
func (a Action) String() string {
	if a < 0 || int(a) >= len(actions) {
		return fmt.Sprintf("Action(%d)", int(a))
	}
	return actions[a]
}

// MarshalText returns the action's text. A value that is none of the three is an error.
func (a Action) MarshalText() ([]byte, error) {
	if a < 0 || int(a) >= len(actions) {
		return nil, fmt.Errorf("autocontinue: no such action: %d", int(a))
	}
	return []byte(actions[a]), nil
}

// UnmarshalText accepts the three texts and nothing else.
func (a *Action) UnmarshalText(text []byte) error {
	for i, name := range actions {
		if string(text) == name {
			*a = Action(i)
			return nil
		}
	}
	return fmt.Errorf("autocontinue: no such action: %.20q", text)
}

// Outcome is how a pause ended, for people and dashboards.
type Outcome string

// The outcomes.
const (
	OutcomeCompleted  Outcome = "completed"   // done, and the output shows it
	OutcomeNeedsHuman Outcome = "needs_human" // the human is to read it and act
	OutcomeFailed     Outcome = "failed"      // the run broke
	OutcomeStalled    Outcome = "stalled"     // the same gap again, despite coaching
	OutcomeCapped     Outcome = "capped"      // the turn has had all its continuations
	OutcomeContinuing Outcome = "continuing"  // the agent is sent on
	OutcomeDuplicate  Outcome = "duplicate"   // this pause was dealt with
)

// Reason is the code of the row of the decision table that held, see [Decide]. It determines action and outcome.
type Reason string

// The reasons, in the order of the table.
const (
	ReasonRunClosed          Reason = "run_closed"          // this run was continued or delivered a completion
	ReasonSameText           Reason = "same_text"           // this run delivered the same bytes
	ReasonSuperseded         Reason = "superseded"          // the human has spoken since
	ReasonCrashGuard         Reason = "crash_guard"         // the run failed, or its output is an error
	ReasonHold               Reason = "hold"                // the host forbids continuing
	ReasonQuestion           Reason = "question"            // the agent asks the human
	ReasonBlocker            Reason = "blocker"             // the agent cannot go on by itself
	ReasonCompletion         Reason = "completion"          // the work is done
	ReasonLowConfidence      Reason = "low_confidence"      // unsure means human
	ReasonWaiting            Reason = "waiting"             // the turn was handed over before
	ReasonRepeat             Reason = "repeat"              // the same gap for the third time
	ReasonCap                Reason = "cap"                 // Policy.MaxContinues is reached
	ReasonRejectedCompletion Reason = "rejected_completion" // continued: claims to be done without showing it
	ReasonProgress           Reason = "progress"            // continued: honest progress
	ReasonEmpty              Reason = "empty"               // continued: the output is blank
	ReasonError              Reason = "error"               // a failure of ours
)

// verdict returns the action and the outcome of a reason; ok is false for a reason that is not in the table.
func (r Reason) verdict() (a Action, o Outcome, ok bool) {
	switch r {
	case ReasonRunClosed, ReasonSameText:
		return Suppress, OutcomeDuplicate, true
	case ReasonSuperseded, ReasonHold, ReasonQuestion, ReasonBlocker, ReasonLowConfidence, ReasonWaiting, ReasonError:
		return Deliver, OutcomeNeedsHuman, true
	case ReasonCrashGuard:
		return Deliver, OutcomeFailed, true
	case ReasonCompletion:
		return Deliver, OutcomeCompleted, true
	case ReasonRepeat:
		return Deliver, OutcomeStalled, true
	case ReasonCap:
		return Deliver, OutcomeCapped, true
	case ReasonRejectedCompletion, ReasonProgress, ReasonEmpty:
		return Continue, OutcomeContinuing, true
	}
	return Deliver, "", false
}
