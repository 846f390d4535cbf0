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

// Config is what an [AutoContinue] is made of. Only Classifier is required.
type Config struct {
	Classifier classify.Classifier
	Policy     Policy
	Store      Store            // nil is a MemoryStore of DefaultSessions
	Skills     *skills.Registry // nil is the built-in skills
	Plans      fs.FS            // Output.PlanFile names a file in it; os.Root.FS keeps the names inside. Nil reads no plans
	Verifier   Verifier         // nil: no claim is looked into
	Observer   Observer         // nil: nobody is told
	Logger     *slog.Logger     // gets warnings only, of what degraded a decision but did not fail it; nil discards them
	Now        func() time.Time // for events; nil is time.Now
}

// Verifier looks into a claim of completion, before [Decide]. It may only lower a verdict: Rejected makes a completion a
// rejected one, Verified lets a repeated claim pass, and nothing makes a completion of what was none.
//
// It is asked about completions and rejected completions only. It must be safe for concurrent use and must not change the
// slices it is given. Its error, and a status that is none of the three, count as Unverified and are named in
// Decision.Degraded.
type Verifier interface {
	Verify(ctx context.Context, out Output, r classify.Result) (Verification, error)
}

// AutoContinue decides about outputs and keeps what sessions remember in a [Store]. It is safe for concurrent use.
type AutoContinue struct {
	cfg   Config
	queue queue
}

// New returns a loop made of cfg. A missing classifier and a [Policy] outside its ranges are errors.
func New(cfg Config) (*AutoContinue, error) {
	if cfg.Classifier == nil {
		return nil, errors.New("autocontinue: no classifier: set Config.Classifier, for example to what classify.NewHeuristic returns")
	}
	if err := cfg.Policy.check(); err != nil {
		return nil, err
	}
	if cfg.Store == nil {
		cfg.Store = NewMemoryStore(0)
	}
	if cfg.Skills == nil {
		cfg.Skills = skills.NewRegistry(skills.Builtin()...)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &AutoContinue{cfg: cfg}, nil
}
