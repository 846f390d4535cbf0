package gate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Options configure a session. The zero value is a session that is not audited and keeps no journal. They may change
// between two replays of one journal.
type Options struct {
	// Audited sessions ask people. In others the policy denies what it denies, everything else passes, and the journal has
	// all of it. [Session.SetAudited] changes it.
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

	// Journal appends the lines of one operation, each with its newline. The session calls it before the state changes,
	// and is locked meanwhile. Journal must not call the session and must not keep lines. If it fails, nothing changes,
	// and the host must restore the file. After a panic of Journal, the session stops with [ErrJournal].
	Journal func(lines []byte) error

	limits limits // of a test; zero is defaultLimits
}

// limits bound a session. The package documentation tells them.
type limits struct {
	open       int // items that are pending or approved at a time
	runItems   int // items of one run
	denials    int // of the same call, or the same response, in one run
	events     int // kept for [Session.Events]
	eventBytes int // of their lines, beside the last event
	keepRuns   int // ended runs with their items; older runs leave only their ID
	keepBytes  int // of the lines of ended runs, beside the last run
}

var defaultLimits = limits{
	open: 10_000, runItems: 10_000, denials: 3, events: 10_000, eventBytes: 32 << 20, keepRuns: 1_000,
	keepBytes: 256 << 20,
}

const (
	maxMaxBody = 64 << 20
	maxTTL     = 10 * 365 * 24 * time.Hour
)

// filled returns the options with the defaults in place of zeros, or what is wrong with them.
func (o Options) filled() (Options, error) {
	o.TTL, o.MaxBody, o.limits = cmp.Or(o.TTL, time.Hour), cmp.Or(o.MaxBody, 16<<20), cmp.Or(o.limits, defaultLimits)
	if o.TTL < 0 || o.TTL > maxTTL || o.MaxBody < 0 || o.MaxBody > maxMaxBody {
		return o, fmt.Errorf("gate: Options.TTL must be from 0 to %v, and Options.MaxBody from 0 to %d", maxTTL, maxMaxBody)
	}
	return o, nil
}

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
	// ErrDenied: a person or the policy denied it, it expired, its run ended, or a person gave the result in its place. The
	// item says which. If the policy denies an edit, the item is still pending.
	ErrDenied = errors.New("gate: denied")
	// ErrJournal: Options.Journal failed, and the error wraps the journal's. Or a journal cannot be replayed, and the
	// error names the line.
	ErrJournal = errors.New("gate: the journal failed")
)
