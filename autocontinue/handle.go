package autocontinue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/skills"
)

// Config is what an [AutoContinue] is made of. Only Classifier is required.
type Config struct {
	Classifier classify.Classifier
	Policy     Policy
	Store      Store            // nil is a MemoryStore
	Skills     *skills.Registry // nil is the built-in skills
	Plans      fs.FS            // has Output.PlanFile; os.Root.FS keeps the names inside. Nil reads no plans
	Verifier   Verifier         // nil verifies nothing
	Observer   Observer         // nil observes nothing
	Logger     *slog.Logger     // gets warnings about what degraded a decision; nil discards them
	// Secrets, such as the host's API keys, are masked wherever the agent or the human wrote them, beside the kinds that
	// plaintext.Redact knows.
	Secrets []string
}

// Verifier checks a claim of completion, before [Decide]. It may only lower a verdict: Rejected makes a completion a
// rejected one. Verified lets a repeated claim pass, and a claim whose evidence only the words lack. Only a goal that
// is met makes a completion of other statuses.
//
// It is asked about every output that was classified. A completion and a rejected completion claim something. So may a
// question, a blocker and the report of a failure: the human is told what was found, and nothing else changes. It must
// be safe for concurrent use and must not change the slices that it is given. Its error, its panic and an unknown
// status count as Unverified; Decision.Degraded names them.
type Verifier interface {
	Verify(ctx context.Context, out Output, r classify.Result) (Verification, error)
}

// AutoContinue decides about outputs and keeps the state of sessions in a [Store]. Make one with [New]. It is safe for
// concurrent use.
type AutoContinue struct {
	cfg   Config
	queue queue
}

