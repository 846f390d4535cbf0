package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options configure a session. The zero value is not audited and keeps no journal. Each Replay may have other ones.
type Options struct {
	// Audited sessions ask people. In others nobody is asked, and what the policy does not deny passes. The journal has
	// everything in both. [Session.SetAudited] changes it.
	Audited bool

	ToolsOnly bool          // a run may begin with a tool call: the host need not propose a context
	TTL       time.Duration // for an answer and, after an approval, for Redeem; 0 is 1 hour, at most 10 years
	MaxBody   int           // bytes of a body, an edit or a result, as JSON; 0 is 16 MiB, at most 64 MiB

	// Schema may refuse a proposal or an edit before the policy judges it. It gets a copy. It is called concurrently.
	Schema func(Subject) error

	// Root and RootDir are for rules that test a path: the files of one folder, such as os.Root.FS, and the folder's
	// absolute name. The files must be an [fs.ReadLinkFS]. A policy with such a rule is an error without Root.
	Root    fs.FS
	RootDir string

	// Now and AfterFunc are the clock of [Session.Wait] and [Session.Do]: time.Now and time.AfterFunc. Without them, Do is
	// an error, and the host calls [Session.Expire] so that Wait ends in time.
	Now       func() time.Time
	AfterFunc func(time.Duration, func()) *time.Timer

	// Journal appends the lines of one operation, each with its newline, before the state changes. It must not call the
	// session, which is locked, and must not keep lines. If it fails, nothing changes, and the host must restore the file.
	// After a panic of Journal, the session stops with [ErrJournal].
	Journal func(lines []byte) error

	limits limits // of a test; zero is defaultLimits
}

// limits bound a session.
type limits struct {
	open, runItems, denials, events, eventBytes, keepRuns, keepBytes int
}

var defaultLimits = limits{
	open:       10_000, // items that are pending or approved at a time
	runItems:   10_000,
	denials:    3,         // of the same call, or the same response, in one run
	events:     10_000,    // kept for Session.Events
	eventBytes: 32 << 20,  // of their lines, beside the last event
	keepRuns:   1_000,     // ended runs with their items; older runs leave only their ID
	keepBytes:  256 << 20, // of the lines of ended runs, beside the last run
}

const (
	maxMaxBody = 64 << 20
	maxTTL     = 10 * 365 * 24 * time.Hour
)

// The errors that a host distinguishes with [errors.Is]. Each comes wrapped in a sentence that says what is wrong. Only
// errors of Options.Schema and Options.Journal may have text of the agent. Unless it says otherwise, nothing changed.
var (
	// ErrInput: a subject, a decision, a body or a policy is invalid. It wraps an error of Options.Schema.
	ErrInput = errors.New("gate: bad input")
	// ErrIllegal: the item or run is unknown, or in a phase that does not allow this step. Or the ID was used before for
	// something else. Or there are too many items.
	ErrIllegal = errors.New("gate: illegal step")
	// ErrStale: the digest of the decision is not the item's. The person saw something else: show the item again.
	ErrStale = errors.New("gate: stale digest")
	// ErrDecided: somebody else was first, with another answer, another result, or with Redeem. The item says who.
	ErrDecided = errors.New("gate: already decided")
	// ErrPending: nobody has approved the item yet. An [Approver] that does not want to answer returns it, too.
	ErrPending = errors.New("gate: not approved yet")
	// ErrDenied: a person or the policy denied it, it expired, its run ended, or a person gave the result in its place.
	// The item says which. If the policy denies an edit, the item is still pending.
	ErrDenied = errors.New("gate: denied")
	// ErrJournal: Options.Journal failed; the error wraps its error. Or a line, which the error names, cannot be replayed.
	ErrJournal = errors.New("gate: the journal failed")
)

// Session holds the items of one journal. Make one with [New] or [Replay]. It is safe for concurrent use.
//
// Every method that takes now is an operation: it checks, writes its lines to the journal, changes the state, unlocks
// the session and tells the watchers. now is the host's clock, which should not run backwards.
type Session struct {
	mu      sync.Mutex
	options Options
	root    *root
	st      *state
	broken  error // the session stopped: the journal may have lines that the state lacks

	watchers []*func(Event)
	news     []Event // of the operation that runs: the watchers do not know them yet
}

