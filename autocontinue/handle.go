package autocontinue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/plancriteria"
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
	switch n, c := cfg.Policy.MaxContinues, cfg.Policy.MinConfidence; {
	case n < Never || n > limitContinues:
		return nil, fmt.Errorf("autocontinue: Policy.MaxContinues %d: give 1 to %d, 0 for the default of %d, or Never",
			n, limitContinues, DefaultMaxContinues)
	case c != NoGate && !(c >= 0 && c <= 1):
		return nil, fmt.Errorf("autocontinue: Policy.MinConfidence %v: give a number up to 1, 0 for the default, or NoGate",
			c)
	}
	cfg.Store = cmp.Or[Store](cfg.Store, NewMemoryStore(0))
	cfg.Skills = cmp.Or(cfg.Skills, skills.NewRegistry(skills.Builtin()...))
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
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
	return wrap("reset", a.cfg.Store.Update(ctx, session, func(s State) (State, error) { return s.Reset(), nil }))
}

// wrap says what failed, unless err is nil.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("autocontinue: %s: %w", what, err)
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
		return wrap("load", err)
	}
	if h.unlock, err = h.queue.lock(ctx, out.Session); err != nil {
		return err
	}
	s, err := h.cfg.Store.Load(ctx, out.Session)
	if err != nil {
		return wrap("load", err)
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
	return wrap("update", err)
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
		return func() {}, wrap("waiting for the session", ctx.Err())
	}
}

// Judge gathers what [Decide] needs to know about out in the state s: it finds the skill, reads the plan, and asks the
// classifier and the verifier. It is for hosts that keep the state themselves, see the example.
//
// It uses neither the store nor the observer nor Config.Policy. It judges even what Known would decide. Facts that were
// written as JSON and read again lead to the same decision. The classifier and the verifier get out without its
// secrets; Facts.Output is out as it is. The errors are [ErrNoSession] and that of the classifier, wrapped. If an
// output cannot be judged, Decide with Facts of the output alone gives the Deliver that Handle returns with its error.
func (a *AutoContinue) Judge(ctx context.Context, out Output, s State) (Facts, error) {
	if !a.usable(ctx) {
		return Facts{}, errNil
	}
	if out.Session == "" {
		return Facts{}, ErrNoSession
	}
	resets := s.resets()
	_, s, _ = s.known(out, resets)
	read, err := out.redact(ctx, a.cfg.Secrets)
	f := Facts{Output: read}
	if err == nil {
		err = a.judge(ctx, s, &f)
	}
	f.Output, f.Result, f.Resets = out, cleanConfidence(f.Result), resets
	return f, err
}

// judge gathers what Decide needs to know about f.Output. The state s has its turn.
func (a *AutoContinue) judge(ctx context.Context, s State, f *Facts) (err error) {
	if err := a.findSkills(ctx, s, f); err != nil {
		return wrap("skills", err)
	}
	if f.Output.PlanFile != "" {
		if err := a.readPlan(f); err != nil {
			a.degrade(ctx, f, "plan: "+strings.TrimPrefix(err.Error(), "plancriteria: "))
		}
	}
	result, err := a.classify(ctx, f.input(s))
	if err != nil {
		return wrap("classify", err)
	}
	f.Result = result
	if why := f.Result.Fallback; why != "" {
		a.degrade(ctx, f, "classifier: "+why)
	}
	if a.cfg.Verifier != nil {
		if f.Verification, err = a.verify(ctx, f.Output, f.Result); err != nil {
			f.Verification = Verification{Status: Unverified}
			a.degrade(ctx, f, "verifier: "+err.Error())
		}
	}
	return nil
}

// input returns what a classifier is asked about the output, as far as f says it.
func (f Facts) input(s State) classify.Input {
	o := f.Output
	in := classify.Input{
		Text: o.Text, Request: s.humans(o.Request), Evidence: o.Evidence, Work: o.Work, Coached: s.used(o),
	}
	if f.Coach.Skill != nil {
		in.Skill, in.SkillHint = f.Coach.Skill.Name, f.Coach.Skill.EvidenceHint
	}
	if f.Coach.Criteria != nil {
		for _, item := range f.Coach.Criteria.Open() {
			in.Criteria = append(in.Criteria, item.Text)
		}
	}
	return in
}