// New returns a loop made of cfg. A missing classifier, a nil pointer or function in an interface, and
// a [Policy] outside its ranges are errors.
func New(cfg Config) (*AutoContinue, error) {
	if cfg.Classifier == nil {
		return nil, errors.New("autocontinue: Config.Classifier is nil: set it, for example to a classify.NewHeuristic")
	}
	for _, v := range []any{cfg.Classifier, cfg.Store, cfg.Plans, cfg.Verifier, cfg.Observer} {
		if classify.HoldsNil(v) {
			return nil, fmt.Errorf("autocontinue: Config has a nil %T", v)
		}
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
	return &AutoContinue{cfg: cfg, queue: queue{lines: make(map[string]*line)}}, nil
}

// ErrNoSession is the error for an output, or a Reset, without a session ID: sessions are never shared.
var ErrNoSession = errors.New("autocontinue: the session ID is empty: set Output.Session to the conversation's ID")

// errNil is the error of a call that cannot work.
var errNil = errors.New("autocontinue: the context or a function is nil, or this AutoContinue is not made with New")

func (a *AutoContinue) usable(ctx context.Context) bool {
	return ctx != nil && a != nil && a.cfg.Classifier != nil
}

// errUndecided is for a store that updates nothing, or a session from which another process took what was decided.
var errUndecided = errors.New("the store has no decision; hand the output in again")

// Handle decides about one output and takes the decision into the session's state. Outputs of one session are handled
// one after another, in the order in which they came; different sessions are handled at the same time. The classifier,
// the verifier and the plan are used only when [Known] does not decide. No lock of the store is held meanwhile. Their
// answers count for the state as it is when the decision is stored: after a [AutoContinue.Reset] the turn is over.
//
// A plan that cannot be read, a verifier that fails, a judge that fails beside a fallback, and a message that cannot be
// used never fail a decision. Decision.Degraded names them. A panic of the classifier or of a skill's detector is an
// error, and so is a signal outside the text. See Errors in the package documentation. Ctx and the store bound how long
// Handle waits for a store that hangs.
func (a *AutoContinue) Handle(ctx context.Context, out Output) (Decision, error) {
	if !a.usable(ctx) {
		return failure(out, State{}, classify.Result{}), errNil
	}
	start := time.Now()
	if s, ok := a.cfg.Observer.(Starter); ok {
		ctx = s.Start(ctx)
	}
	h := &handling{AutoContinue: a, unlock: func() {}}
	defer func() { h.unlock() }() // events come in the order of the decisions
	err := h.run(ctx, out)
	if err != nil {
		h.decision = failure(h.facts.Output, h.state, h.facts.Result)
	}
	if a.cfg.Observer != nil {
		e := a.event(h.facts, h.state, h.decision, err)
		e.Time, e.Took = start, time.Since(start)
		if err := a.cfg.Observer.Observe(context.WithoutCancel(ctx), e); err != nil {
			a.cfg.Logger.WarnContext(ctx, "decision not observed", "session", e.Session, "decision", e.Decision.ID, "err", err)
		}
	}
	return h.decision, err
}

// Reset says that the human spoke: it opens a turn, for hosts without turn IDs. It waits for no Handle: an output that
// is not decided yet is delivered as superseded. Its errors are [ErrNoSession] and those of the store, wrapped.
func (a *AutoContinue) Reset(ctx context.Context, session string) error {
	if !a.usable(ctx) {
		return errNil
	}
	if session == "" {
		return ErrNoSession
	}
	err := a.cfg.Store.Update(ctx, session, func(s State) (State, error) { return s.Reset(), nil })
	if err != nil {
		return fmt.Errorf("autocontinue: reset: %w", err)
	}
	return nil
}

// handling is one output on its way to its decision.
type handling struct {
	*AutoContinue
	unlock   func() // lets the next output of the session in
	state    State  // as it was seen last, with the turn of the output
	facts    Facts
	decision Decision
}

func (h *handling) run(ctx context.Context, out Output) (err error) {
	if h.facts.Output, err = out.redact(ctx, h.cfg.Secrets); err != nil {
		return err
	}
	if out.Session == "" {
		return ErrNoSession
	}
	before, err := h.cfg.Store.Load(ctx, out.Session) // the human may speak while we wait
	if err != nil {
		return fmt.Errorf("autocontinue: load: %w", err)
	}
	if h.unlock, err = h.queue.lock(ctx, out.Session); err != nil {
		return err
	}
	s, err := h.cfg.Store.Load(ctx, out.Session)
	if err != nil {
		return fmt.Errorf("autocontinue: load: %w", err)
	}
	known := false
	if _, h.state, known = s.known(h.facts.Output, before.resets()); !known {
		if err = h.judge(ctx, h.state, &h.facts); err != nil {
			return err
		}
	}
	h.facts.Resets = before.resets()
	err = h.cfg.Store.Update(ctx, out.Session, func(now State) (next State, err error) {
		h.decision, next = Decide(h.cfg.Policy, now, h.facts)
		return next, nil
	})
	if err == nil && (h.decision.Reason == "" || h.decision.Reason == "error") {
		err = errUndecided
	}
	if err != nil {
		return fmt.Errorf("autocontinue: update: %w", err)
	}
	return nil
}

// queue lets one caller a session through at a time, first come, first served. It remembers only sessions that are
// busy.
type queue struct {
	mu    sync.Mutex
	lines map[string]*line
}

// line is the callers that want one session. Its channel holds a value while somebody is inside, and serves those who
// wait in order.
type line struct {
	turn  chan struct{}
	count int // callers inside and waiting
}

// lock waits until the caller is alone in the session.
func (q *queue) lock(ctx context.Context, session string) (unlock func(), err error) {
	q.mu.Lock()
	l := q.lines[session]
	if l == nil {
		l = &line{turn: make(chan struct{}, 1)}
		q.lines[session] = l
	}
	l.count++
	q.mu.Unlock()
	leave := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if l.count--; l.count == 0 {
			delete(q.lines, session)
		}
	}
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return func() {}, fmt.Errorf("autocontinue: waiting for the session: %w", ctx.Err())
	}
}
