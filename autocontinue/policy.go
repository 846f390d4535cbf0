package autocontinue

import (
	"fmt"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

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

func (p Policy) check() error {
	if p.MaxContinues < Never || p.MaxContinues > limitContinues {
		return fmt.Errorf("autocontinue: Policy.MaxContinues %d: give 1 to %d, 0 for the default of %d, or Never",
			p.MaxContinues, limitContinues, DefaultMaxContinues)
	}
	if c := p.MinConfidence; c != NoGate && !(c >= 0 && c <= 1) {
		return fmt.Errorf("autocontinue: Policy.MinConfidence %v: give a number up to 1, 0 for the default, or NoGate", c)
	}
	return nil
}

func (p Policy) maxContinues() int {
	if p.MaxContinues == 0 {
		return DefaultMaxContinues
	}
	return min(max(p.MaxContinues, 0), limitContinues)
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
