package gate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Options configure a session. The zero value is a session that is not audited and keeps no journal.
//
// Replay a journal with the ToolsOnly, KeepRuns and KeepBytes that it was written with. The other options may change.
type Options struct {
	// Audited sessions ask people. Other sessions ask nobody: the policy denies what it denies, everything else passes,
	// and the journal has all of it. [Session.SetAudited] changes it.
	Audited bool

	// ToolsOnly sessions begin a run with its first tool call. The host need not propose a context.
	ToolsOnly bool

	// TTL is how long an item may wait for an answer and, after its approval, for Redeem. A rule or a subject may give
	// another time for the answer. 0 is 1 hour, [Never] has no end.
	TTL time.Duration

	// DenyLimit is how often the same tool call, or the same response, may be denied or expire in one run. Calls are the
	// same if they have the same tool, and arguments of the same value; above 64 KiB, of the same bytes. The last denial
	// stops the run. 0 is 3, [Never] has no limit.
	DenyLimit int

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

	MaxBody    int // bytes of a body, an edit or a result, as JSON; 0 is 16 MiB, at most 64 MiB
	MaxPending int // items that are pending or approved at a time; 0 is 10,000
	MaxEvents  int // events kept for [Session.Events]; 0 is 10,000
	EventBytes int // bytes of lines kept for [Session.Events], beside the last event; 0 is 32 MiB
	RunItems   int // items of one run; 0 is 10,000
	KeepRuns   int // ended runs with their items; older runs leave only their ID; 0 is 1,000
	KeepBytes  int // bytes of lines of ended runs, beside the last run; 0 is 256 MiB
}

// Never switches a limit of [Options] off, where its comment says so.
const Never = -1

const (
	maxMaxBody = 64 << 20
	maxTTL     = 10 * 365 * 24 * time.Hour
)

// filled returns the options with the defaults in place of zeros, or what is wrong with them.
func (o Options) filled() (Options, error) {
	for _, n := range []struct {
		name              string
		value             *int
		zero, least, most int
	}{
		{"DenyLimit", &o.DenyLimit, 3, Never, 1 << 30},
		{"MaxBody", &o.MaxBody, 16 << 20, 1, maxMaxBody},
		{"MaxPending", &o.MaxPending, 10_000, 1, 1 << 30},
		{"MaxEvents", &o.MaxEvents, 10_000, 1, 1 << 30},
		{"EventBytes", &o.EventBytes, 32 << 20, 1, 1 << 30},
		{"RunItems", &o.RunItems, 10_000, 1, 1 << 30},
		{"KeepRuns", &o.KeepRuns, 1_000, 1, 1 << 30},
		{"KeepBytes", &o.KeepBytes, 256 << 20, 1, 1 << 30},
	} {
		if *n.value = cmp.Or(*n.value, n.zero); *n.value < n.least || *n.value > n.most {
			return o, fmt.Errorf("gate: Options.%s is %d: use 0 for the default, or a number from %d to %d",
				n.name, *n.value, n.least, n.most)
		}
	}
	if o.TTL = cmp.Or(o.TTL, time.Hour); o.TTL != Never && (o.TTL < 0 || o.TTL > maxTTL) {
		return o, fmt.Errorf("gate: Options.TTL is %v: use 0 for 1h, Never, or a time up to %v", o.TTL, maxTTL)
	}
	return o, nil
}

// The errors that a host distinguishes with [errors.Is]. Each comes wrapped in a sentence that says what is wrong. Only
// errors of Options.Schema and Options.Journal may have text of the agent. Unless it says otherwise, nothing changed.
var (
	// ErrInput: a subject, a decision, a body or a policy is invalid. It wraps an error of Options.Schema.
	ErrInput = errors.New("gate: bad input")
	// ErrIllegal: the run's phase, or the item's kind, does not allow this step. Or the ID was used before for something
	// else. Or Options.MaxPending items are open, or the run has Options.RunItems items.
	ErrIllegal = errors.New("gate: illegal step")
	// ErrUnknown: the session does not have this item or run.
	ErrUnknown = errors.New("gate: unknown")

	// ErrStale: the digest of the decision is not the item's. The person saw something else: show the item again.
	ErrStale = errors.New("gate: stale digest")
	// ErrDecided: another answer was first. The item comes with the error and says which.
	ErrDecided = errors.New("gate: already decided")
	// ErrExpired: the item expired, now or before. The journal says so.
	ErrExpired = errors.New("gate: expired")

	// ErrPending: nobody has approved the item yet. An [Approver] that does not want to answer returns it, too.
	ErrPending = errors.New("gate: not approved yet")
	// ErrDenied: a person or the policy denied it, its run ended, or a person gave the result in its place. The item says
	// which. If the policy denies an edit, the item is still pending.
	ErrDenied = errors.New("gate: denied")
	// ErrSpent: the item was redeemed before. The first caller has the grant.
	ErrSpent = errors.New("gate: already redeemed")

	// ErrJournal: Options.Journal failed. It wraps the journal's error.
	ErrJournal = errors.New("gate: the journal failed")
	// ErrCorrupt: a journal cannot be replayed. The error names the line.
	ErrCorrupt = errors.New("gate: damaged journal")
)