// New returns a session without history. The error is about the options.
func New(p Policy, o Options) (*Session, error) { return Replay(p, o, strings.NewReader("")) }

// Replay returns the session that wrote a journal, as it was after the last whole line. The policy, and whether the
// session is audited, are those that the journal set last; p and o.Audited hold if it set none. [Session.Unfinished]
// has what was approved or executing. Nothing resumes by itself, and Replay writes nothing.
//
// Replay leaves out a last line without its newline: it was not written completely. Before anything is appended, the
// host truncates the file to the length that [Session.Head] tells.
//
// A line that was changed, removed, added or moved is an error that names the line. The hashes need no key: lines that
// are missing at the end, or were hashed anew, show only to a host that keeps the hash of [Session.Head] elsewhere.
func Replay(p Policy, o Options, journal io.Reader) (*Session, error) {
	o.TTL, o.MaxBody, o.limits = cmp.Or(o.TTL, time.Hour), cmp.Or(o.MaxBody, 16<<20), cmp.Or(o.limits, defaultLimits)
	if o.TTL < 0 || o.TTL > maxTTL || o.MaxBody < 0 || o.MaxBody > maxMaxBody {
		return nil, fmt.Errorf("gate: Options.TTL must be from 0 to %v, and Options.MaxBody from 0 to %d", maxTTL, maxMaxBody)
	}
	s := &Session{options: o, st: &state{
		sum: firstPrev, audited: o.Audited, policy: p, limits: o.limits,
		items: make(map[string]*Item), runs: make(map[string]*run),
	}}
	if files, ok := o.Root.(fs.ReadLinkFS); ok {
		s.root = &root{files, path.Clean(strings.ReplaceAll(o.RootDir, `\`, "/"))}
	} else if o.Root != nil {
		return nil, errors.New("gate: Options.Root must be an fs.ReadLinkFS, such as os.Root.FS: it must tell symbolic links")
	}
	err := s.replay(journal)
	if err == nil {
		err = s.checkPolicy(s.st.policy)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Session) checkPolicy(p Policy) error {
	test := func(c condition) bool { return c.tests("path") }
	if s.root == nil && slices.ContainsFunc(p.rules(), func(r rule) bool { return slices.ContainsFunc(r.when, test) }) {
		return fmt.Errorf("%w: a rule tests a path: set Options.Root", ErrInput)
	}
	return nil
}

func (s *Session) lock() {
	if s == nil || s.st == nil {
		panic("gate: this Session is nil or a zero value: make one with New or Replay")
	}
	s.mu.Lock()
}

// op runs one operation, unless its arguments are bad. It judges sub with the session unlocked, because that may take
// long. Then it calls do with the session locked, and tells the watchers. An operation that is about no subject ignores
// the verdict.
func (s *Session) op(now time.Time, bad error, sub Subject, do func(time.Time, verdict) error) error {
	now = now.UTC().Round(0)
	switch {
	case bad != nil:
		return bad
	case now.Year() < 1970 || now.Year() > 9000:
		return fmt.Errorf("%w: now is not the time of a clock", ErrInput)
	}
	p := s.Policy()
	v := p.judge(s.root, sub)
	var news []Event
	var watchers []*func(Event)
	err := read(s, func(st *state) error {
		if st.policy != p { // it changed meanwhile
			v = st.policy.judge(s.root, sub)
		}
		err := s.broken
		if err == nil {
			err = do(now, v)
		}
		news, s.news, watchers = s.news, nil, s.watchers
		return err
	})
	for _, e := range news {
		for _, f := range watchers {
			(*f)(e.clone())
		}
	}
	return err
}

// Judge is [Policy.Judge], and resolves paths in Options.Root.
func (s *Session) Judge(p Policy, sub Subject) (status Status, rule string) {
	v := p.judge(s.root, sub)
	return statusOf[v.then], v.rule
}

// write makes lines of events, if there are some, writes them to the journal, and applies them: all or none.
func (s *Session) write(now time.Time, events ...Event) error {
	seq, sum := s.st.seq, s.st.sum
	var block []byte
	for i := range events {
		e := &events[i]
		seq++
		e.Seq, e.Prev, e.At = seq, sum, now
		line := encode(e)
		sum, e.size = e.Sum, len(line)
		block = append(block, line...)
	}
	if s.options.Journal != nil && block != nil {
		s.broken = errPanicked // unless Journal returns
		err := s.options.Journal(block)
		s.broken = nil
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
	}
	for _, e := range events {
		if err := s.st.apply(e); err != nil {
			s.broken = fmt.Errorf("the session wrote a line that it cannot apply, and stopped: %w", err)
			return s.broken
		}
	}
	s.news = append(s.news, events...)
	return nil
}

var errPanicked = fmt.Errorf("%w: it panicked, so nobody knows what it wrote: replay the journal", ErrJournal)

// checkBy refuses a name that no person can have.
func checkBy(by string) error {
	if name := strings.TrimSpace(by); strings.EqualFold(name, ByPolicy) || strings.EqualFold(name, ByUnaudited) {
		return fmt.Errorf("%w: no person can be called %q: it means that nobody decided", ErrInput, name)
	}
	return checkName("name of who decides", by, maxName)
}

// SetPolicy replaces the policy, in by's name. Pending items stay pending: the new policy is asked when they are
// approved, redeemed, or proposed again. Errors: ErrInput, ErrJournal.
func (s *Session) SetPolicy(now time.Time, by string, p Policy) error {
	return s.op(now, cmp.Or(checkBy(by), s.checkPolicy(p)), Subject{}, func(now time.Time, _ verdict) error {
		return s.write(now, Event{Type: policyChanged, By: by, Policy: &p, Changes: s.st.policy.changesTo(p)})
	})
}

// Policy returns the policy that holds.
func (s *Session) Policy() Policy { return read(s, func(st *state) Policy { return st.policy }) }

// read returns what f finds in the state.
func read[T any](s *Session, f func(*state) T) T {
	s.lock()
	defer s.mu.Unlock()
	return f(s.st)
}

// SetAudited says whether people are asked from now on. It is like SetPolicy.
func (s *Session) SetAudited(now time.Time, by string, on bool) error {
	return s.op(now, checkBy(by), Subject{}, func(now time.Time, _ verdict) error {
		names := map[bool]string{true: "on", false: "off"}
		change := "auditing: " + names[s.st.audited] + " → " + names[on]
		return s.write(now, Event{Type: auditChanged, By: by, Audited: &on, Changes: []string{change}})
	})
}

// Audited reports whether people are asked.
func (s *Session) Audited() bool { return read(s, func(st *state) bool { return st.audited }) }

// Finish ends a run that gives no response, in any phase; what is open is withdrawn. reason is for people and may be
// empty. Again it does nothing. Errors: ErrInput, ErrIllegal (there is no such run, or it was denied), ErrJournal.
func (s *Session) Finish(now time.Time, run, reason string) error {
	return s.endRun(now, run, "", reason, finished, nil)
}

// StopRun is Finish because a person says so. A call that executes goes on, and may bring its result. A run that is
// finished is ErrIllegal.
func (s *Session) StopRun(now time.Time, run, by, reason string) error {
	return s.endRun(now, run, by, reason, stopped, checkBy(by))
}

func (s *Session) endRun(now time.Time, id, by, reason string, p Phase, bad error) error {
	bad = cmp.Or(bad, checkText("reason", reason, maxReason))
	return s.op(now, bad, Subject{}, func(now time.Time, _ verdict) error {
		switch was := s.st.runs[id].phase(); {
		case was == noRun:
			return fmt.Errorf("%w: no run of that ID was staged", ErrIllegal)
		case was == p:
			return nil
		case was.isEnd():
			return fmt.Errorf("%w: the run is %s", ErrIllegal, was)
		}
		return s.write(now, ending(s.st.runs[id].Thread, id, p, by, reason))
	})
}

// Pending returns the items that wait for a person, oldest first.
func (s *Session) Pending() []Item {
	return s.collect(func(it *Item) bool { return it.Status == Pending })
}

// Unfinished returns the items that are approved and not redeemed, and then the calls that execute: redeemed and
// without a result. After a restart a host looks at them, and at the [Session.Runs] that go on.
func (s *Session) Unfinished() []Item {
	return append(s.collect(func(it *Item) bool { return it.Status == Approved }), s.collect((*Item).executes)...)
}

// Items returns the items of a run, oldest first; none if the run is unknown or no longer kept.
func (s *Session) Items(run string) []Item {
	return read(s, func(st *state) []Item {
		if r := st.runs[run]; r != nil {
			return copies(r.items)
		}
		return nil
	})
}

func (s *Session) collect(ok func(*Item) bool) []Item {
	return read(s, func(st *state) []Item { return copies(st.list(ok)) })
}

// Item returns one item.
func (s *Session) Item(id string) (Item, bool) {
	it, err := s.peek(id)
	return it.copied(), err == nil
}

// Runs returns the runs whose items are kept, in the order in which they began.
func (s *Session) Runs() []Run {
	s.lock()
	defer s.mu.Unlock()
	list := slices.DeleteFunc(slices.Collect(maps.Values(s.st.runs)), func(r *run) bool { return r.items == nil })
	slices.SortFunc(list, func(a, b *run) int { return cmp.Compare(a.items[0].Seq, b.items[0].Seq) })
	runs := make([]Run, len(list))
	for i, r := range list {
		runs[i] = r.Run
		runs[i].Phase = r.phase()
	}
	return runs
}

// Phase returns the phase of a run, also of a forgotten one.
func (s *Session) Phase(run string) Phase {
	return read(s, func(st *state) Phase { return st.runs[run].phase() })
}

// Head returns the sequence number and the hash of the last line, 0 and zeros before the first, and the bytes of all
// whole lines, also replayed ones. Options.Journal must not call it.
func (s *Session) Head() (seq uint64, sum string, size int64) {
	s.lock()
	defer s.mu.Unlock()
	return s.st.seq, s.st.sum, s.st.bytes
}

// Approver answers items that wait: a person in a chat program, another program, a model.
type Approver interface {
	// Approve returns the answer to an item. It fills in Action and By and, as needed, Reason and Body; Wait fills in the
	// rest. An Approver that does not want to answer returns [ErrPending]. It must be safe for concurrent use.
	//
	// It may block, but must return when ctx ends: somebody else answered, or the time is over. Until then Wait does not
	// ask the next approver. A read from a terminal does not end with ctx: see the example.
	//
	// Item.Body is text of the agent: show all of it, with Visible of classify/plaintext for what nobody sees.
	Approve(ctx context.Context, item Item) (Decision, error)
}

// Wait waits until an item is no longer pending and returns it. Anybody may answer: another caller of Resolve, or one
// of the approvers. Wait asks the first approver. It asks the next one if the one before fails or returns
// [ErrPending], or when the item escalates. The first answer wins.
//
// Approvers need Options.Now. With Options.AfterFunc, Wait ends what is due; without it, the host calls
// [Session.Expire]. Errors: ErrIllegal, and those of ctx, Resolve, Expire and the last approver. The item may then
// still be pending: it is safe to call Wait again.
func (s *Session) Wait(ctx context.Context, id string, approvers ...Approver) (Item, error) {
	if len(approvers) > 0 && s.options.Now == nil {
		return Item{}, fmt.Errorf("%w: approvers need Options.Now", ErrInput)
	}
	askedFor := ""
	var failed error
	for {
		it, err := s.peek(id)
		switch it = it.copied(); {
		case err != nil || it.Status != Pending:
			return it, err
		case ctx.Err() != nil:
			return it, context.Cause(ctx)
		case it.Approver != askedFor: // it escalated
			askedFor, failed = it.Approver, nil
			approvers = approvers[min(1, len(approvers)):]
		case len(approvers) == 0 && failed != nil:
			return it, failed
		}
		waiting, stop := s.whilePending(ctx, it)
		if len(approvers) == 0 {
			<-waiting.Done()
		} else if err := s.ask(waiting, approvers[0], it); err != nil && waiting.Err() == nil {
			approvers = approvers[1:]
			if failed = err; errors.Is(err, ErrPending) {
				failed = nil
			}
		}
		if err := stop(); err != nil {
			return it, err
		}
	}
}

// ask lets an approver answer an item. It returns nil if somebody else was first.
func (s *Session) ask(ctx context.Context, a Approver, it Item) error {
	d, err := a.Approve(ctx, it)
	if err != nil {
		return err
	}
	d.Item, d.Digest = it.ID, it.Digest
	if now, err := s.Resolve(s.options.Now(), d); now.ID == "" || now.Status == Pending {
		return err
	}
	return nil
}

// whilePending returns a context that ends when an item is no longer pending, or waits for somebody else. stop frees
// it and returns what went wrong at the end of the item's time.
func (s *Session) whilePending(ctx context.Context, was Item) (waiting context.Context, stop func() error) {
	waiting, cancel := context.WithCancelCause(ctx)
	look := func(Event) {
		if it, err := s.peek(was.ID); err != nil || it.Status != Pending || it.Approver != was.Approver {
			cancel(nil)
		}
	}
	unwatch := s.Watch(look)
	look(Event{}) // it may have changed before Watch
	untime := func() bool { return true }
	if s.options.Now != nil && s.options.AfterFunc != nil && !was.Expires.IsZero() {
		untime = s.options.AfterFunc(was.Expires.Sub(s.options.Now()), func() {
			if _, err := s.Expire(s.options.Now()); err != nil {
				cancel(err)
			}
		}).Stop
	}
	return waiting, func() error {
		unwatch()
		untime()
		cancel(nil)
		if err := context.Cause(waiting); ctx.Err() == nil && err != context.Canceled {
			return err
		}
		return nil
	}
}

// Do puts a subject through its gate and does it: it proposes, waits as [Session.Wait] does, redeems, and calls do
// with what was approved. For a tool call, it records the result of do. It needs Options.Now.
//
// The status of the item says what became of it. Done has a result. With Denied, Expired and Withdrawn do was not
// called, and Item.Reason is for the model to read. An item that was done before is returned as it is; one that another
// caller has redeemed is [ErrDecided]. If do fails, Do returns its error, and a call stays in [Session.Unfinished].
func (s *Session) Do(
	ctx context.Context, sub Subject, do func(approved Subject) (json.RawMessage, error), approvers ...Approver,
) (Item, error) {
	if s.options.Now == nil {
		return Item{}, fmt.Errorf("%w: Do needs Options.Now", ErrInput)
	}
	it, err := s.Propose(s.options.Now(), sub)
	for err == nil {
		if it, err = s.Wait(ctx, it.ID, approvers...); err != nil {
			break
		}
		if it.Status == Redeemed {
			return it, fmt.Errorf("%w: it is redeemed", ErrDecided)
		} else if it.Status != Approved {
			return it, nil
		}
		approved, err := s.Redeem(s.options.Now(), it.ID)
		if err == nil {
			result, err := do(approved)
			if err == nil && it.Kind == Tool {
				return s.Done(s.options.Now(), it.ID, result)
			}
			it, _ = s.Item(it.ID)
			return it, err
		}
		if now, ok := s.Item(it.ID); !ok || now.Status == Approved {
			return it, err
		}
		// Its time was over, or the policy changed: the item says which.
	}
	return it, err
}

// Watch calls f with each later event, after the state has changed and with the session unlocked: f may call the
// session. f runs in the operation that made the event, so it should not block. Events of other operations may come at
// the same time, or before: a reader that needs the order calls [Session.Events]. cancel does not wait for f.
func (s *Session) Watch(f func(Event)) (cancel func()) {
	s.lock()
	defer s.mu.Unlock()
	s.watchers = append(slices.Clone(s.watchers), &f)
	return func() {
		s.lock()
		defer s.mu.Unlock()
		s.watchers = slices.DeleteFunc(slices.Clone(s.watchers), func(o *func(Event)) bool { return o == &f })
	}
}

// Events returns the kept events with a sequence number above after, oldest first. all is false if some of them are no
// longer kept, or if after is above the last one, of another journal: then show the state anew. A reader that follows
// calls [Session.Watch] first and then Events, and skips by Seq what comes twice.
func (s *Session) Events(after uint64) (events []Event, all bool) {
	s.lock()
	defer s.mu.Unlock()
	for _, e := range s.st.events {
		if e.Seq > after {
			events = append(events, e.clone())
		}
	}
	return events, after+uint64(len(events)) == s.st.seq
}