// findSkills finds the skills of Output.Stages, and the one that the turn works on. Its error is a panic of a detector.
func (a *AutoContinue) findSkills(ctx context.Context, s State, f *Facts) (err error) {
	defer a.recovered(ctx, &err)
	for _, name := range f.Output.Stages {
		skill, ok := a.cfg.Skills.Detect(skills.Query{Text: name, Phase: name})
		if !ok {
			a.degrade(ctx, f, fmt.Sprintf("stages: %.40q is not the trigger or phase of a skill", a.redacted(name)))
			f.Stages = nil
			break
		}
		f.Stages = append(f.Stages, skill)
	}
	f.OnlyAsked = len(f.Stages) > 0 && OnlyAsked(ctx, f.Output)
	skill, ok := a.cfg.Skills.Detect(skills.Query{Text: s.humans(f.Output.Request), Phase: f.Output.Phase})
	if at := s.stageOf(f.Stages).Done; at < len(f.Stages) {
		skill, ok = f.Stages[at], true
	}
	if ok {
		f.Coach.Skill = &skill
	}
	return nil
}

// OnlyAsked reports whether the human only asked a question, and no file is known to be edited since the last
// successful check. Such a turn does not work on a goal.
func OnlyAsked(ctx context.Context, out Output) bool {
	if out.Work.Edited != classify.EditedUnknown && out.Work.Edited != classify.EditedNone {
		return false
	}
	h, err := classify.NewHeuristic()
	if err != nil {
		return false // the built-in tables are never wrong
	}
	asked, err := h.OnlyAsks(ctx, out.Request)
	return err == nil && asked
}

// readPlan reads the plan's criteria for coaching, or at least that there is a plan.
func (a *AutoContinue) readPlan(f *Facts) error {
	if a.cfg.Plans == nil {
		return errors.New("Config.Plans is nil, so no plan can be read")
	}
	c, err := plancriteria.ExtractFile(a.cfg.Plans, f.Output.PlanFile)
	if err == nil {
		f.Coach.PlanFile, f.Coach.Criteria = a.redacted(f.Output.PlanFile), &c
		c.Text = a.redacted(c.Text)
		for i := range c.Items {
			c.Items[i].Text = a.redacted(c.Items[i].Text)
		}
		return nil
	}
	if file := (*fs.PathError)(nil); !errors.As(err, &file) && !errors.Is(err, fs.ErrInvalid) {
		f.Coach.PlanFile = a.redacted(f.Output.PlanFile) // there is a plan
	}
	return err
}

// redacted masks secrets in foreign words, before these are cut: a part of a secret does not look like one.
func (a *AutoContinue) redacted(s string) string { return plaintext.Redact(s, a.cfg.Secrets...) }

// classify returns a valid result, or an error beside any result.
func (a *AutoContinue) classify(ctx context.Context, in classify.Input) (r classify.Result, err error) {
	defer a.recovered(ctx, &err)
	if r, err = a.cfg.Classifier.Classify(ctx, in); err == nil {
		err = r.ValidateFor(in.Text)
	}
	return r, err
}

// verify returns what the verifier found without secrets, or an error beside anything.
func (a *AutoContinue) verify(ctx context.Context, out Output, r classify.Result) (v Verification, err error) {
	defer a.recovered(ctx, &err)
	v, err = a.cfg.Verifier.Verify(ctx, out, r)
	human := func(words []string) (list []string) {
		for _, w := range words { // they are looked for in the finding
			list = append(list, a.redacted(w))
		}
		return list
	}
	v.Feedback, v.Note, v.Human = a.redacted(v.Feedback), a.redacted(v.Note), human(v.Human)
	if v.Goal != nil {
		goal := *v.Goal
		goal.Open, goal.Note, goal.Human = a.redacted(goal.Open), a.redacted(goal.Note), human(goal.Human)
		v.Goal = &goal
	}
	switch v.Status {
	case "", Verified, Unverified, Rejected:
		return v, err
	}
	return v, errors.Join(err, errors.New("its status is not verified, unverified or rejected"))
}

// recovered makes an error of a panic. The logger gets the stack.
func (a *AutoContinue) recovered(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %s", shown(fmt.Sprint(p), maxDegraded))
		a.cfg.Logger.ErrorContext(ctx, "panic", "err", *err, "stack", string(debug.Stack()))
	}
}

func (a *AutoContinue) degrade(ctx context.Context, f *Facts, why string) {
	why = a.redacted(why)
	f.Degraded = append(f.Degraded, why)
	a.cfg.Logger.WarnContext(ctx, "decision degraded",
		"session", a.redacted(f.Output.Session), "why", shown(why, maxDegraded))
}
