package autocontinue

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/skills"
)

// ErrNoSession is the error for an output without a session ID.
var ErrNoSession = errors.New("autocontinue: empty session ID")

// Config is what [New] needs. Only Classifier is required.
type Config struct {
	Classifier classify.Classifier
	Store      Store            // nil is a MemoryStore of the default size
	Skills     *skills.Registry // nil is the built-in ones
	Plans      fs.FS            // where Output.PlanFile is read; nil reads no plans
	Verifier   Verifier         // nil: nobody looks
	Policy     Policy
	Observer   Observer         // nil: nobody watches
	Logger     *slog.Logger     // for warnings; nil discards them
	Now        func() time.Time // for events; nil is time.Now
}

// Verifier looks at what a claim of completion rests on, before [Decide].
type Verifier interface {
	Verify(ctx context.Context, out Output, r classify.Result) (Verification, error)
}

// AutoContinue is the loop.
type AutoContinue struct{ cfg Config }

// New checks cfg.
func New(cfg Config) (*AutoContinue, error) {
	if cfg.Classifier == nil {
		return nil, errors.New("autocontinue: no classifier: set Config.Classifier, to what classify.NewHeuristic returns for instance")
	}
	return &AutoContinue{cfg: cfg}, nil
}

// Handle decides about one output.
func (a *AutoContinue) Handle(ctx context.Context, out Output) (Decision, error) {
	return Decision{}, nil
}

// Reset says that the human spoke.
func (a *AutoContinue) Reset(ctx context.Context, session string) error { return nil }
