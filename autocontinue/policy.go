package autocontinue

import "github.com/sidecoach/sidecoach/coach"

const (
	// Never as Policy.MaxContinues continues nothing.
	Never = -1
	// NoGate as Policy.MinConfidence asks for no confidence.
	NoGate = -1
	// DefaultMaxContinues is what Policy.MaxContinues 0 means.
	DefaultMaxContinues = 3
)

// Policy says how far the loop may go. The zero value is the default policy.
type Policy struct {
	MaxContinues  int          // continuations a turn may have: 0 is DefaultMaxContinues, Never is none, at most 1,000
	MinConfidence float64      // below it a status is delivered: 0 is classify.DefaultThreshold, NoGate switches it off, at most 1
	Coach         *coach.Coach // words the messages; nil is the default coach
}
