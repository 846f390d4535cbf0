package project

import (
	"errors"
	"fmt"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify/verifier"
)

// Limits of a goal.
const (
	maxContinues = 100
	maxCriteria  = 50
)

// Goal is what the sessions of a project must reach, as the human set it. It is a copy: a later change of the plan does
// not change it.
type Goal struct {
	Plan     string               `json:"plan,omitempty"` // the file that it comes from, for people
	Dir      string               `json:"dir"`            // where its commands run and its files are
	Criteria []verifier.Criterion `json:"criteria"`
	Stages   []string             `json:"stages,omitempty"` // triggers or phases of skills, in order
	Set      time.Time            `json:"set"`              // when; it also names the goal

	Continues int           `json:"continues,omitempty"` // the cap of a turn; 0 is the hook's
	For       time.Duration `json:"for,omitempty"`       // from Begun on; 0 is no limit
	Wide      bool          `json:"wide,omitempty"`      // it holds for all sessions of the project

	Session string    `json:"session,omitempty"` // the session that it is bound to, after its host and a slash
	Begun   time.Time `json:"begun,omitzero"`    // when the first session began
	Stage   int       `json:"stage,omitempty"`   // how many stages are done
	Ended   time.Time `json:"ended,omitzero"`    // when it was reached
}

// Check returns what is wrong with a goal that a human sets.
func (g Goal) Check() error {
	switch {
	case len(g.Criteria) == 0 && len(g.Stages) == 0:
		return errors.New("the goal has neither criteria nor stages")
	case len(g.Criteria) > maxCriteria:
		return fmt.Errorf("the goal has %d criteria; at most %d are possible", len(g.Criteria), maxCriteria)
	case g.Continues < 0 || g.Continues > maxContinues:
		return fmt.Errorf("the cap of a goal is from 1 to %d", maxContinues)
	case g.For < 0:
		return errors.New("the time of a goal is negative")
	}
	return nil
}

// Limit returns why nothing more is continued for the goal at a time, "" if its time is not over.
func (g Goal) Limit(now time.Time) string {
	if g.For <= 0 || g.Begun.IsZero() || now.Sub(g.Begun) < g.For {
		return ""
	}
	return fmt.Sprintf("The goal's time of %v is over.", g.For)
}

// IsReached reports whether each criterion was seen to hold and each stage is done.
func (g Goal) IsReached() bool {
	return verifier.AllMet(g.Criteria) && g.Stage >= len(g.Stages)
}
