package autocontinue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
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
	Now        func() time.Time // for events; nil is time.Now
	// Secrets are masked wherever the agent or the human wrote them, beside the kinds that [plaintext.Redact] knows: the
	// host's own API keys.
	Secrets []string
}

// Verifier checks a claim of completion, before [Decide]. It may only lower a verdict: Rejected makes a completion a
// rejected one. Verified lets a repeated claim pass, and a claim whose evidence only the words lack. Only a goal that
// is met makes a completion of other statuses.
//
// It is asked about completions and statuses. Only a completion and a rejected completion claim something. It must be
// safe for concurrent use and must not change the slices that it is given. Its error, its panic and an unknown status
// count as Unverified; Decision.Degraded names them.
type Verifier interface {
	Verify(ctx context.Context, out Output, r classify.Result) (Verification, error)
}

// AutoContinue decides about outputs and keeps the state of sessions in a [Store]. It is safe for concurrent use. Make
// one with [New]; the zero value only returns errors.
type AutoContinue struct {
	cfg   Config
	queue queue
}

// New returns a loop made of cfg. A missing classifier, a nil pointer or nil function in an interface, and a [Policy]
// outside its ranges are errors.
func New(cfg Config) (*AutoContinue, error) {
	if cfg.Classifier == nil {
		return nil, errors.New("autocontinue: Config.Classifier is nil: set it, for example to a classify.NewHeuristic")
	}
	for name, v := range map[string]any{
		"Classifier": cfg.Classifier, "Store": cfg.Store, "Plans": cfg.Plans, "Verifier": cfg.Verifier,
		"Observer": cfg.Observer,
	} {
		if isNil(v) {
			return nil, fmt.Errorf("autocontinue: Config.%s is a nil %T", name, v)
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
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &AutoContinue{cfg: cfg}, nil
}

// isNil reports whether an interface holds a nil that would fail when it is called. An MapFS that is nil is an empty
// one.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return (r.Kind() == reflect.Pointer || r.Kind() == reflect.Func) && r.IsNil()
}

// Errors of misuse.
var (
	// ErrNoSession is the error for an output, or a Reset, without a session ID: sessions are never shared.
	ErrNoSession = errors.New("autocontinue: the session ID is empty: set Output.Session to the conversation's ID")

	errZero      = errors.New("autocontinue: this AutoContinue is a zero value: make one with New")
	errNoContext = errors.New("autocontinue: the context is nil: give context.Background() if there is none")
)

var (
	// errUndecided is for a store that reports success without a call of the update's function.
	errUndecided = errors.New("the store did not use what the update's function returned")
	// errUnread ends an update that finds a state in which the output must be classified after all.
	errUnread = errors.New("not classified yet")
)

// usable returns what is wrong with a call.
func (a *AutoContinue) usable(ctx context.Context, session string) error {
	switch {
	case a == nil || a.cfg.Classifier == nil:
		return errZero
	case ctx == nil:
		return errNoContext
	case session == "":
		return ErrNoSession
	}
	return nil
}

// Handle decides about one output and takes the decision into the session's state. Outputs of one session are handled
// one after another, in the order in which they joined its queue; different sessions are handled at the same time. The
// classifier, the verifier and the plan are used only when [Known] does not decide. No lock of the store is held
// meanwhile. Their answers count for the state as it is when the decision is stored: a [AutoContinue.Reset] in between
// means that the output's turn is over.
//
// Secrets in what the agent and the human wrote are masked first, see [plaintext.Redact].
//
// A plan that cannot be read, a verifier that fails, a judge that fails beside a fallback, and a message that cannot be
// used never fail a decision. Decision.Degraded names them. With an error the decision is [Deliver], needs_human,
// [ReasonError], and nothing was recorded, unless the store wrote and could not say so. Then show the output, or hand
// the same output in again, but not both. The errors are [ErrNoSession] and those of the classifier, the store and ctx,
// wrapped. A panic of the classifier is an error of the classifier. Ctx and the store bound how long Handle waits for a
// store that hangs.
func (a *AutoContinue) Handle(ctx context.Context, out Output) (Decision, error) {
	err := a.usable(ctx, out.Session)
	if err != nil && !errors.Is(err, ErrNoSession) {
		return failure(out, State{}, classify.Result{}), err
	}
	start := a.cfg.Now()
	if s, ok := a.cfg.Observer.(Starter); ok {
		ctx = s.Start(ctx)
	}
	h := &handling{AutoContinue: a, out: out}
	defer h.leave()
	if err == nil {
		err = h.run(ctx)
	}
	if err != nil {
		h.decision = failure(h.out, h.state, h.facts.Result)
	}
	if a.cfg.Observer != nil {
		e := newEvent(h.out, h.input, h.decision, err)
		e.Time, e.Took = start, a.cfg.Now().Sub(start)
		for _, name := range []*string{&e.Session, &e.Turn, &e.Run, &e.OutputID} {
			*name = plaintext.Redact(*name, a.cfg.Secrets...)
		}
		if err := a.cfg.Observer.Observe(context.WithoutCancel(ctx), e); err != nil {
			a.cfg.Logger.WarnContext(ctx, "decision not observed", "session", e.Session, "decision", e.Decision.ID, "err", err)
		}
	}
	return h.decision, err
}

// Reset says that the human spoke: it opens a turn, for hosts without turn IDs. It does not wait for a Handle in
// progress. An output that was not decided before is then delivered as superseded. Its errors are [ErrNoSession] and
// those of the store, wrapped.
func (a *AutoContinue) Reset(ctx context.Context, session string) error {
	if err := a.usable(ctx, session); err != nil {
		return err
	}
	reset := false
	err := a.cfg.Store.Update(ctx, session, func(s State) (State, error) {
		reset = true
		return s.Reset(), nil
	})
	if err == nil && !reset {
		err = errUndecided
	}
	if err != nil {
		return fmt.Errorf("autocontinue: reset: %w", err)
	}
	return nil
}

// handling is one output on its way to its decision.
type handling struct {
	*AutoContinue
	out      Output
	line     *line          // the session's, once we are inside
	resets   int            // State.Resets when out came in
	state    State          // as it was seen last, with the turn of out
	input    classify.Input // what the classifier was asked, or would have been
	facts    Facts
	judged   bool // the facts are complete
	decision Decision
}

func (h *handling) run(ctx context.Context) (err error) {
	if h.out, err = h.out.redact(ctx, h.cfg.Secrets); err != nil {
		return fmt.Errorf("autocontinue: %w", err)
	}
	h.input = inputOf(h.out)
	if err := h.enter(ctx); err != nil {
		return err
	}
	s, err := h.load(ctx)
	if err != nil {
		return err
	}
	if h.resets == 0 {
		h.resets = s.resets()
	}
	known := false
	_, h.state, known = s.known(h.out, h.resets)
	for {
		if !known && !h.judged {
			if h.facts, h.input, err = h.judge(ctx, h.state, h.out); err != nil {
				return err
			}
			h.facts.Resets, h.judged = h.resets, true
		}
		decided := false
		err := h.cfg.Store.Update(ctx, h.out.Session, func(now State) (next State, err error) {
			if h.judged {
				h.decision, next = Decide(h.cfg.Policy, now, h.facts)
				decided = true
				return next, nil
			}
			if h.decision, next, decided = now.known(h.out, h.resets); !decided {
				h.state = next
				return State{}, errUnread
			}
			return next, nil
		})
		switch {
		case err == nil && decided:
			return nil
		case err == nil:
			err = errUndecided
		case errors.Is(err, errUnread):
			known = false
			continue
		}
		return fmt.Errorf("autocontinue: update: %w", err)
	}
}

// enter waits until out is the only output of its session that is handled. If it has to wait, it first notes the number
// of resets, for the human may speak meanwhile.
func (h *handling) enter(ctx context.Context) error {
	l, inside := h.queue.join(h.out.Session)
	if !inside {
		s, err := h.load(ctx)
		if err == nil {
			h.resets = s.resets()
			err = l.wait(ctx)
		}
		if err != nil {
			h.queue.drop(h.out.Session, l)
			return err
		}
	}
	h.line = l
	return nil
}

func (h *handling) leave() {
	if h.line != nil {
		<-h.line.turn
		h.queue.drop(h.out.Session, h.line)
	}
}

func (h *handling) load(ctx context.Context) (State, error) {
	s, err := h.cfg.Store.Load(ctx, h.out.Session)
	if err != nil {
		return s, fmt.Errorf("autocontinue: load: %w", err)
	}
	return s, nil
}

// queue lets one caller a session through at a time, first come, first served. It remembers only sessions that are
// busy.
type queue struct {
	mu    sync.Mutex
	lines map[string]*line
}

// line is the callers that want one session.
type line struct {
	turn  chan struct{} // holds a value while somebody is inside; a channel serves those who wait in order
	count int           // callers inside and waiting
}

// join returns the session's line, and whether the caller is inside at once. The caller must drop the line later.
func (q *queue) join(session string) (l *line, inside bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l = q.lines[session]
	if l == nil {
		if q.lines == nil {
			q.lines = make(map[string]*line)
		}
		l = &line{turn: make(chan struct{}, 1)}
		q.lines[session] = l
	}
	l.count++
	select {
	case l.turn <- struct{}{}:
		return l, true
	default:
		return l, false
	}
}

func (l *line) wait(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("autocontinue: waiting for the session: %w", ctx.Err())
	}
}

func (q *queue) drop(session string, l *line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.count--; l.count == 0 {
		delete(q.lines, session)
	}
}
