package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify"
)

// Config says how a session goes. The zero value is one whose agent runs elsewhere, judged by the heuristic.
type Config struct {
	// Agent: the workflow runs the agent itself, by the activity RunAgent, for each word of the human and each
	// continuation. Without it the agent is somebody else's: its pauses come by SignalOutput, and continuations go out by
	// Act.
	Agent bool `json:"agent,omitempty"`
	// Model: AskModel judges, and the heuristic only when the model does not.
	Model bool `json:"model,omitempty"`

	MaxContinues  int     `json:"max_continues,omitempty"`  // see autocontinue.Policy
	MinConfidence float64 `json:"min_confidence,omitempty"` // see autocontinue.Policy

	// Gate is asked before the agent gets anything (gate.Context) and before a tool runs (gate.Tool). Nil lets every
	// message to the agent pass and no tool.
	Gate        *gate.Policy  `json:"gate,omitempty"`
	ApprovalTTL time.Duration `json:"approval_ttl_ns,omitempty"` // after which an approval nobody gave is denied; 0 is 1 h

	RunLimit    time.Duration `json:"run_limit_ns,omitempty"` // of one run of the agent, or of a tool; 0 is 1 h
	Heartbeat   time.Duration `json:"heartbeat_ns,omitempty"` // after which a silent worker is lost; 0 is 30 s
	RunAttempts int32         `json:"run_attempts,omitempty"` // how often a run is begun whose workers are lost; 0 is 3
	ActLimit    time.Duration `json:"act_limit_ns,omitempty"` // of one try to do a effect; 0 is 30 s

	// Events is the length of history from which on a run continues as new, at the latest; the server may say so before. 0
	// is 10,000.
	Events int `json:"events,omitempty"`
}

// minEvents leaves room for an output and what it leads to.
const minEvents = 100

// Check says what is wrong with c.
func (c Config) Check() error {
	switch {
	case c.ApprovalTTL < 0, c.RunLimit < 0, c.Heartbeat < 0, c.ActLimit < 0, c.RunAttempts < 0:
		return errors.New("config: times and attempts are not below 0")
	case c.Events != 0 && (c.Events < minEvents || c.Events > 40_000):
		return fmt.Errorf("config: events %d: give %d to 40000, or 0 for 10000", c.Events, minEvents)
	}
	// What New refuses is what the pure functions, which return no error, take the careful side of.
	none := classify.ClassifierFunc(
		func(context.Context, classify.Input) (classify.Result, error) { return classify.Result{}, nil },
	)
	if _, err := autocontinue.New(autocontinue.Config{Classifier: none, Policy: c.policy()}); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

func (c Config) policy() autocontinue.Policy {
	return autocontinue.Policy{MaxContinues: c.MaxContinues, MinConfidence: c.MinConfidence}
}

// orElse is v, or the default if v is zero.
func orElse[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (c Config) approvalTTL() time.Duration { return orElse(c.ApprovalTTL, time.Hour) }
func (c Config) runLimit() time.Duration    { return orElse(c.RunLimit, time.Hour) }
func (c Config) heartbeat() time.Duration   { return orElse(c.Heartbeat, 30*time.Second) }
func (c Config) runAttempts() int32         { return orElse(c.RunAttempts, 3) }
func (c Config) actLimit() time.Duration    { return orElse(c.ActLimit, 30*time.Second) }
func (c Config) events() int                { return orElse(c.Events, 10_000) }
