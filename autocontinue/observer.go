package autocontinue

import (
	"context"
	"time"

	"github.com/sidecoach/sidecoach/classify"
)

// Observer is told of every decision.
type Observer interface {
	Observe(ctx context.Context, e Event) error
}

// ObserverFunc is a function that is an [Observer].
type ObserverFunc func(ctx context.Context, e Event) error

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, e Event) error { return f(ctx, e) }

// Event explains one decision.
type Event struct {
	Time     time.Time     `json:"time"`
	Took     time.Duration `json:"took_ns"`
	Session  string        `json:"session"`
	Turn     string        `json:"turn,omitempty"`
	Run      string        `json:"run,omitempty"`
	OutputID string        `json:"output_id,omitempty"`
	Decision Decision      `json:"decision"`
	Signals  []Quote       `json:"signals,omitempty"`
	Preview  string        `json:"preview,omitempty"`
	Err      string        `json:"error,omitempty"`
}

// Quote is a signal and the words it points at.
type Quote struct {
	classify.Signal
	Words string `json:"words"`
}
